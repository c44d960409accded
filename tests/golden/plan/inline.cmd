{ cat halves.before; yes | head -c 8400000; cat halves.behind; } >"$tmp/halves.onnx"
tdlc plan "$tmp/halves.onnx" -k 2 -o "$tmp/halves.plan"
