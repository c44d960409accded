# Of small graphs splits that need less memory are planned without a limit, too,
# so that none within one is found to be faster.  A row: limit, time, devices.
row() {
	tdlc plan ../auto/parts/net.tdl -k 4 -D batch=16 -D depth=4 -D width=16 \
		--topology 8xh100-nvlink --stages 2 --micro-batches 4 --train \
		--json "$@" >"$tmp/x.json"
	sed -n 's/^  "predicted_seconds": \(.*\),$/\1/p;s/^      "devices": /  /p' \
		"$tmp/x.json" | tr '\n' ' '
	echo
}
row
for limit in 7000 5168 4350 3500; do
	row --memory $limit
done
# A plan fits where its own need is the limit.
for limit in 1M 3776; do
	tdlc plan ../auto/parts/plateau.tdl -k 2 -D batch=16 --train --stages auto \
		--micro-batches 8 --schedule interleaved:2 --topology 2x8xh100 \
		--memory $limit | grep 'memory  '
done
# A division that seems to need more than the limit, and does not, is found where
# others fit.
cat >"$tmp/two.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "two",
 "device": {"bandwidth": 1e12, "flops": {"f32": 2e13}, "launch": 4e-6},
 "levels": [{"name": "between", "size": 2, "latency": 3e-5, "bandwidth": 1e9},
            {"name": "inside", "size": 2, "latency": 3e-6, "bandwidth": 1e11}]}
END
tdlc plan ../../../examples/models/rnn.tdl -D batch=64 -D layers=2 -D steps=4 \
	-D hidden=512 --train --optimizer adamw -k 4 --topology "$tmp/two.json" \
	--micro-batches 4 --stages 2 --memory 51013222 |
	sed -n '/memory  /p;/predicted/p;/^stage/,$p'
