# Replicas have a sample each of a micro-batch; the planner of the devices in one,
# which sees all of it, would divide the samples again.
for inside in tofu levels; do
	tdlc plan micro_batches_tied.tdl --model tied -k 8 --stages 2 --replicas 2 --micro-batches 4 --inside $inside --train -o "$tmp/p.plan" | sed -n '/^stage/,$p'
	tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
done
