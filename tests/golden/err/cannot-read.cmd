tdlc check absent.tdl
tdlc check "$tmp"
tdlc check /dev/zero
mkfifo "$tmp/fifo"
timeout 20 "$TDLC" check "$tmp/fifo"
echo 'import "fifo"' >"$tmp/a.tdl"
timeout 20 "$TDLC" check "$tmp/a.tdl"

echo 'op f(x[N]) -> y[N] = lambda i: z[i]' >"$tmp/b.tdl"
cat "$tmp/b.tdl" | tdlc check /dev/stdin
tdlc check /dev/stdin <"$tmp/b.tdl"
tdlc check - <"$tmp/b.tdl"
tdlc check - <"$tmp"
