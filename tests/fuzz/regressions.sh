#!/bin/sh
# Gives each fuzz target the inputs that once were too much for it, as they
# are; and, where the driver is ours, changed.
. "${srcdir:-.}/tests/lib.sh"

for folder in "${srcdir:-.}"/tests/fuzz/regressions/*; do
	target=$(basename "$folder")
	set --
	[ "${FUZZ-}" = yes ] || set -- -mutate=10
	for file in "$folder"/*; do
		timeout 60 "tests/fuzz/$target" "$@" "$file" \
			>"$tmp/out" 2>&1 || {
			fail "$target does not survive $file"
			tail -n 5 "$tmp/out"
		}
	done
done
finish
