#!/bin/sh
# Tests: compiler/driver
# Golden tests: what the programs print for an input is compared with what was
# read and accepted before.
#
# tests/golden/AREA/NAME.out is the output, both streams, and the exit status
# if it is not 0.  The command is in NAME.cmd, a shell script; without one it is
# `tdlc check NAME.tdl`.  It runs in the folder AREA; "$tmp" is an empty folder.
#
#	golden.sh [AREA | AREA/NAME]...	those cases, by default all
#	GOLDEN='AREA ...' golden.sh	the same
#	UPDATE=1 golden.sh		accepts what is printed now
#	GOLDEN_SAMPLE=N golden.sh	every Nth, from number SAMPLE_FROM on
. "${srcdir:-.}/tests/lib.sh"

root=$(cd "${srcdir:-.}/tests/golden" && pwd)
update=${UPDATE-}
work=$tmp	# lib.sh removes it

tdlc() { "$TDLC" "$@"; }
tdlrun() { "$TDLRUN" "$@"; }

# The names of all cases: what has a command or an operator file or an output.
# Files that are only imported lie in folders named parts/.
all_cases() {
	(cd "$root" && find . -type f \
		\( -name '*.cmd' -o -name '*.tdl' -o -name '*.out' \) \
		! -path '*/parts/*') |
	sed 's|^\./||; s|\.[a-z]*$||' | LC_ALL=C sort -u
}

# Of the names of all cases those that are asked for: AREA or AREA/NAME...
chosen() {
	all_cases | awk -F/ -v words="$*" -v n="${GOLDEN_SAMPLE:-1}" \
		-v from="${SAMPLE_FROM:-0}" '
		BEGIN {
			split(words, list, " ")
			for (i in list) wanted[list[i]] = 1
		}
		words == "" || $1 in wanted || $0 in wanted {
			if (seen++ % n == from % n) print
		}'
}

# The output of a case on standard output.
run_case() {
	tmp=$(mktemp -d "$work/case.XXXXXX")
	name=$(basename "$1")
	status=0
	cd "$root/$(dirname "$1")" || exit 1
	(
		if [ -e "$name.cmd" ]; then
			# shellcheck disable=SC1090
			. "./$name.cmd"
		else
			tdlc check "$name.tdl"
		fi
	) >"$tmp.got" 2>&1 || status=$?
	sed "s|$tmp|TMP|g" "$tmp.got"
	[ "$status" -eq 0 ] || echo "exit status $status"
}

# shellcheck disable=SC2086 # words
cases=$(chosen ${*:-${GOLDEN-}})
[ "$cases" ] || [ "${GOLDEN_SAMPLE:-1}" -gt 1 ] ||
	fail "no such cases: ${*:-${GOLDEN-}}"
for case in $cases; do
	want=$root/$case.out
	(run_case "$case") >"$work/got"
	if [ "$update" ]; then
		cmp -s "$work/got" "$want" || {
			cp "$work/got" "$want"
			echo "accepted $case"
		}
	elif [ ! -e "$want" ]; then
		fail "$case has no .out; UPDATE=1 makes it"
	else
		diff -u --label "$case.out" --label printed "$want" \
			"$work/got" || fail "$case"
	fi
done
finish
