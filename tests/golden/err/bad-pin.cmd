cd ../plan || exit
status() { "$@" >/dev/null || echo "-> $?"; }
for pin in 'x=cut 2' 'x=cut y' 'nope=cut 0' '*=by i' 'x=cut 0,by i' 'x=cut 0,cut 0,cut 0' \
	'x=cat 0' 'x' 'MatMul_0=by q' 'x=' '=cut 0' 'x=cut -1' 'x=cut 0,' 'MatMul=by i' 'X=cut 0'; do
	status tdlc plan matmul.onnx -k 4 --pin "$pin"
done
status tdlc plan matmul.onnx -k 81 --pin x=cut\ 0
printf 'x = cut 0\n\n# so far\nw = cut 2\ny = cut 5\n' >"$tmp/pins"
cd "$tmp" || exit
status tdlc plan "$OLDPWD/matmul.onnx" -k 4 --pins pins
status tdlc plan "$OLDPWD/matmul.onnx" -k 4 --pins none
