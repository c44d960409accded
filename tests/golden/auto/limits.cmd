# With more memory nothing becomes slower, and what is found keeps to the limit.
found() { sed -n "s/^  \"$1\": \([^,]*\),/$1 \1/p" "$tmp/plan.json"; }
for limit in 384 422 448 473; do
	tdlc plan parts/softmax.tdl -k 6 --algorithm auto --memory $limit --json \
		>"$tmp/plan.json"
	echo "within $limit: $(found peak_bytes_per_device)," \
		"$(found predicted_seconds)"
done
# A limit that another planner keeps to, auto keeps to.
tdlc plan parts/scatter.tdl -k 6 --train --algorithm spartan --json \
	>"$tmp/plan.json"
echo "spartan: $(found peak_bytes_per_device)"
least=$(found peak_bytes_per_device)
tdlc plan parts/scatter.tdl -k 6 --train --algorithm auto \
	--memory "${least##* }" --json >"$tmp/plan.json"
echo "auto: $(found peak_bytes_per_device)"
