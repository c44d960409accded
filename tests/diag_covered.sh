#!/bin/sh
# Tests: base
# Every diagnostic of base/diag.def is shown by a golden test.
. "${srcdir:-.}/tests/lib.sh"
cd "${srcdir:-.}" || exit 1
for name in $(sed -n 's/^DIAG([A-Z0-9_]*, *"\([a-z0-9-]*\)".*/\1/p' \
	base/diag.def); do
	grep -rqF --include='*.out' "[$name]" tests/golden ||
		fail "no golden test shows [$name]"
done
finish
