#!/bin/sh
# Networks on GPUs: their partitioned steps give what one worker gives there,
# and what the processor gives; with generated kernels, and with the libraries
# where they are.
. "${srcdir:-.}/tests/gpu/lib.sh"

for plan in "$plans"/*.plan; do
	name=$(basename "$plan" .plan)
	tolerance=1e-3
	case $name in *bf16*) tolerance=0.1 ;; esac
	expect 0 "$TDLRUN" "$plan" --steps 1 --outputs "$tmp/cpu.npz"
	for kernels in '--kernels generated' ''; do
		before=$nfailed
		# shellcheck disable=SC2086 # words
		expect 0 "$TDLRUN" "$plan" --backend cuda $kernels --steps 3 \
			--verify
		prints 'communication .*, as planned'
		prints 'memory .*, as planned'
		prints ' verified '
		# shellcheck disable=SC2086
		expect 0 "$TDLRUN" "$plan" --backend cuda $kernels --steps 1 \
			--outputs "$tmp/cuda.npz"
		expect 0 close_to "$tmp/cuda.npz" "$tmp/cpu.npz" "$tolerance"
		[ "$nfailed" -eq "$before" ] || cat "$tmp/out"
		echo "$name ${kernels:---kernels library}:" \
			"$(tail -n 1 "$tmp/out") from the processor's"
	done
done
finish
