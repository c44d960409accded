# Before shapes are known; what cannot be said without them.
status() { "$@" || echo "-> $?"; }
for format in shardy jax nnscaler; do
	for op in matmul softmax conv1d embedding transpose same reduce_sum; do
		status tdlc explain $op parts/language.tdl --format=$format
	done
done
