for k in 2 4 12; do
	tdlc plan parts/chain.tdl -k $k --topology boxes.json | grep predicted
done
tdlc plan parts/chain.tdl -k 6 --topology boxes.json
tdlc plan parts/chain.tdl -k 24 --topology boxes.json
# Axes lie within levels: two boxes of six.
sed 's/"size": 3/"size": 2/; s/"size": 4/"size": 6/' boxes.json >"$tmp/six.json"
tdlc plan parts/chain.tdl -k 12 --topology "$tmp/six.json" | head -n 4
# A device with less memory than the plan needs.
sed 's/"memory": [0-9]*/"memory": 4000/' boxes.json >"$tmp/small.json"
tdlc plan parts/chain.tdl -k 2 --topology "$tmp/small.json" | grep memory
