for options in "" "-k 2 --link fast" "-k 2 --link 1,2,3" "-k 2 --link 1 --topology cpu" \
	"-k 2 --algorithm tofu" "-k 2 --json --gantt -" "-k 2 --memory 0" "-k 2000"; do
	tdlc place parts/two.json $options 2>&1 | head -n 1
done
tdlc place 2>&1 -k 2 | head -n 1
tdlc score parts/two.json -k 2 2>&1 | head -n 1
for options in "--network free" "--colocation"; do
	tdlc place parts/two.json -k 2 --algorithm load $options 2>&1 | head -n 1
done
tdlc place parts/two.json -k 2 --factor 2 2>&1 | head -n 1
tdlc place net.onnx -k 2
