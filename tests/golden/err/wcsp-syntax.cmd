# try TEXT: solves it, on one line of output
try() {
	printf '%b' "$1" | tdlc solve - || true
}
try ''
try 'p'
try 'p 1 2 0'
try 'p 1 x 0 10\n2\n'
try 'p 1 2 0 99999999999999999999\n2\n'
try 'p 1 2 0 10\n2 3\n'
try 'p 1 2 1 10\n2\n1 0 0 2\n0 1\n1\n'
try 'p 1 2 1 10\n2\n1 0 0 1\n0 1.5\n'
try '\375\067zXZ p'
