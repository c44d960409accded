awk 'BEGIN { for (i = 0; i < 110; i++) print "op f(x[N]) -> y[N] = 1" }' \
	>"$tmp/many.tdl"
tdlc check "$tmp/many.tdl" >"$tmp/out" 2>&1
status=$?
tail -n 1 "$tmp/out"
exit $status
