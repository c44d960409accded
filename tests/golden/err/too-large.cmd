{
	printf 'op f(x[N]; a: int[] = [1'
	printf '%0500000d' 0 | sed 's/0/, 1/g'
	printf ']) -> y[N] = lambda i: x[i]\n'
} >"$tmp/large.tdl"
tdlc check "$tmp/large.tdl" >"$tmp/out" 2>&1
status=$?
grep error: "$tmp/out"
exit $status
