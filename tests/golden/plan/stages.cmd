# Plans of several stages, of version 4.
status() { "$@" || echo "-> $?"; }
plan() { status tdlc plan micro_batches.tdl --model small -D batch=4 --train "$@"; }
plan -k 4 --stages 2 --micro-batches 2 -o "$tmp/a.plan"
grep -E '"(version|schedule)"' "$tmp/a.plan"
plan -k 2 --stages 2 --micro-batches 4 --schedule gpipe --json | grep -vE 'predicted|seconds'
plan -k 3 --stages 2 --micro-batches auto --inside data-parallel | sed -n '/micro/p;/stage /,$p'
# What does not fit, and what would.
plan -k 2 --stages 2 --micro-batches 1 --memory 400 -o "$tmp/none.plan"
[ ! -e "$tmp/none.plan" ] || echo "it was written"
plan -k 8 --stages 8 --micro-batches 1
plan -k 2 --stages 3 --micro-batches 1
plan -k 4 --stages 2 --replicas 3 --micro-batches 1
plan -k 4 --stages auto --replicas 3 --micro-batches 1
plan -k 6 --stages 2 --replicas 2 --micro-batches 1 | sed -n '/stage /,$p'
# Options.
plan -k 2 --stages 2
plan -k 2 --stages few --micro-batches 1
plan -k 2 --stages 0 --micro-batches 1
plan -k 2 --stages 1 --micro-batches 2 --schedule zb | sed -n "/micro/,/stages/p"
plan -k 2 --stages 2 --micro-batches 2 --schedule interleaved:2 | sed -n "/micro/,/stages/p"
plan -k 2 --stages 2 --micro-batches 1 --schedule backwards
plan -k 4 --stages auto --micro-batches 2 --schedule auto | sed -n "/predicted/!p"
plan -k 4 --stages 1 --replicas 2 --micro-batches 2 | sed -n "/stage /,\$p"
plan -k 4 --stages 1 --replicas none --micro-batches 2
plan -k 4 --replicas 2
plan -k 2 --stages 2 --micro-batches 1 --inside out
plan -k 2 --schedule gpipe
plan -k 2 --inside tofu
plan -k 2 --stages 2 --micro-batches 1 --frontier
plan -k 2 --stages 2 --micro-batches 1 --pin 'w1=replicated'
# Devices that differ: the faster ones get more.
cat >"$tmp/t.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "pair",
 "device": {"name": "core", "memory": 1000000000, "bandwidth": 1e11, "flops": {"f32": 1e3, "f64": 1e3}},
 "levels": [{"name": "net", "size": 2, "latency": 0, "bandwidth": 1e12}],
 "devices": [{"count": 1, "speed": 3}, {"count": 1, "speed": 1}]}
END
plan -k 2 --stages 2 --micro-batches 4 --topology "$tmp/t.json" | sed -n '/stage /,$p'
# Each has its own memory, which a split that was thought to fit is searched
# again for.
with_memory() { sed "s/\"speed\": 3/&, \"memory\": $1/" "$tmp/t.json" >"$tmp/less.json"; }
with_memory 960
plan -k 2 --stages 2 --micro-batches 4 --topology "$tmp/less.json" | sed -n '/stage /,$p'
with_memory 900
plan -k 2 --stages 2 --micro-batches 4 --topology "$tmp/less.json" --memory 960 | sed -n '/stage /,$p'
with_memory 100
plan -k 2 --stages 2 --micro-batches 4 --topology "$tmp/less.json"
plan -k 2 --stages 2 --micro-batches 4 --topology "$tmp/less.json" --memory 1M
with_memory 9000
tdlc plan ../../../examples/models/mlp.tdl -D depth=6 -D inputs=12 -D width=10 -D batch=8 --train \
	-k 2 --stages 2 --micro-batches 1 --topology "$tmp/less.json" | sed -n '/stage /,$p'
plan -k 2 --stages 2 --micro-batches 1 --algorithm joint
plan -k 2 --stages 2 --micro-batches 1 --algorithm megatron --sequence-parallel
plan -k 2 --stages 2 --micro-batches 1 --algorithm auto --objective memory
plan -k 2 --stages 2 --micro-batches 1 --warn-replicate 1
plan -k 2 --stages 2 --micro-batches 2 --algorithm auto | head -n 1
# 4 stages would fit by 1f1b, but not by the schedule that is asked for.
status tdlc plan micro_batches.tdl --model small -D batch=8 --train -k 4 --stages 2 --micro-batches 8 --schedule gpipe --memory 700
