# The terms of a tied weight's gradient are added up over micro-batches and
# devices, and reduced once, not in each micro-batch; so is a sum that is returned.
reductions() { tdlc plan micro_batches_tied.tdl -k 2 --algorithm data-parallel "$@" -o "$tmp/p.plan" --json | grep '"reduce-scatter"'; }
for turns in 1 2 4; do
	reductions --model tied --train --micro-batches $turns
	tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
	reductions --model tied --train --precision bf16 --clip-norm 1 --micro-batches $turns
	reductions --model turned --train --micro-batches $turns
	tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
	reductions --model returned --micro-batches $turns
	tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
done
# No weight's dimension is taken for the batch, though it has as many elements.
for turns in 2 3 4; do
	for k in 1 2; do
		tdlc plan micro_batches_tied.tdl --model square --train -k $k --micro-batches $turns -o "$tmp/p.plan" >"$tmp/out"
		tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
	done
done
# One that is the batch's is computed with it, but kept of all samples.
tdlc plan micro_batches_tied.tdl --model own -k 2 --micro-batches 2 -o "$tmp/p.plan" >"$tmp/out"
tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
tdlc plan micro_batches_tied.tdl --model own --train -k 2 --micro-batches 2
