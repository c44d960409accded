# Layers in stages: least peak, longest stage, step, under a limit; nothing that
# fits, and what would.
net=parts/net.graph.txt
{
	tdlc place $net -k 3 --algorithm mcap --link 1 --frontier
	for objective in load makespan; do
		tdlc place $net -k 3 --algorithm mcap --objective $objective | sed -n 2,4p
	done
	tdlc place $net -k 3 --algorithm mcap --schedule gpipe --micro-batches 4 --recompute | sed -n 1,4p
	tdlc place $net -k 3 --algorithm mcap --schedule zb --factor 8 --predictor | sed -n 1,5p
	tdlc place $net -k 3 --algorithm mcap --memory 60000 | sed -n 2,4p
	tdlc place $net -k 3 --algorithm mcap --link 1 --frontier --json | sed 's/^  "seconds": .*/  "seconds": S,/'
	tdlc place $net -k 2 --algorithm mcap -o - --micro-batches 1 2>/dev/null | head -n 12
	tdlc place $net -k 3 --algorithm mcap --memory 39000 --micro-batches 9 || echo "status $?"
	tdlc place $net -k 2 --algorithm mcap --memory 50000 --schedule gpipe --micro-batches 9 || echo "status $?"
	tdlc place $net -k 8 --algorithm mcap || echo "status $?"
} 2>&1 | grep -v '^parts'
tdlc place parts/two.json -k 2 --algorithm mcap || echo "status $?"
for options in "--any-split" "--topology cpu" "--network free"; do
	tdlc place $net -k 2 --algorithm mcap $options 2>&1 | head -n 1
done
tdlc place parts/two.json -k 2 --algorithm heft --recompute 2>&1 | head -n 1
tdlc place $net -k 2 --algorithm mcap --gantt - 2>&1 | head -n 1
tdlc place parts/net.graph.txt -k 3 --algorithm mcap --objective makespan --json 2>/dev/null | grep -E 'bound|optimal|step_sec|makespan'
tdlc place parts/net.graph.txt -k 3 --algorithm mcap --objective load --json 2>/dev/null | grep -E 'bound|optimal|max_load'
