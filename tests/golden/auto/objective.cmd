for o in time bytes memory; do
	tdlc plan parts/net.tdl -k 8 --train --topology 8xh100-nvlink \
		--algorithm auto --objective $o |
		grep -E 'communication|memory|predicted'
done
tdlc plan parts/net.tdl -k 8 --algorithm auto --json | grep -E 'algorithm"|objective'
# No planner without a price has less than 162 kB.
tdlc plan parts/net.tdl -D width=20 -D depth=5 -k 3 --train --algorithm auto \
	--objective memory | grep memory
tdlc plan parts/net.tdl -k 8 --objective time
