#!/bin/sh
# Every kernel of the operators and of tests/unit/test_codegen.c on a GPU
# against the interpreter: random operands at odd places, parts of the iteration
# space, poison around the result.
. "${srcdir:-.}/tests/gpu/lib.sh"

built=${TDL_GPU_PROGRAMS:-tests/gpu}
[ -x "$built/kernels" ] ||
	skip 'tests/gpu/kernels was not built: it needs tdlc, CUDA and Check'
CK_TIMEOUT_MULTIPLIER=10
export CK_TIMEOUT_MULTIPLIER
for program in kernels operators; do
	expect 0 "$built/$program"
	cat "$tmp/out"
done
finish
