cp matmul.onnx "$tmp/model.onnx"
tdlc plan "$tmp/model.onnx" -k 2 -o "$tmp/model.plan" >/dev/null
printf 'changed' | dd of="$tmp/model.onnx" bs=1 seek=1000 conv=notrunc 2>/dev/null
tdlrun "$tmp/model.plan"
