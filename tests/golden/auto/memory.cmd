# A limit that holds, one that makes the plan another, one that nothing keeps.
machine="--train --topology 8xh100-nvlink --algorithm auto"
for limit in 10M 310K 250K; do
	tdlc plan parts/net.tdl -k 8 $machine --memory $limit |
		grep -E 'communication|memory|predicted|note'
done
tdlc plan parts/net.tdl -k 2 --train --memory 600K
tdlc plan parts/net.tdl -k 2 --memory 0
tdlc plan parts/net.tdl -k 2 --memory lots
