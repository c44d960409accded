# Several chunks of layers on each device: least peak, time, step, the frontier;
# nothing that fits, and what would; options that cannot be.
net=parts/net.graph.txt
chunks() {
	tdlc place $net --algorithm mcap --schedule "$@" 2>&1 | grep -v '^parts'
}
chunks interleaved:2 -k 2 --link 1 --frontier
chunks interleaved:3 -k 1 --link 1 --micro-batches 1
for objective in load makespan; do
	chunks interleaved:2 -k 2 --objective $objective | sed -n 3,5p
done
chunks interleaved:2 -k 3 --recompute --micro-batches 6 --objective makespan --frontier
chunks interleaved:2 -k 2 --link 1 --memory 64000 --json --frontier --objective load |
	sed 's/^  "seconds": .*/  "seconds": S,/'
# One chunk on each device is 1f1b, whatever the number of micro-batches.
for v in interleaved:1 1f1b; do
	chunks $v -k 3 --memory 50000 --micro-batches 7
done
chunks interleaved:2 -k 2 --memory 30000 --micro-batches 8
# Micro-batches that do not fill their last round.
chunks interleaved:2 -k 2 --micro-batches 3
for options in "-k 4" "-k 2 --predictor"; do
	chunks interleaved:2 $options | head -n 1
done
for v in 0 x -1 2x 4097 ''; do
	chunks interleaved:$v -k 2 | head -n 1
done
chunks interleaved -k 2 | head -n 1
tdlc place parts/net.layers.json --algorithm capture --schedule interleaved:2 2>&1 | head -n 1
tdlc place $net -k 2 --link 1 --algorithm pipedream --schedule interleaved:2 2>&1 | head -n 1
many=$(for i in $(seq 140); do
	echo "node$i -- A -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=8.0, parameter_size=4.0"
done)
echo "$many" >"$tmp/graph.txt"
tdlc place "$tmp/graph.txt" -k 20 --algorithm mcap --schedule interleaved:7 2>&1
echo "status $?"
# One layer.
grep Conv parts/net.graph.txt | head -n 1 >"$tmp/graph.txt"
net=$tmp/graph.txt
tdlc place "$net" --algorithm mcap -k 1 --micro-batches 1
for options in "-k 1 --memory 1" "-k 2" "-k 1 --schedule interleaved:2"; do
	tdlc place "$net" --algorithm mcap $options || echo "status $?"
done
