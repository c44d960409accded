# All algorithms in one table: those of loads and of stages where they take the
# graph, and with the placements that they make by themselves.
row() {
	tdlc compare "$@" | sed -n 's/ *[0-9.]* [mµ]*s$//; 3,$p' | grep "${only:-.}"
}
row parts/two.json -k 2
row parts/net.graph.txt -k 2 --link 12
only=load row parts/layers.json -k 2
tdlc place parts/layers.json -k 2 --algorithm load --cores 0 -o "$tmp/load.json" | sed -n 2p
tdlc score parts/layers.json -k 2 --placement "$tmp/load.json" | grep -e makespan -e load
only=mcap row parts/net.graph.txt -k 2 --link 12
tdlc place parts/net.graph.txt -k 2 --algorithm mcap --link 12 -o "$tmp/mcap.json" >"$tmp/out"
tdlc score parts/net.graph.txt -k 2 --link 12 --placement "$tmp/mcap.json" | grep -e makespan -e load
tdlc compare parts/two.json -k 2 --algorithm mcap
echo "status $?"
for a in "load" "mcap --link 12" "pipedream --link 12"; do
	tdlc place parts/net.graph.txt -k 2 --algorithm $a --network ports 2>&1 | head -n 1
done
