for k in 2 4 12; do
	tdlc plan parts/chain.tdl -k $k --topology boxes.json | grep predicted
done
tdlc plan parts/chain.tdl -k 6 --topology boxes.json
tdlc plan parts/chain.tdl -k 24 --topology boxes.json
