# A position needs its variable where the terms do not; gradients have such.
for train in '' --train; do
	tdlc plan unused_variable.tdl -k 2 $train -o "$tmp/x.plan" 2>&1 \
		>/dev/null | grep -c unused-name
	for kernels in generated interpreter; do
		tdlrun "$tmp/x.plan" --kernels $kernels --verify 2>&1 |
			grep -E 'verified|error'
	done
done
