# The weights of a model that lies elsewhere are found from the plan's folder, so
# that both can be moved.
mkdir "$tmp/old" "$tmp/old/models" "$tmp/old/plans" "$tmp/old/plans/two"
cp matmul.onnx "$tmp/old/models"
for folder in models plans plans/two; do
	tdlc plan "$tmp/old/models/matmul.onnx" -k 2 \
		-o "$tmp/old/$folder/matmul.plan" >/dev/null
	grep -o '"file": *"[^"]*"' "$tmp/old/$folder/matmul.plan"
done
mv "$tmp/old" "$tmp/new"
tdlrun "$tmp/new/plans/two/matmul.plan" --kernels interpreter >/dev/null
