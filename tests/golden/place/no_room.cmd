# Nothing fits, or not where an algorithm looks.
tdlc place parts/two.json -k 2 --memory 450
tdlc place parts/two.json -k 2 --memory 900 --algorithm single
echo "status $?"
tdlc place parts/chain.graph.txt -k 1 --link 1 --memory 1K 2>&1
echo "status $?"
# A makespan at the bound that needs more memory is none of the best.
tdlc place parts/two.json -k 2 -o "$tmp/p.json" >"$tmp/out"
tdlc score parts/two.json -k 2 --placement "$tmp/p.json" --memory 600 2>&1
echo "status $?"
# A need that is little more than the limit.
tdlc place parts/two.json -k 1 --memory 1046
tdlc place parts/two.json -k 1 -o "$tmp/p.json" >"$tmp/out"
tdlc score parts/two.json -k 1 --placement "$tmp/p.json" --memory 1046 2>&1
tdlc place parts/two.json -k 1 --memory 1046 --algorithm load --cores 0
tdlc place parts/net.layers.json --memory 65370 --algorithm capture
