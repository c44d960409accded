# Least loads: contiguous, any split, with and without cores and memory.
two=parts/two.json
tdlc place $two -k 2 --algorithm load
tdlc place $two -k 2 --algorithm load --cores 0 --any-split
tdlc place parts/layers.json -k 2 --algorithm load --json | sed 's/"seconds": .*/"seconds": S,/'
tdlc place $two -k 2 --algorithm load -o "$tmp/p.json" && head -n 5 "$tmp/p.json"
tdlc place $two -k 2 --algorithm load --memory 1 || echo "status $?"
for options in "--recompute" "--objective peak" "--time-limit 1"; do
	tdlc place $two -k 2 --algorithm load $options 2>&1 | head -n 1
done
{
	echo '{"maxSizePerFPGA": 1e9, "maxFPGAs": 2, "maxCPUs": 0, "nodes": ['
	awk 'BEGIN { for (i = 0; i < 16400; i++)
		printf "%s{\"id\": %d, \"fpgaLatency\": 1, \"cpuLatency\": 1, \"size\": 1, \"isBackwardNode\": 0, \"supportedOnFpga\": 1}\n", i ? "," : "", i }'
	echo '], "edges": []}'
} >"$tmp/many.json"
tdlc place "$tmp/many.json" -k 2 --algorithm load
