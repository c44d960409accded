#!/bin/sh
# Tests: libtdl compiler/driver
# libtdl beside tdlc: the same JSON of both; and the names that the library
# exports, with their types, beside the list of those that programs rely on.
#
#	UPDATE=1 library.sh	accepts functions that are new; one that is
#				gone, or that changes, needs a new soname
set -u
. "${srcdir:-.}/tests/lib.sh"
root=$(cd "${srcdir:-.}" && pwd)
build=$(dirname "$TDLC")
[ -e "$build/libtdl.so" ] || skip 'no libtdl.so'

# ---- the names and types of functions ---------------------------------------

# The declarations of tdl.h, a line each, with all spaces equal.
declared() {
	# shellcheck disable=SC2086
	${CC:-cc} -E -P "$root/include/tdl/tdl.h" |
		tr '\n' ' ' | tr ';' '\n' | grep 'tdl_[a-z_]*(' |
		sed -e 's/__attribute__ *(([^;]*default"*)))//' |
		tr -s ' \t' '  ' | sed -e 's/^ //' -e 's/ $//' |
		grep -v typedef | LC_ALL=C sort
}

declared >"$tmp/now"
list=$root/tests/library/functions.txt
[ "${UPDATE-}" != 1 ] || cp "$tmp/now" "$list"
[ "$(wc -l <"$list")" -gt 30 ] || fail 'the list of functions is short'
diff "$list" "$tmp/now" >"$tmp/diff" || {
	fail 'tdl.h has other functions than tests/library/functions.txt'
	cat "$tmp/diff"
}
grep -o 'tdl_[a-z_]*(' "$list" | tr -d '(' | LC_ALL=C sort >"$tmp/names"
nm -D --defined-only "$build/libtdl.so" | awk '$2 == "T" { print $3 }' |
	sed 's/@.*//' | LC_ALL=C sort >"$tmp/shared"
nm -g --defined-only "$build/libtdl.a" | awk 'NF == 3 { print $3 }' |
	grep -v '^__' | LC_ALL=C sort >"$tmp/static"
for kind in shared static; do
	diff "$tmp/names" "$tmp/$kind" >"$tmp/diff" || {
		fail "the $kind library has other symbols than tdl.h"
		cat "$tmp/diff"
	}
done

# Settings of the process are those of the program.
nm -D --undefined-only "$build/libtdl.so" | awk '{ print $2 }' |
	sed 's/@.*//' >"$tmp/used"
for name in umask chdir fchdir setenv unsetenv putenv setlocale signal \
	sigaction pthread_sigmask srand strtok system fork \
	json_set_alloc_funcs; do
	! grep -qx "$name" "$tmp/used" || fail "the library calls $name()"
done

# ---- the same as tdlc -------------------------------------------------------

case ${SANITIZE-} in
yes) flags='-fsanitize=address,undefined' ;;
*) flags= ;;
esac
# shellcheck disable=SC2086
expect 0 ${CC:-cc} $flags -Wall -Wextra -Werror -I"$root/include" \
	"$root/tests/library/ask.c" -o "$tmp/ask" -L"$build" -ltdl \
	-Wl,-rpath,"$build"

# The time that a search took is another each time.
plain() {
	sed -e '/"search_seconds"/d' -e '/seconds_of_search/d' "$1"
}

# same ASK... -- TDLC...: both say the same
same() {
	asked=
	while [ "$1" != -- ]; do
		asked="$asked $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	expect 0 "$tmp/ask" $asked
	plain "$tmp/out" >"$tmp/library"
	expect 0 "$TDLC" "$@"
	plain "$tmp/out" >"$tmp/command"
	[ -s "$tmp/command" ] || fail "nothing from tdlc $*"
	diff "$tmp/library" "$tmp/command" >"$tmp/diff" || {
		fail "ask$asked is not tdlc $*"
		head -n 20 "$tmp/diff"
	}
}

conv=$root/examples/conv1d.tdl
mlp=$root/examples/models/mlp.tdl
same operators -- ops --json
same describe "$conv" -- compile --emit=json "$conv" -o -
same explain "$conv" conv1d -- explain conv1d "$conv" --json
same explain "$conv" conv1d devices=3 -- explain conv1d "$conv" -k 3 --json
same verify "$conv" -- verify "$conv" --json
same graph "$mlp" -- show "$mlp" --json
same graph "$mlp" train D=depth=2 -- show "$mlp" --train -D depth=2 --json
for algorithm in tofu joint data-parallel; do
	same report "$mlp" devices=4 algorithm=$algorithm train -- \
		plan "$mlp" -k 4 --algorithm $algorithm --train --json
done
for k in 2 4; do
	expect 0 "$TDLC" plan "$mlp" -k $k -o "$tmp/$k.plan"
	same layout "$mlp" devices=$k -- show "$tmp/$k.plan" --json
	"$tmp/ask" text "$mlp" devices=$k >"$tmp/$k.text"
	sed -i '$ { /^$/d }' "$tmp/$k.text"
	cmp -s "$tmp/$k.text" "$tmp/$k.plan" || fail "another plan for $k"
done
same diff "$tmp/2.plan" "$tmp/4.plan" -- \
	diff "$tmp/2.plan" "$tmp/4.plan" --json

# A program may have a locale whose numbers have a comma.
if localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" >"$tmp/locale" 2>&1; then
	LOCPATH=$tmp ASK_LOCALE=de_DE.UTF-8
	export LOCPATH ASK_LOCALE
	same graph "$mlp" train clip-norm=0.5 -- \
		show "$mlp" --train --clip-norm 0.5 --json
	"$tmp/ask" text "$mlp" devices=2 train clip-norm=0.5 >"$tmp/text"
	unset LOCPATH ASK_LOCALE
	"$tmp/ask" text "$mlp" devices=2 train clip-norm=0.5 |
		cmp -s - "$tmp/text" || fail 'another plan in that locale'
fi

expect 1 "$tmp/ask" graph nowhere.tdl
says 'cannot-read'

finish
