#!/bin/sh
# Kernels in CUDA, compiled for the host and run there: random ones, and those
# of all operators.
set -u

./tests/unit/test_codegen_cuda &
codegen=$!
./tests/unit/test_operators_cuda
operators=$?
wait "$codegen" && exit "$operators"
