# A pipeline by zero bubble, which is not left out because by 1f1b it waits too
# long to be faster than the plan without stages.
for s in '' '--stages none' '--stages auto --schedule auto'; do
	# shellcheck disable=SC2086
	tdlc plan waiting.tdl --batch-dim x=0 --train -k 4 --topology 8xk80 -D n=1600 \
		--algorithm auto --micro-batches 2 $s |
		grep -E 'predicted|micro-batches'
done
