try() {
	printf '%s' "$1" >"$tmp/t.json"
	tdlc plan parts/chain.tdl -k 2 --topology "$tmp/t.json" 2>&1 | sed "s|^.*t.json|t.json|"
}
device='"device": {"bandwidth": 1e9, "flops": {"f32": 1e9}}'
try '{"format": "tdl-topology"'
try '{"format": "toml"}'
try '{"format": "tdl-topology", "version": 4}'
try '{"format": "tdl-topology", "version": 1}'
try '{"format": "tdl-topology", "version": 1, "device": {}}'
try '{"format": "tdl-topology", "version": 1, "device": {"bandwidth": "fast"}}'
try '{"format": "tdl-topology", "version": 1, "device": {"bandwidth": 1, "flops": {"f32": 1e9, "f33": 2}}}'
try "{\"format\": \"tdl-topology\", \"version\": 1, $device}"
try "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [{\"size\": 2}]}"
try "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [{\"size\": 2.5, \"latency\": 0, \"bandwidth\": 1}]}"
try "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [{\"latency\": 0, \"bandwidth\": 1}, {\"latency\": 0, \"bandwidth\": 1}]}"
try "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [{\"latency\": 0, \"bandwidth\": 1, \"width\": 3}]}"
try "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [{\"size\": 0, \"latency\": 0, \"bandwidth\": 1}]}"
try '{"format": "tdl-topology", "version": 1, "device": {"bandwidth": 1, "flops": {"f32": 1e9}, "overlap": 1}}'
try '{"format": "tdl-topology", "version": 1, "name": 7}'
try '{"format": "tdl-topology", "version": 1, "name": "a\nb"}'
try '{"format": "tdl-topology", "version": 1, "device": {"name": ["a"], "bandwidth": 1, "flops": {"f32": 1e9}}}'
try "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [{\"name\": null, \"latency\": 0, \"bandwidth\": 1}]}"
# What many levels have in all has no bounds.
level='{"size": 65536, "latency": 0, "bandwidth": 1}'
all='{"size": 3, "latency": 0, "bandwidth": 1}'
for i in 1 2 3 4 5; do all="$level, $all"; done
printf '%s' "{\"format\": \"tdl-topology\", \"version\": 1, \"name\": \"deep\", $device, \"levels\": [$all]}" >"$tmp/t.json"
tdlc plan parts/chain.tdl -k 4 --topology "$tmp/t.json"
# Devices that differ: what is no list of them, and a plan, which has equal parts.
for kinds in '{}' '[]' '[7]' '[{"count": 0}]' '[{"count": 1.5}]' '[{"speed": 0}]' '[{"speed": 1e9}]' \
	'[{"size": 1}]' '[{"count": 4}]'; do
	printf '%s' "{\"format\": \"tdl-topology\", \"version\": 1, $device, \"levels\": [$all], \"devices\": $kinds}" >"$tmp/t.json"
	tdlc plan parts/chain.tdl -k 4 --topology "$tmp/t.json"
done
