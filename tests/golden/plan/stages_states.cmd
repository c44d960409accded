# Replicas of a stage divide the optimizer's states, where that is no slower, and
# put small reductions together.
mlp="../../../examples/models/mlp.tdl -D batch=16 -D inputs=24 -D width=32 -D depth=4 --train --optimizer adamw --clip-norm 1"
plan() { tdlc plan $mlp -k 4 --micro-batches 4 -o "$tmp/a.plan" "$@"; }
run() { tdlrun "$tmp/a.plan" --kernels interpreter --verify | grep -E "planned|verified"; }
states() { tdlc show "$tmp/a.plan" | grep -E '^layer_.*\.w(\.| )' | grep -v grad; }
plan --stages 2 --replicas 2 --bucket-bytes 1M | sed -n '/buckets/p;/^stage/,$p'
states
run
tdlc show "$tmp/a.plan" | grep -A3 '^bucket'
echo "less memory, 16-bit weights: their originals are divided, too; zero bubble"
plan --stages 2 --replicas 2 --bucket-bytes 1K --precision bf16 --schedule zb --memory 45kB | grep buckets
states
tdlrun "$tmp/a.plan" --kernels interpreter --verify | grep -E "planned"
echo "pins"
plan --stages auto --pin 'layer_2*=stage 1' --pin 'stage 0=devices 2, replicas 2' --pin 'stage 1=devices 2' --json |
	grep -E '"(buckets|replicas)"'
states
echo "a machine's latency is worth more than small states"
plan --stages 2 --replicas 2 --topology 8xh100-nvlink --json | grep -E '"buck'
states
tdlc explain $mlp -k 4 --micro-batches 4 --stages 2 --replicas 2 --topology 8xh100-nvlink | sed -n '/^stages/,/^$/p'
