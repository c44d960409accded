#!/bin/sh
# Lines executed, per file and in all, of a build with --enable-coverage after
# `make check'.  Run in the build folder by `make coverage'.
set -eu

notes=$(find base dsl kernel layout plan compiler runtime -name '*.gcda' \
	2>/dev/null || :)
[ "$notes" ] || {
	echo "coverage: nothing was counted here; configure with" \
		"--enable-coverage and run 'make check'" >&2
	exit 1
}
# gcov -n prints, for each source file:
#	File 'base/arena.c'
#	Lines executed:95.00% of 100
# shellcheck disable=SC2086
gcov -n $notes 2>/dev/null | awk -v top="${srcdir:-.}/" -F "[:%' ]+" '
	/^File / {
		file = $2
		if (index(file, top) == 1)
			file = substr(file, length(top) + 1) }
	/^Lines executed/ && file ~ /^[a-z].*\.[cly]$/ {
		lines[file] += $5; hit[file] += $5 * $3 / 100; file = "" }
	END {
		for (f in lines) {
			printf "%6.1f %% of %5d  %s\n",
				100 * hit[f] / lines[f], lines[f], f
			n += lines[f]; h += hit[f]
		}
		if (n)
			printf "%6.1f %% of %5d  in all\n", 100 * h / n, n
	}' | LC_ALL=C sort -k 5
