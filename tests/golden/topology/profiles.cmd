# Profiles that no run gives, each with its place.
try() {
	printf '%s' "$1" >"$tmp/p.json"
	tdlc plan parts/chain.tdl -k 2 --profile "$tmp/p.json" 2>&1 |
		sed -e "s|^.*p.json|p.json|" -e '/^chain/,$d'
}
with() {
	try "{\"format\": \"tdl-profile\", \"version\": 1, $1}"
}
h=0123456789abcdef
time='"seconds": 1e-6, "spread": 0, "samples": 3'
kernel() {
	with "\"kernels\": [{$2, $time}, $1]"
}
good="\"kernel\": \"$h\", \"class\": \"gather\", \"type\": \"f32\", \"devices\": 2, \"extents\": [3], \"work\": [1, 1, 1, 1, 1], \"flops\": 1, \"bytes\": 8"
row() {
	kernel "$1" "$good"
}
run() {
	with "\"runs\": [{\"model\": \"m\", \"plan\": \"$h\", \"devices\": 1, \"warm_up\": 2, $time$1}]"
}
try '{'
try '{"format": "tdl-topology"}'
try '{"format": "tdl-profile", "version": 2}'
with '"more": 1'
with '"kernels": {}'
with '"made": 7'
row '7'
row "{$time}"
row "{\"kernel\": \"01234\", $time}"
row "{\"kernel\": \"0123456789ABCDEF\", $time}"
row "{\"kernel\": \"$h\", \"class\": \"magic\", \"type\": \"f32\"}"
row "{\"kernel\": \"$h\", \"class\": \"gather\", \"type\": \"f33\"}"
row "{\"kernel\": \"$h\", \"class\": \"gather\", \"type\": \"f32\", \"devices\": 0}"
row "{\"kernel\": \"$h\", \"class\": \"gather\", \"type\": \"f32\", \"devices\": 70000}"
at="\"kernel\": \"$h\", \"class\": \"gather\", \"type\": \"f32\", \"devices\": 2"
row "{$at, \"extents\": 7}"
row "{$at, \"extents\": [-1]}"
row "{$at, \"extents\": [1, 1.5]}"
row "{$at, \"extents\": [1], \"work\": [1, 1, 1, 1]}"
row "{$at, \"extents\": [1], \"work\": [1, 1, 1, 1, -1]}"
row "{$at, \"extents\": [1], \"work\": [1, 1, 1, 1, 1], \"flops\": \"x\"}"
row "{$good, \"seconds\": 0, \"spread\": 0, \"samples\": 3}"
row "{$good, \"seconds\": 1e10, \"spread\": 0, \"samples\": 3}"
row "{$good, \"seconds\": 1, \"spread\": -1, \"samples\": 3}"
row "{$good, \"seconds\": 1, \"spread\": 0, \"samples\": 0}"
row "{$good, \"seconds\": 1, \"spread\": 0, \"samples\": 1.5}"
row "{$good, \"seconds\": 1, \"spread\": 0, \"samples\": 1, \"x\": 1}"
with '"transfers": [7]'
with "\"transfers\": [{\"collective\": \"shout\", \"devices\": 2, \"received\": 1, \"written\": 1, $time}]"
with "\"transfers\": [{\"collective\": \"halo\", \"devices\": 2, \"received\": -1, \"written\": 1, $time}]"
with "\"transfers\": [{\"collective\": \"halo\", \"devices\": 2, \"received\": 1, \"written\": 0.5, $time}]"
with "\"runs\": [{\"model\": \"m\", \"plan\": \"$h\", \"devices\": 1, \"warm_up\": -1, $time}]"
run ''
run ', "workers": []'
run ', "workers": [{"stage": -1, "arena_bytes": 1}]'
run ', "workers": [{"stage": 0, "arena_bytes": "x"}]'
one='"workers": [{"stage": 0, "arena_bytes": 1}]'
run ", $one, \"instructions\": [7]"
run ", $one, \"instructions\": [{\"name\": 7}]"
at='"name": "a", "kind": "run"'
run ", $one, \"instructions\": [{$at, \"instruction\": -1}]"
run ", $one, \"instructions\": [{$at, \"instruction\": 0, \"micro_batch\": -1}]"
run ", $one, \"instructions\": [{$at, \"instruction\": 0, \"micro_batch\": null, \"workers\": []}]"
run ", $one, \"instructions\": [{$at, \"instruction\": 0, \"micro_batch\": null, \"workers\": [{\"bytes\": 1}]}]"
run ", $one, \"instructions\": [{$at, \"instruction\": 0, \"micro_batch\": 3, \"workers\": [{\"bytes\": 1, $time}]}]"
