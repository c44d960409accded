# Why no division into stages was found: each kind of reason.
status() { "$@" || echo "-> $?"; }
plan() { status tdlc plan micro_batches.tdl --model small -D batch=4 --train --micro-batches 4 "$@"; }
cat >"$tmp/t.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "rows",
 "device": {"name": "core", "memory": 1000000000, "bandwidth": 1e11, "flops": {"f32": 1e9}},
 "levels": [{"name": "net", "size": 2, "latency": 1e-5, "bandwidth": 1e7},
            {"name": "bus", "size": 9, "latency": 1e-6, "bandwidth": 1e9}]}
END
plan -k 18 --stages 4 --topology "$tmp/t.json"
# Stages that no way divides do not lack memory.
plan -k 18 --stages 2 --topology "$tmp/t.json" --inside megatron
# Within memory, and without a limit: what is found cannot be planned.
plan -k 4 --stages 2 --replicas 1 --inside megatron --memory 10
plan -k 8 --stages 4 --replicas 1 --inside megatron --memory 10
plan -k 4 --stages 2 --replicas 1 --inside megatron
# How many micro-batches wait in a stage follows from the stages behind it, in
# the search as in what it finds.
cat >"$tmp/now.tdl" <<'END'
import "elementwise.tdl"
model now(batch = 8, width = 5) {
    input x[batch, width]
    y = relu(x)
    output y
}
END
for memory in 900 700; do
	status tdlc plan ../../../examples/models/mlp.tdl -D depth=1 -D batch=4 -D inputs=1 \
		-D width=1 -D classes=2 --train -k 3 --stages 2 --micro-batches 2 --schedule zb \
		--memory $memory 2>&1 | sed '/search/d' | tail -n 3
done
# Nothing reads a weight: there are no layers.
status tdlc plan "$tmp/now.tdl" -k 2 --stages auto --micro-batches 2
tdlc plan "$tmp/now.tdl" -k 2 --algorithm auto --micro-batches 2 | grep communication
status tdlc profile "$tmp/now.tdl" -o "$tmp/now.json"
