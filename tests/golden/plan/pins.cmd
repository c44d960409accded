# What the user decides of a plan; diff says what that changed.
status() { "$@" >"$tmp/out" || echo "-> $?"; sed 's/ *[0-9.e+-]* [mµ]*s$//; /^  search/d' "$tmp/out"; }
printf '%s\n' '# by columns, then rows' 'w = cut 1, cut 0' '' \
	'MatMul_* = by j, by k # twice' >"$tmp/pins"
status tdlc plan matmul.onnx -k 4 --pins "$tmp/pins" -o "$tmp/mine"
status tdlc plan matmul.onnx -k 4 --pin 'x=replicated' --pin '?=cut 0' --pin 'w=cut 1'
status tdlc plan matmul.onnx -k 4 --algorithm joint -o "$tmp/joint"
status tdlc diff "$tmp/joint" "$tmp/mine"
status tdlc diff "$tmp/mine" "$tmp/mine"
status tdlc diff "$tmp/joint" "$tmp/mine" --json
tdlc diff "$tmp/joint" "$tmp/mine" --topology 8xk80 | grep predicted
status tdlc diff "$tmp/joint" "$tmp/mine" --topology none
status tdlc score matmul.onnx -k 4 --pins "$tmp/pins" --algorithm tofu
status tdlc score matmul.onnx -k 4
printf 'w=cut 1\n\0\nx=nonsense\n' >"$tmp/zero"
(cd "$tmp" && tdlc plan "$OLDPWD/matmul.onnx" -k 4 --pins zero)
tdlrun "$tmp/mine" --verify --kernels interpreter --json | grep verified
