#!/bin/sh
# Tests: compiler/codegen
# NVRTC compiles every kernel of every operator and of the examples' models for
# GPUs that need not be here.
. "${srcdir:-.}/tests/lib.sh"
program=tests/cuda/nvrtc
[ -x "$program" ] || skip "$program is not built"

# The one of quickstart, where none is named.
for library in "${srcdir:-.}"/.venv/lib/python3*/site-packages/nvidia/*/lib; do
	[ -n "${TDL_NVRTC-}" ] || [ ! -f "$library/libnvrtc.so.13" ] ||
		TDL_NVRTC=$library/libnvrtc.so.13
done
if [ -n "${TDL_NVRTC-}" ]; then
	export TDL_NVRTC
	beside=$(dirname "$TDL_NVRTC")
	LD_LIBRARY_PATH=$beside${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi
for model in "${srcdir:-.}"/examples/models/*.tdl; do
	case $model in
	*/blocks.tdl) continue ;;
	esac
	name=$(basename "$model" .tdl)
	expect 0 "$TDLC" plan "$model" -k 1 -o "$tmp/$name.plan"
done
expect 0 "$TDLC" plan "${srcdir:-.}/examples/digits/digits.tdl" -k 1 --train \
	-o "$tmp/digits.plan"
expect 0 "$TDLC" plan "${srcdir:-.}/examples/characters/characters.tdl" \
	--model characters -k 1 --train -o "$tmp/characters.plan"
status=0
"$program" "${srcdir:-.}/include" "${srcdir:-.}/opdefs" "$tmp"/*.plan ||
	status=$?
[ "$status" -ne 77 ] || exit 77
[ "$status" -eq 0 ] || fail "status $status"
finish
