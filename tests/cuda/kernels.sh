#!/bin/sh
# Tests: compiler/codegen
# Kernels in CUDA, compiled for the host and run there: random ones, those of
# all operators, the conversions of small floats, and the rules of copies.
set -u

./tests/cuda/test_codegen &
codegen=$!
./tests/cuda/test_operators
operators=$?
./tests/cuda/test_conversions || operators=$?
./tests/cuda/test_copies || operators=$?
wait "$codegen" && exit "$operators"
