# A placement, its file, and that file judged; what the reader repairs.
tdlc place parts/two.json -k 2
tdlc place parts/two.json -k 2 --algorithm heft --link 0.001,100 --network free -o "$tmp/p.json" | head -n 3
tdlc score parts/two.json -k 2 --placement "$tmp/p.json" | head -n 3
tdlc place parts/two.json -k 2 -o -
tdlc place parts/two.json -k 2 --json | sed 's/"seconds": .*/"seconds": S,/'
tdlc place parts/layers.json -k 2 --algorithm balanced
tdlc place parts/chain.graph.txt -k 2 --link 12 --algorithm single
for a in single balanced heft metf; do
	tdlc compare parts/two.json -k 2 --algorithm $a --memory 600 | sed -n 's/ *[0-9.]* [mµ]*s$//; 4p'
done
