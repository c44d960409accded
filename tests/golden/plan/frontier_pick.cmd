# Each plan of the frontier by its number: its figures are those of its row.
small="micro_batches.tdl --model small -D batch=8 -k 4 --train --topology 8xh100-nvlink"
figures() {
	grep -oE '"(predicted_seconds|peak_bytes_per_device|communication_bytes)": [^,]*' |
		LC_ALL=C sort -u
}
for bucket in 0 1M; do
	tdlc plan $small --bucket-bytes $bucket --frontier --json >"$tmp/all"
	n=$(grep -c '"algorithm"' "$tmp/all")
	echo "$n plans"
	for i in $(seq "$n"); do
		tdlc plan $small --bucket-bytes $bucket --frontier="$i" --json -o "$tmp/plan" | figures >"$tmp/one"
		awk -v i="$i" '/"algorithm"/ { at++ } at == i' "$tmp/all" | figures | diff - "$tmp/one" && echo "plan $i"
	done
done
tdlc simulate "$tmp/plan" | grep '^  step'
tdlc plan $small --frontier=3 | grep -A1 -E 'predicted|note'
tdlc plan $small --frontier=9 || echo "-> $?"
tdlc plan $small --frontier=0 || echo "-> $?"
tdlc plan $small --frontier=two || echo "-> $?"
tdlc plan $small --frontier=2 --algorithm tofu || echo "-> $?"
tdlc plan $small --frontier=2 --objective memory || echo "-> $?"
