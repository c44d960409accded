#!/bin/sh
# Tests: compiler/verify
# The strategies of the library's operators are right on many small shapes, and
# none that works is missing.
. "${srcdir:-.}/tests/lib.sh"
# Of opaque functions, for which others stand in, no slopes are known.
expect 5 "$TDLC" verify --strict --gradients
sed -i -e ':more' -e 'N; s/\n    / /; t more' -e 'P; D' "$tmp/out" # unbroken
prints ' 0 wrong, 0 missed, 0 wide; 2 gradients checked nowhere$'
prints '^det: .* 1 unchecked$'
prints '^inverse: .* 1 unchecked$'
grep -E '^  (wrong|missed|wide): ' "$tmp/out" && fail "see above"

# Other shapes, by another seed; the same ones by the same.
for op in conv2d_grouped softmax reshape; do
	expect 0 "$TDLC" verify --strict --seed 2 --trials 60 --json "$op"
	cp "$tmp/out" "$tmp/first"
	expect 0 "$TDLC" verify --strict --seed 2 --trials 60 --json "$op"
	cmp -s "$tmp/out" "$tmp/first" || fail "$op differs from run to run"
done
finish
