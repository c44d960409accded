# Stages of a model and of its cost graph, and of tied weights.
model="../../../examples/models/mlp.tdl -D batch=64 -D inputs=16 -D width=32 -D depth=3 --train"
tdlc place $model -k 3 --algorithm mcap --micro-batches 4
tdlc place $model -k 3 --algorithm mcap --micro-batches 4 --topology 8xk80 --recompute
tdlc show $model --costs >"$tmp/g.json"
tdlc place "$tmp/g.json" -k 3 --algorithm mcap --micro-batches 4 --link 5 | sed 1d
tdlc place $model -k 3 --algorithm mcap --micro-batches 4 --memory 30K
echo "status $?"
tdlc place $model -k 3 --algorithm mcap --factor 3 2>&1 | head -n 1
# One weight of 1000 bytes at both ends: each of two stages holds it.
node() {
	echo "{\"id\": $1, \"fpgaLatency\": 1, \"size\": $2, \"isBackwardNode\": 0, \"supportedOnFpga\": 1, \"colorClass\": $3}"
}
printf '%s' "{\"format\": \"tdl-costs\", \"version\": 1, \"nodes\": [$(node 0 1000 5), $(node 1 0 6), $(node 2 0 5)], \"edges\": [], \"results\": []}" >"$tmp/tied.json"
for k in 1 2 3; do
	tdlc place "$tmp/tied.json" -k $k --algorithm mcap | tail -n $k
done
# A placement has one device for a colour: such stages are not written.
tdlc place "$tmp/tied.json" -k 2 --algorithm mcap -o "$tmp/p.json"
echo "status $?"
[ ! -e "$tmp/p.json" ] || echo written
sed 's/"isBackwardNode": 0/"isBackwardNode": 1/g' "$tmp/tied.json" >"$tmp/none.json"
tdlc place "$tmp/none.json" -k 1 --algorithm mcap
