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
