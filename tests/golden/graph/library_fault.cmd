# A fault in a file of the library that the model does not need is a warning;
# what needs it is missing.
cp -r ../../../opdefs "$tmp/opdefs"
rm -f "$tmp/opdefs/README.md"
printf 'op broken(x[N) -> y[N] = lambda i: x[i]\n' >"$tmp/opdefs/broken.tdl"
printf 'onnx "Mine" 1.. (x) {\n    return broken(x)\n}\n\n' \
	>"$tmp/opdefs/onnx/mine.tdl"
printf 'onnx "Yours" 1.. (x) {\n    return nobody(x)\n}\n' \
	>>"$tmp/opdefs/onnx/mine.tdl"
tdlc show relu.onnx --opdefs "$tmp/opdefs"
tdlc ops --opdefs "$tmp/opdefs" >"$tmp/ops" || echo "ops: status $?"
tdlc show relu.onnx --opdefs "$tmp/none"
