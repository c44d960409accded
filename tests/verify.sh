#!/bin/sh
# Tests: compiler/verify
# The strategies of the library's operators are right on many small shapes, and
# none that works is missing.
. "${srcdir:-.}/tests/lib.sh"

# verify STATUS [OPERATOR...]: all operators if none is named
verify() {
	status=$1
	shift
	expect "$status" "$TDLC" verify --strict --gradients "$@"
	sed -i -e ':more' -e 'N; s/\n    / /; t more' -e 'P; D' "$tmp/out"
}

if [ "${SAMPLE:-1}" -gt 1 ]; then
	ops=$("$TDLC" ops | awk -v n="$SAMPLE" -v from="${SAMPLE_FROM:-0}" '
		/^[a-z]/ && $1 != "det" && $1 != "inverse" &&
			seen++ % n == from % n { print $1 }')
	# shellcheck disable=SC2086
	verify 0 ${ops:?}
	prints ' 0 wrong, 0 missed, 0 wide$'
else
	# Gradients of opaque functions, which have substitutes, are not
	# checked.
	verify 5
	prints ' 0 wrong, 0 missed, 0 wide; 2 gradients checked nowhere$'
	prints '^det: .* 1 unchecked$'
	prints '^inverse: .* 1 unchecked$'
fi
grep -E '^  (wrong|missed|wide): ' "$tmp/out" && fail "see above"

# Other shapes, by another seed; the same ones by the same.
for op in conv2d_grouped softmax reshape; do
	expect 0 "$TDLC" verify --strict --seed 2 --trials 60 --json "$op"
	cp "$tmp/out" "$tmp/first"
	expect 0 "$TDLC" verify --strict --seed 2 --trials 60 --json "$op"
	cmp -s "$tmp/out" "$tmp/first" || fail "$op differs from run to run"
done
finish
