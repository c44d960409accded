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
echo "an optimizer that reduces what it stores"
cat >"$tmp/lamb.tdl" <<'E'
op lamb(w[..d], g[..d], mean[..d], lr[]: f64; default_lr: float = 0.001)
    -> (next_w[..d], next_mean[..d]) =
    let v = lambda ..d: 0.9 * mean[..d] + 0.1 * g[..d]
    let a = lambda: sqrt(Sum(lambda ..d: cast(w[..d], f64) * cast(w[..d], f64)))
    let b = lambda: sqrt(Sum(lambda ..d: cast(v[..d], f64) * cast(v[..d], f64)))
    lambda ..d: w[..d] - cast(lr[] * a[] / (b[] + 0.001), w) * v[..d]
    lambda ..d: v[..d]
E
tdlc plan ../../../examples/models/mlp.tdl -D depth=6 -D inputs=16 -D width=16 -D batch=16 --train -k 4 --load "$tmp/lamb.tdl" --optimizer lamb --micro-batches 4 --algorithm auto --topology cpu --memory 9kB -o "$tmp/a.plan" | grep buckets
run
