# PaSE's AlexNet in PaSE's costs: its code finds 148215719552 FLOP for 4 devices
# and 97098296512 for 8; data parallel is 3.9 and 6.2 times that.
for k in 4 8; do
	tdlc plan parts/alexnet.tdl -k $k --algorithm pase --json |
	sed -n '/"own_costs"/,/}/p'
done
tdlc plan parts/alexnet.tdl -k 8 --algorithm pase | grep -v '^  search'
