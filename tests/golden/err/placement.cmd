# Placement files that do not fit their graph.
try() {
	printf '%s' "$1" >"$tmp/p.json"
	tdlc score ../place/parts/two.json -k 2 --placement "$tmp/p.json" 2>&1
	echo "status $?"
}
file() {
	echo "{\"format\": \"tdl-placement\", \"version\": 1, \"devices\": 2, \"placement\": [$1]}"
}
try '{"format"'
try '{"format": "tdl-plan"}'
try '{"format": "tdl-placement", "version": 2}'
try '{"format": "tdl-placement", "version": 1}'
try "$(file '7')"
try "$(file '{"id": 8, "device": 0}')"
try "$(file '{"id": 7, "device": 5}')"
try "$(file '{"id": 7, "device": 0}, {"id": 7, "device": 0}')"
try "$(file '{"id": 7, "device": 0}')"
# Device 2 is the one processor core of the file: loads, and no makespan.
try "$(file '{"id": 7, "device": 2}, {"id": 3, "device": 0}, {"id": 4, "device": 1}, {"id": 9, "device": 1}')"
# Files for other numbers of devices: one that is used is none, or a core.
of() {
	try "$(file "{\"id\": 7, \"device\": $2}, {\"id\": 3, \"device\": 0}, {\"id\": 4, \"device\": 1}, {\"id\": 9, \"device\": 1}" |
		sed "s/\"devices\": 2/\"devices\": $1/")"
}
of 0 0
of '"two"' 0
of 3 0
of 3 2
of 1 0
