for t in cpu 8xk80 8xh100-nvlink 2x8xh100 h100-cluster; do
	tdlc plan parts/chain.tdl -k 8 --topology $t | grep predicted
done
tdlc plan parts/chain.tdl -k 12 --topology 2x8xh100
tdlc plan parts/chain.tdl -k 4 --topology 16xq1
