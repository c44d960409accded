#!/bin/sh
# Tests: compiler/codegen
# Kernels in CUDA, compiled for the host and run there: random ones, and those
# of all operators.
set -u

./tests/cuda/test_codegen &
codegen=$!
./tests/cuda/test_operators
operators=$?
wait "$codegen" && exit "$operators"
