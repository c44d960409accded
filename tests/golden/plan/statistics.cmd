# Sums over the batch that a micro-batch needs are those of its own samples.
for turns in 2 3 7; do
	tdlc plan statistics.tdl --model centred -k 2 --train --micro-batches $turns --micro-batch-statistics -o "$tmp/p.plan" | grep micro
	tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
done
grep -o '"micro_batches":{[^}]*}' "$tmp/p.plan"
tdlc plan statistics.tdl --model scaled -k 2 --micro-batches 4 --micro-batch-statistics -o "$tmp/p.plan" >/dev/null
tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
tdlc plan statistics.tdl --model normal -k 2 --train --micro-batches 4 --micro-batch-statistics --algorithm data-parallel -o "$tmp/p.plan" >/dev/null
tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
tdlc show "$tmp/p.plan" | grep -E 'estimate|share|total'
tdlc plan statistics.tdl --model centred -k 2 --micro-batches 2
tdlc plan statistics.tdl --model counted -k 2 --micro-batches 2 --micro-batch-statistics
tdlc plan statistics.tdl --model centred -k 2 --micro-batch-statistics
sed 's/"statistics":true/"statistics":false/' "$tmp/p.plan" >"$tmp/q.plan"
tdlrun "$tmp/q.plan"
