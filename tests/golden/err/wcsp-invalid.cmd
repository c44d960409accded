try() {
	printf '%b' "$1" | tdlc solve - || true
}
try 'p -1 2 0 10\n'
try 'p 9999999 2 0 10\n'
try 'p 1 2 0 10\n3\n'
try 'p 1 2 0 10\n0\n'
try 'p 2 2 1 10\n2 2\n2 0 2 0 0\n'
try 'p 2 2 1 10\n2 2\n2 1 1 0 0\n'
try 'p 2 2 1 10\n2 2\n2 0 1 0 1\n0 2 5\n'
try 'p 2 2 1 10\n2 2\n2 0 1 0 5\n'
try 'p 2 2 1 10\n2 2\n2 0 1 0 2\n0 1 5\n0 1 5\n'
try 'p 1 2 1 10\n2\n1 0 0 1\n0 -5\n'
try 'p 1 2 1 10\n2\n1 0 0 -1\n'
try 'p 2 3 2 10\n2 3\n-1 0 0 1\n0 1\n1 1 0 -1\n'
