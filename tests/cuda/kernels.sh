#!/bin/sh
# Tests: compiler/codegen
# Kernels in CUDA, compiled for the host and run there: random ones, those of
# all operators, and the conversions of small floats.
set -u

./tests/cuda/test_codegen &
codegen=$!
./tests/cuda/test_operators
operators=$?
./tests/cuda/test_conversions || operators=$?
wait "$codegen" && exit "$operators"
