# PipeDream's plan, what it says of it and what we do; memory; what is refused.
net=parts/net.graph.txt
{
	tdlc place $net -k 4 --algorithm pipedream --link 0.001
	tdlc place $net -k 1 --algorithm pipedream | tail -n 1
	tdlc place $net -k 2 --algorithm pipedream --link 1 --micro-batches 1 --factor 2 --json |
		sed 's/^  "seconds": .*/  "seconds": S,/'
	tdlc place $net -k 4 --algorithm pipedream --link 1 --memory 30K || echo "status $?"
} 2>&1 | grep -v '^parts'
for options in "" "--link 1,5" "--link 1 --schedule zb" "--link 1 --recompute" "--link 1 -o x" \
	"--link 1 --topology cpu" "--link 1 --objective peak"; do
	tdlc place $net -k 2 --algorithm pipedream $options 2>&1 | head -n 1
done
tdlc place parts/two.json -k 2 --algorithm pipedream --link 1
echo "status $?"
awk 'BEGIN { for (i = 0; i < 300; i++)
	printf "node%d -- L -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=1.0, parameter_size=1.0\n", i }' >"$tmp/many.txt"
tdlc place "$tmp/many.txt" -k 1000 --algorithm pipedream --link 1
echo "status $?"
