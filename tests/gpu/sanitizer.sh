#!/bin/sh
# Plans under compute-sanitizer: nothing is read or written outside, unset or
# unordered.
. "${srcdir:-.}/tests/gpu/lib.sh"
command -v compute-sanitizer >/dev/null ||
	skip 'there is no compute-sanitizer (CUDA toolkit)'

# Launches, not a graph: what is found has a kernel's name.
export TDL_CUDA_GRAPH=0
for plan in mlp-4 resnet-2 gpt2-2 moe-4 rnn-4; do
	for tool in memcheck racecheck synccheck; do
		expect 0 compute-sanitizer --tool "$tool" \
			--error-exitcode 9 "$TDLRUN" "$plans/$plan.plan" \
			--backend cuda --kernels generated
		summary=$(cat "$tmp/out" "$tmp/err" | grep 'ERROR SUMMARY')
		echo "$plan, $tool: $summary"
	done
done
finish
