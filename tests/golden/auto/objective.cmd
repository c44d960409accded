for o in time bytes memory; do
	tdlc plan parts/net.tdl -k 8 --train --topology 8xh100-nvlink \
		--algorithm auto --objective $o |
		grep -E 'communication|memory|predicted'
done
tdlc plan parts/net.tdl -k 8 --algorithm auto --json | grep -E 'algorithm"|objective'
# No planner without a price has less than 162 kB.
tdlc plan parts/net.tdl -D width=20 -D depth=5 -k 3 --train --algorithm auto \
	--objective memory | grep memory
# Buckets take nothing of the least memory.
cat >"$tmp/machine.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "serial",
 "device": {"name": "X", "memory": 1e9, "bandwidth": 1e12, "flops": {"f32": 1e13},
            "overlap": false},
 "levels": [{"name": "bus", "size": 8, "latency": 1e-5, "bandwidth": 1e10}]}
END
for bytes in 0 auto; do
	tdlc plan parts/net.tdl -k 4 --train --algorithm auto --objective memory --topology "$tmp/machine.json" --bucket-bytes $bytes |
		grep -E 'buckets|memory|predicted'
done
tdlc plan parts/net.tdl -k 8 --objective time
