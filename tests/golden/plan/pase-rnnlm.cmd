# PaSE's RNNLM in PaSE's costs: its code finds 2.344e13 FLOP on one device,
# 7.101e12 for data parallelism on 8 and 4.025e12 for the best; the gradient of a
# weight that 256 time steps read is exchanged once.
tdlc plan parts/rnnlm.tdl -k 8 --algorithm pase --json |
sed -n '/"own_costs"/,/}/p'
