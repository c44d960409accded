try() {
	printf '%b' "$1" | tdlc solve - || true
}
try 'p 3 2 1 10\n2 2 2\n3 0 1 2 0 0\n'
try 'p 2 2 1 10\n2 2\n2 0 1 -1 >= 1 0\n'
