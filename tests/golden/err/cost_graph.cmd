# Cost graphs that cannot be, each with one message that has a place.
try() {
	printf '%s' "$1" >"$tmp/g.json"
	tdlc place "$tmp/g.json" -k 2 ${2-} 2>&1
	echo "status $?"
}
node() {
	echo "{\"id\": $1, \"fpgaLatency\": ${2-1}, \"cpuLatency\": 1, \"size\": ${3-0}, \"isBackwardNode\": 0, \"supportedOnFpga\": ${4-1}}"
}
edge() {
	echo "{\"sourceId\": $1, \"destId\": $2, \"cost\": ${3-1}, \"size\": 8}"
}
graph() {
	echo "{\"nodes\": [$1], \"edges\": [$2]}"
}
try '{"nodes": [{"id": 1,'
try '{"nodes": [{"id": NaN}]}'
try '{"nodes": 1e999}'
try '[]'
try '{}'
try "$(graph '' '')"
try "$(graph '7' '')"
try "$(graph '{"fpgaLatency": 1}' '')"
try "$(graph "$(node 1 -1)" '')"
try "$(graph "$(node 1 1e300)" '')"
try "$(graph "$(node 1 '"fast"')" '')"
try "$(graph "$(node 1 1 -5)" '')"
try "$(graph "$(node 1 1 0 0)" '')"
try "$(graph "$(node 1), $(node 1)" '')"
try "$(graph "$(node 1)" "$(edge 1 2)")"
try "$(graph "$(node 1), $(node 2)" "$(edge 1 2 -3)")"
try "$(graph "$(node 1)" "$(edge 1 1)")"
try "$(graph "$(node 1), $(node 2), $(node 3), $(node 4)" "$(edge 1 2), $(edge 2 3), $(edge 3 2), $(edge 3 4)")"
# What is there twice, or disagrees, is repaired.
try "$(graph "$(node 1), $(node 2), $(node 3)" "$(edge 1 2), $(edge 1 3 5), $(edge 1 2)")" "--algorithm single" | head -n 3
# Limits are printed to the last digit, and are what they say.
try "$(graph "$(node 1 1 1125899906842624)" '')" "--algorithm single" | sed -n 1p
try "$(graph "$(node 1 1 1125899906842625)" '')"
try "$(graph "$(node 1 1000000001)" '')"
