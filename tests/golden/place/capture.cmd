# Replicas, tensors, stages, micro-batches: objectives, the frontier, nothing
# that fits, tables that are none, ties and skips, uneven stages.
net=parts/net.layers.json
tdlc place $net --algorithm capture --frontier
for objective in peak cost; do
	tdlc place $net --algorithm capture --objective $objective --zero | tail -n 1
done
tdlc place $net --algorithm capture --recompute --schedule gpipe --micro-batches 4 | tail -n 1
tdlc place $net --algorithm capture --memory 70000 --json | sed 's/^  "seconds": .*/  "seconds": S,/'
for options in "--memory 9K" "--memory 9K --no-recompute -k 2" "-k 7 --micro-batches 3"; do
	tdlc place $net --algorithm capture $options || echo "status $?"
done
# What would do, each by itself.
for options in "-k 2 --no-recompute --memory 65500" "--micro-batches 1 --memory 70K" \
	"-k 7 --micro-batches 8 --memory 1M" "-k 7 --uneven --memory 40000" \
	"--no-recompute --memory 65400"; do
	tdlc place $net --algorithm capture $options || echo "status $?"
done
for options in "--recompute --no-recompute" "--objective load" "--link 1" "--predictor" "-o x.json" "--factor 1"; do
	tdlc place $net --algorithm capture $options 2>&1 | head -n 1
done
try() {
	printf '%s' "$1" >"$tmp/t.json"
	tdlc place "$tmp/t.json" --algorithm capture 2>&1
	echo "status $?"
}
layer='{"params": 1, "flops": 1, "act": 1, "rep": 1, "edge": 1, "ar": 1}'
machine='{"devices": 2, "node": 2, "flops": 1, "intra": 1, "inter": 1, "memory": 1}'
try '{"format": "tdl-layers",'
try '[]'
try '{"format": "tdl-layers", "version": 2}'
try '{"format": "tdl-layers", "version": 1, "layers": []}'
try '{"format": "tdl-layers", "version": 1, "layers": [7]}'
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$layer, {\"params\": -1}]}"
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$layer]}"
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$layer], \"machine\": $machine}"
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$layer], \"machine\": $machine, \"batch\": 1.5}"
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [{\"tied\": 1}]}"
# Members that a table does not have; names mean nothing.
two="\"layers\": [$layer, $layer], \"batch\": 2"
try "{\"format\": \"tdl-layers\", \"version\": 1, $two, \"machine\": $machine, \"skip\": []}"
try "{\"format\": \"tdl-layers\", \"version\": 1, $two, \"machine\": $(echo "$machine" | sed 's/"node"/"nodes": 1, &/')}"
try "{\"format\": \"tdl-layers\", \"version\": 1, $two, \"machine\": $(echo "$machine" | sed 's/1}/99, "name": "box"}/'), \"name\": \"net\"}"
# Layers without bytes have no ratio of memories; too many bytes are no table.
none='{"params": 0, "flops": 1, "act": 0, "rep": 0, "edge": 0, "ar": 0}'
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$none], \"machine\": $machine, \"batch\": 2}"
tdlc place "$tmp/t.json" --algorithm capture --json | grep -E 'memory_reduction|step_ratio'
heavy=$(echo "$layer" | sed 's/"params": 1/"params": 1e25/')
try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$heavy], \"machine\": $machine, \"batch\": 2}"
# Parameters that are tied, and skips.
t() {
	try "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$1], \"machine\": $machine, \"batch\": 2${2-}}"
}
named() {
	echo "$layer" | sed "s/}/, \"tie\": $1}/"
}
t "$layer, $(named 7)"
t "$layer, $(named '""')"
t "$(named '"a"'), $layer"
t "$(named '"a"'), $layer, $(named '"a"' | sed 's/"params": 1/"params": 2/')"
skip='{"from": 0, "to": 1, "act": 3}'
t "$layer, $layer" ", \"skips\": $skip"
t "$layer, $layer" ", \"skips\": [4]"
t "$layer, $layer" ", \"skips\": [$skip, {\"from\": 0, \"to\": 2, \"act\": 3}]"
t "$layer, $layer" ", \"skips\": [{\"from\": -1, \"to\": 1, \"act\": 3}]"
t "$layer, $layer" ", \"skips\": [{\"from\": 0.5, \"to\": 1, \"act\": 3}]"
t "$layer, $layer" ", \"skips\": [{\"from\": 1, \"to\": 1, \"act\": 3}]"
t "$layer, $layer" ", \"skips\": [{\"from\": 0, \"to\": 1, \"act\": -3}]"
t "$layer, $layer" ", \"skips\": [{\"from\": 0, \"to\": 1, \"act\": 3, \"kept\": true}]"
t "$layer, $layer" ", \"skips\": [{\"from\": 0, \"to\": 1, \"act\": 1e25}]"
net=parts/tied.layers.json
tdlc place $net --algorithm capture --frontier
tdlc place $net --algorithm capture --objective peak --json | sed 's/^  "seconds": .*/  "seconds": S,/'
# Stages that differ.
tdlc place $net --algorithm capture --uneven --frontier
tdlc place $net --algorithm capture --uneven --memory 90K
tdlc place $net --algorithm capture --uneven -k 3 --schedule gpipe --objective cost
tdlc place $net --algorithm capture --uneven --memory 87500 --json | sed 's/^  "seconds": .*/  "seconds": S,/'
tdlc place $net --algorithm capture --uneven --memory 9K || echo "status $?"
tdlc place $net -k 7 --micro-batches 8 --uneven --algorithm capture --no-recompute | tail -n 9
many=$(awk -v l="$layer" 'BEGIN { printf "%s", l; while (n++ < 1023) printf ",%s", l }')
printf '%s' "{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [$many], \"machine\": $machine, \"batch\": 64}" >"$tmp/t.json"
tdlc place "$tmp/t.json" -k 1024 --algorithm capture --uneven 2>&1 || echo "status $?"
tdlc place parts/net.graph.txt -k 2 --algorithm mcap --uneven 2>&1 | head -n 1
