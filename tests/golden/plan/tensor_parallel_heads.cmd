# A weight of heads that are put together before the product: it cannot be cut.
echo '{"q_proj": "colwise", "up_proj": "colwise"}' >"$tmp/tp.json"
tdlc plan tensor_parallel_heads.tdl -k 2 --pins "$tmp/tp.json" 2>&1 >/dev/null |
	sed 's|^.*/tp.json|tp.json|'
