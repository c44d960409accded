for o in time bytes memory; do
	tdlc plan parts/net.tdl -k 8 --train --topology 8xh100-nvlink \
		--algorithm auto --objective $o |
		grep -E 'communication|memory|predicted'
done
tdlc plan parts/net.tdl -k 8 --algorithm auto --json | grep -E 'algorithm"|objective'
tdlc plan parts/net.tdl -k 8 --objective time
