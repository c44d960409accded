#!/bin/sh
# Tests: plan
# The products of the examples' models that go to libraries: at least 98 % of
# the arithmetic, and as the table in docs/cuda.md says.  UPDATE=1 writes it.
. "${srcdir:-.}/tests/lib.sh"
program=tests/cuda/products
[ -x "$program" ] || skip "$program is not built"

# Training in bf16, several batches on one GPU.
: >"$tmp/rows"
for model in "${srcdir:-.}"/examples/models/*.tdl; do
	name=$(basename "$model" .tdl)
	[ "$name" != blocks ] || continue
	expect 0 "$TDLC" plan "$model" -k 1 -D batch=4 --train \
		--optimizer adamw --precision bf16 -o "$tmp/plan"
	expect 0 "$program" "$name" "$tmp/plan"
	cat "$tmp/out" >>"$tmp/rows"
done
page_table "${srcdir:-.}/docs/cuda.md" '| model | direct' "$tmp/rows"
finish
