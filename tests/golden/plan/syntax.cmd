echo '{"format": "tdl-plan",' >"$tmp/broken.plan"
tdlrun "$tmp/broken.plan"
# In a row of a table, and between two.
tdlc plan matmul.onnx -k 2 -o "$tmp/good.plan" >/dev/null
sed '/^"tensors"/{n;s/,/ /}' "$tmp/good.plan" >"$tmp/row.plan"
tdlrun "$tmp/row.plan"
sed '/^"tensors"/{n;s/},$/}/}' "$tmp/good.plan" >"$tmp/rows.plan"
tdlrun "$tmp/rows.plan"
# A plan where a model is expected.
tdlc plan "$tmp/good.plan" -k 2
