#!/bin/sh
# Every block of TDL in docs/ and the README is an operator library of its own
# that `tdlc check` accepts, and every ```console block shows what its commands
# ("$ tdlc ..") print.
. "$srcdir/tests/lib.sh"

# blocks FILE: writes each ```tdl block of it to $tmp/FILE-LINE.tdl
blocks() {
	awk -v to="$tmp/$(basename "$1")" '
		/^```tdl$/ { out = to "-" NR ".tdl"; next }
		/^```$/ { out = ""; next }
		out { print > out }' "$1"
}

for doc in "$srcdir"/docs/*.md "$srcdir"/README.md "$srcdir"/CONTRIBUTING.md
do
	blocks "$doc"
done

n=0
for block in "$tmp"/*.tdl; do
	expect 0 "$TDLC" check "$block"
	n=$((n + 1))
done
[ "$n" -ge 6 ] || fail "only $n blocks of TDL found"
echo "$n blocks of TDL checked"

# transcript: runs the commands of a transcript and prints it anew.
transcript() {
	sed -n 's/^\$ //p' | while read -r line; do
		echo "\$ $line"
		(cd "$srcdir" && eval "$line") 2>&1
	done
}
tdlc() { "$TDLC" "$@"; }

for doc in "$srcdir"/docs/*.md "$srcdir"/README.md; do
	sed -n '/^```console$/,/^```$/{/^```/!p;}' "$doc" >"$tmp/shown"
	transcript <"$tmp/shown" >"$tmp/printed"
	diff -u --label "$doc" --label printed "$tmp/shown" "$tmp/printed" ||
		fail "$doc shows something else"
done
grep -q '^\$ tdlc' "$tmp/shown" || fail "the README has no example"
[ "$nfailed" -eq 0 ]
