# Sourced by the test scripts: expectations that are reported and counted.
# shellcheck shell=sh disable=SC2034
set -u

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nfailed=0

fail() {
	echo "FAIL: $*"
	nfailed=$((nfailed + 1))
}

skip() {
	echo "SKIP: $*"
	exit 77
}

# expect STATUS COMMAND...: runs it; its output is in $tmp/out and $tmp/err.
expect() {
	want=$1
	shift
	got=0
	"$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	[ "$got" -eq "$want" ] || {
		fail "status $got, not $want: $*"
		head -n 5 "$tmp/err"
	}
}

# says PATTERN, prints PATTERN: standard error or output of the last command.
says() {
	grep -q -- "$1" "$tmp/err" || {
		fail "standard error has no '$1'"
		head -n 5 "$tmp/err"
	}
}

prints() {
	grep -q -- "$1" "$tmp/out" || {
		fail "standard output has no '$1'"
		head -n 5 "$tmp/out"
	}
}

silent() {	# out or err
	[ ! -s "$tmp/$1" ] || {
		fail "something in standard $1"
		head -n 5 "$tmp/$1"
	}
}

# page_table PAGE HEAD ROWS: the table of a document whose first line begins
# with HEAD has the rows in the file ROWS; UPDATE=1 writes them.
page_table() {
	awk -v head="$2" -v rows="$3" '
		index($0, head) == 1 { inside = 1; print; next }
		inside && /^\| / { next }
		inside && !/^\|/ {
			while ((getline line <rows) > 0)
				print line
			inside = 0
		}
		{ print }' "$1" >"$tmp/page"
	if [ -n "${UPDATE-}" ]; then
		cp "$tmp/page" "$1"
	else
		diff -u "$1" "$tmp/page" || fail "$1 has another table"
	fi
}

finish() {
	[ "$nfailed" -eq 0 ] || exit 1
	exit 0
}
