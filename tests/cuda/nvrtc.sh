#!/bin/sh
# Tests: compiler/codegen
# NVRTC compiles every kernel of every operator and of the examples' models for
# GPUs that need not be here, without a spill.  With CHECK_ALL=yes they take
# what the table in docs/cuda.md says; UPDATE=1 writes it.
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
# With products of bf16.
for model in gpt2 moe resnet; do
	expect 0 "$TDLC" plan "${srcdir:-.}/examples/models/$model.tdl" -k 1 \
		-D batch=4 --train --optimizer adamw --precision bf16 \
		-o "$tmp/$model-bf16.plan"
done
expect 0 "$TDLC" plan "${srcdir:-.}/examples/digits/digits.tdl" -k 1 --train \
	-o "$tmp/digits.plan"
expect 0 "$TDLC" plan "${srcdir:-.}/examples/characters/characters.tdl" \
	--model characters -k 1 --train -o "$tmp/characters.plan"
status=0
"$program" "${srcdir:-.}/include" "${srcdir:-.}/opdefs" "$tmp"/*.plan \
	>"$tmp/printed" || status=$?
cat "$tmp/printed"
[ "$status" -ne 77 ] || exit 77
[ "$status" -eq 0 ] || fail "status $status"

# ---- the table ---------------------------------------------------------------

page="${srcdir:-.}/docs/cuda.md"
version=$(sed -n 's/^NVRTC \([0-9.]*\):.*/\1/p' "$tmp/printed")
if [ -z "${UPDATE-}" ] && ! grep -q "NVRTC $version" "$page"; then
	echo "docs/cuda.md has the table of another version of NVRTC"
	finish
fi
grep '^|' "$tmp/printed" >"$tmp/rows"
if [ "${CHECK_ALL-}" = yes ] && [ -z "${SAMPLE-}" ]; then
	page_table "$page" '| kernels | number' "$tmp/rows"
fi
finish
