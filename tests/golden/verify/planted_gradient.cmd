# The library's softmax and its gradient, as they are and with faults: no mean
# is subtracted, it is doubled, taken over all dimensions, or is of something
# else.
sed -n '/^op softmax(/,/^$/p; /^grad softmax x/,/^$/p' \
	../../../opdefs/norm.tdl >"$tmp/right.tdl"
verified() {	# NAME SED-COMMAND
	sed "/^grad/,\$ { $2
}" "$tmp/right.tdl" >"$tmp/planted.tdl"
	result=0
	tdlc verify --strict --gradients "$tmp/planted.tdl" >"$tmp/out" 2>&1 ||
		result=$?
	echo "$1: status $result, $(grep -c '^  wrong: x: ' "$tmp/out") findings"
}
verified 'as it is' ''
verified 'no mean' 's/ - mean\[.*\])$/)/'
verified 'twice the mean' 's/ - mean/ - 2 * mean/'
verified 'mean over all' \
	's/lambda \.\.(d \\ axes): Sum(lambda \.\.(d & axes)/lambda: Sum(lambda ..d/
	s/mean\[.*\])$/mean[])/'
verified 'mean of dy' 's/dy\[\.\.d\] \* y\[/dy[..d] + 0 * y[/'
verified 'no factor' 's/lambda \.\.d: y\[\.\.d\] \*/lambda ..d:/'
