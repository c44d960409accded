# What was measured: curves that no measurement gives, each with its place.
try() {
	printf '%s' "$1" >"$tmp/t.json"
	tdlc plan parts/chain.tdl -k 2 --topology "$tmp/t.json" 2>&1 | sed "s|^.*t.json|t.json|"
}
device='"device": {"bandwidth": 1e9, "flops": {"f32": 1e9}}'
with() {
	try "{\"format\": \"tdl-topology\", \"version\": 2, $device, \"levels\": [{\"latency\": 0, \"bandwidth\": 1${2-}}]$1}"
}
share() {
	with ", \"measured\": [{\"devices\": 1, \"memory\": [[1, 1]], \"kernels\": [$1]}]"
}
try "{\"format\": \"tdl-topology\", \"version\": 3, $device}"
try "{\"format\": \"tdl-topology\", \"version\": 1, \"made\": \"here\", $device}"
with ', "processors": 0'
with ', "made": 7'
with ', "measured": []'
with ', "measured": [7]'
with ', "measured": [{"devices": 1, "memory": []}]'
with ', "measured": [{"devices": 1, "memory": [[1]]}]'
with ', "measured": [{"devices": 1, "memory": [[1, "x"]]}]'
with ', "measured": [{"devices": 1, "memory": [[0, 1]]}]'
with ', "measured": [{"devices": 1, "memory": [[2, 1], [2, 1]]}]'
with ', "measured": [{"devices": 1, "memory": [[2, 1], [3, 0.5]]}]'
with ', "measured": [{"devices": 1, "memory": [[1, 1]]}]'
with ', "measured": [{"devices": 1, "memory": [[1, 1]], "kernels": []}, {"devices": 1, "memory": [[1, 1]], "kernels": []}]'
share '7'
share '{"class": "magic", "type": "f32"}'
share '{"class": "opaque", "type": "f32"}'
share '{"class": "gather", "type": "f33"}'
share '{"class": "gather", "type": "f32", "side": "rows", "least": 1}'
share '{"class": "product", "type": "f32", "side": "top", "least": 1}'
share '{"class": "product", "type": "f32", "side": "rows", "least": 0.5}'
share '{"class": "gather", "type": "f32"}'
share '{"class": "gather", "type": "f32", "points": [[1, 1]]}, {"class": "gather", "type": "f32", "points": [[1, 1]]}'
with '' ', "transfers": 7'
with '' ', "transfers": [{"collective": "shout", "devices": 2, "points": [[1, 1]]}]'
with '' ', "transfers": [{"collective": "local", "devices": 2, "points": [[1, 1]]}]'
with '' ', "transfers": [{"collective": "halo", "devices": 2, "points": [[1, 1]]}, {"collective": "halo", "devices": 2, "points": [[1, 1]]}]'
