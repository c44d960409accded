# Brackets, chains and branches; the operator behind them is still read.
{
	printf 'op f(x[N]) -> y[N] = lambda i: '
	printf '%060000d' 0 | tr 0 '('
	printf '\nop g(x[N]) -> y[N] = lambda i: x[i]'
	printf '%0600d' 0 | sed 's/0/ + 1/g'
	printf '\nonnx "Relu" 1.. (x) { '
	printf '%03000d' 0 | sed 's/0/if x { } else /g'
	printf '{ } return x }\nop h(x[N]) -> y[N] = lambda i: z\n'
} >"$tmp/deep.tdl"
tdlc check "$tmp/deep.tdl" >"$tmp/out" 2>&1
status=$?
grep error: "$tmp/out"
exit $status
