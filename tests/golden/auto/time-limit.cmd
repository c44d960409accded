# The proof that no plan is better takes time as well.
for limit in 60 1e-6; do
	tdlc plan parts/net.tdl -k 2 -D depth=1 --algorithm auto --time-limit $limit |
		grep note
done
