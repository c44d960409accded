# Where one stage is the best, or there is one micro-batch, it is as auto divides
# the model without stages.
plan() { tdlc plan ../../../examples/models/mlp.tdl -D depth=3 -D batch=8 -D inputs=12 -D width=10 \
	--train -k 4 "$@"; }
plan --algorithm auto | sed -n '/plan/p;/predicted/p'
plan --stages auto --micro-batches 1 | sed -n '/plan/p;/predicted/p'
plan --stages auto --micro-batches auto | sed -n '/tried/,/communication/p;/predicted/p'
plan --stages auto --micro-batches 2 | sed -n '/micro/p;/predicted/p'
# A number that is asked for is kept to; as are replicas, and a schedule.
plan --stages 1 --micro-batches 1 | head -n 1
plan --stages auto --micro-batches 1 --replicas 2 | head -n 1
# One stage never waits: its backward pass is in one part.
plan --stages 1 --micro-batches 2 --schedule zb | sed -n '/micro/p;/predicted/p'
plan --stages 1 --micro-batches 2 --schedule 1f1b | sed -n '/micro/p;/predicted/p'
# With one sample, too, what has it in a dimension is told from the weights.
one() { tdlc plan micro_batches.tdl --model small --train -D batch=1 -k 2 -o "$tmp/one" "$@" >/dev/null &&
	tdlrun "$tmp/one" --kernels interpreter --verify | grep -e '^  loss' -e '^  verified'; }
one
one --stages 1 --micro-batches 1
one --stages 2 --micro-batches 1
