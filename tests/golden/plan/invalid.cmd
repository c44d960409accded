tdlc plan matmul.onnx -k 2 -o "$tmp/good.plan" >/dev/null
sed 's/"version":3/"version":5/' "$tmp/good.plan" >"$tmp/later.plan"
tdlrun "$tmp/later.plan"
