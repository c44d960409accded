try() {
	printf '%b' "$1" | tdlc solve - || true
}
try 'p 2 9999 1 10\n9999 9999\n2 0 1 0 0\n'
try 'p 1 99999999 0 10\n99999999\n'
{
	echo 'p 17 1000000 0 10'
	yes 1000000 | head -n 17
} | tdlc solve -
