#!/bin/sh
# Tests: libtdl compiler/driver
# libtdl beside tdlc: the same JSON of both; and the names that the library
# exports, with their types, beside the list of those that programs rely on; and
# what tdlc uses besides it.
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

# So are the structures and enumerations, which a program is compiled with.
# shellcheck disable=SC2086
${CC:-cc} -E -P "$root/include/tdl/tdl.h" |
	sed -n -e '/^typedef [a-z]* tdl_[a-z]* {$/,/^}.*;/p' \
		-e '/^typedef struct tdl_[a-z]* tdl_[a-z]*;/p' \
		-e '/^typedef void tdl_/,/;/p' |
	grep '[A-Za-z]' | tr -s ' \t' '  ' >"$tmp/now"
list=$root/tests/library/types.txt
[ "${UPDATE-}" != 1 ] || cp "$tmp/now" "$list"
[ "$(wc -l <"$list")" -gt 40 ] || fail 'the list of types is short'
diff "$list" "$tmp/now" >"$tmp/diff" || {
	fail 'tdl.h has other types than tests/library/types.txt'
	cat "$tmp/diff"
}
nm -D --defined-only "$build/libtdl.so" | awk '$2 == "T" { print $3 }' |
	grep -v '@@TDL_0$' >"$tmp/unversioned" &&
	fail "without a version: $(cat "$tmp/unversioned")"

# Each is in the page about the library, and tried without memory, where it
# takes any.
takes_none='tdl_version tdl_context_new tdl_context_free tdl_context_set_quota
tdl_context_used tdl_context_peak tdl_context_set_progress
tdl_context_set_style tdl_cancel
tdl_diagnostics tdl_last_status tdl_text_free tdl_module_free tdl_model_free
tdl_plan_free tdl_placement_free tdl_run_free'
while read -r name; do
	grep -q "\`$name\`" "$root/docs/library-c.md" ||
		fail "$name is not in docs/library-c.md"
	case " $(echo $takes_none) " in
	*" $name "*) continue ;;
	esac
	grep -q "\"$name\"" "$root/tests/unit/library_calls.c" ||
		fail "$name is not tried by tests/unit/test_library_memory"
done <"$tmp/names"

# Settings of the process are those of the program.
nm -D --undefined-only "$build/libtdl.so" | awk '{ print $2 }' |
	sed 's/@.*//' >"$tmp/used"
for name in umask chdir fchdir setenv unsetenv putenv setlocale signal \
	sigaction pthread_sigmask srand strtok system fork \
	json_set_alloc_funcs; do
	! grep -qx "$name" "$tmp/used" || fail "the library calls $name()"
done

# ---- tdlc uses the library, and nothing else --------------------------------

# Of our own a command references functions of tdl.h and of these parts of base/
# (CONTRIBUTING.md says so); of others, the C library, and Jansson's values.
parts='arena cli diag diag_sarif file json spelling vec'
libc=$(${CC:-cc} -print-file-name=libc.so.6)
for part in $parts; do
	nm -g --defined-only "$build/base/libbase.a" 2>&1 |
		sed -n "/^$part\.o:/,/^\$/p"
done | awk 'NF == 3 { print $3 }' >"$tmp/may"
{
	cat "$tmp/names"
	nm -D --defined-only "$libc" | awk '{ print $3 }' | sed 's/@.*//'
} >>"$tmp/may"
for source in "$root"/compiler/driver/*.c; do
	object=$build/compiler/driver/$(basename "$source" .c).o
	[ -e "$object" ] || fail "$object was not built"
	nm -g --defined-only "$object" | awk '{ print $3 }' >>"$tmp/may"
	printf '%s\n' "$object"
done >"$tmp/objects"

# foreign OBJECT...: what they reference besides; __ is the compiler's.
foreign() {
	nm -u "$@" | awk 'NF == 2 { print $2 }' | sed 's/@.*//' |
		grep -v -e '^_' -e '^json_[a-z_]*$' | sort -u |
		grep -vxF -f "$tmp/may"
}

[ -e "$libc" ] || fail "there is no $libc"
[ "$(wc -l <"$tmp/objects")" -gt 15 ] || fail 'tdlc has few objects'
# shellcheck disable=SC2046
foreign $(cat "$tmp/objects") >"$tmp/foreign" &&
	fail "commands of tdlc use $(tr '\n' ' ' <"$tmp/foreign")"
for name in graph_canonical units_seconds inflate cos; do
	echo "double $name(double x);"
	echo "double f_$name(double x) { return $name(x); }"
done >"$tmp/planted.c"
# shellcheck disable=SC2086
expect 0 ${CC:-cc} -c "$tmp/planted.c" -o "$tmp/planted.o"
[ "$(foreign "$tmp/planted.o" | wc -l)" -eq 4 ] ||
	fail 'planted references are not all found'

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
	sed -e '/"search_seconds"/d' -e '/seconds_of_search/d' \
		-e '/^ *"seconds"/d' "$1"
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
"$TDLC" plan "$mlp" -k 4 --stages 2 --micro-batches 2 --train \
	-o "$tmp/staged.plan" >"$tmp/out"
for plan in 4 staged; do
	same simulate "$tmp/$plan.plan" -- simulate "$tmp/$plan.plan" --json
	for what in trace chart; do
		expect 0 "$tmp/ask" $what "$tmp/$plan.plan"
		sed '$ { /^$/d }' "$tmp/out" >"$tmp/library"
		expect 0 "$TDLC" simulate "$tmp/$plan.plan" \
			--trace "$tmp/trace" --diagram "$tmp/chart"
		cmp -s "$tmp/library" "$tmp/$what" || fail "another $what"
	done
done
same diff "$tmp/2.plan" "$tmp/4.plan" -- \
	diff "$tmp/2.plan" "$tmp/4.plan" --json
same coverage "$mlp" devices=4 -- coverage "$mlp" -k 4 --json
same costs "$mlp" -- show "$mlp" --costs
same compare "$mlp" devices=2 train -- compare "$mlp" -k 2 --train --json
same compare "$mlp" devices=4 algorithm=tofu algorithm=joint -- \
	compare "$mlp" -k 4 --algorithm tofu --algorithm joint --json
same score "$mlp" devices=2 pin=x=replicated algorithm=tofu -- \
	score "$mlp" -k 2 --pin x=replicated --algorithm tofu --json
same frontier "$mlp" devices=2 -- plan "$mlp" -k 2 --frontier --json
same reasons "$tmp/4.plan" x -- \
	explain --plan "$tmp/4.plan" --tensor x --json
same reasons "$tmp/4.plan" x algorithm=joint -- \
	explain --plan "$tmp/4.plan" --tensor x --algorithm joint --json

for format in shardy nnscaler jax; do
	same export "$conv" $format conv1d shape=data=8x16x34 \
		shape=filters=16x4x3 -- explain conv1d "$conv" \
		--format $format --shape data=8x16x34 --shape filters=16x4x3
done
same export "$conv" gradients - -- compile --gradients "$conv" -o -
for format in ast header json; do
	same export "$conv" $format - -- compile --emit=$format "$conv" -o -
done
for format in c cuda; do
	same export "$conv" $format conv1d shape=data=8x16x34 \
		shape=filters=16x4x3 -- compile --emit=$format "$conv" -o - \
		--shape data=8x16x34 --shape filters=16x4x3
done

costs=$root/tests/golden/place/parts/two.json
expect 0 "$TDLC" place "$costs" -k 2 -o "$tmp/placement.json"
same placed "$costs" devices=2 -- place "$costs" -k 2 --json
same placed "$mlp" devices=2 train algorithm=heft -- \
	place "$mlp" -k 2 --train --algorithm heft --json
same placed "$mlp" devices=2 algorithm=mcap frontier micro-batches=8 -- \
	place "$mlp" -k 2 --algorithm mcap --frontier --micro-batches 8 --json
same placed "$mlp" devices=2 algorithm=load -- \
	place "$mlp" -k 2 --algorithm load --json
layers=$root/tests/golden/place/parts/net.layers.json
same placed "$layers" algorithm=capture zero -- \
	place "$layers" --algorithm capture --zero --json
same placements "$costs" devices=2 -- compare "$costs" -k 2 --json
same judged "$costs" devices=2 placement="$tmp/placement.json" -- \
	score "$costs" -k 2 --placement "$tmp/placement.json" --json

expect 0 "$tmp/ask" cuda "$mlp" "$tmp/cuda.library" devices=2
expect 0 "$TDLC" plan "$mlp" -k 2 --emit-cuda "$tmp/cuda.command"
diff -r "$tmp/cuda.library" "$tmp/cuda.command" >"$tmp/diff" ||
	fail 'another program in CUDA'

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

# ---- how options are called -------------------------------------------------

# The library's messages have the names of options, those of tdlc what one has
# to write; both are of one table.
expect 1 "$tmp/ask" report "$mlp"
says 'devices is missing'
expect 2 "$TDLC" plan "$mlp"
says '-k N is missing'
expect 1 "$tmp/ask" report "$mlp" devices=2 memory=much
says 'ask: memory takes a number of bytes'
expect 1 "$tmp/ask" graph "$mlp" D=what=3
says "'what' for D"
expect 1 "$tmp/ask" graph "$mlp" train loss=nothing
says '^loss: '
expect 1 "$TDLC" show "$mlp" --train --loss nothing
says '^--loss: '

# No message but those of tdlc itself has an option written out.
(cd "$root" && grep -n '"\([^"]*[ (]\)*\(--[a-z]\|-[A-Zk] \)' \
	libtdl/*.c compiler/*/*.c dsl/*.c plan/*.c layout/*.c kernel/*.c |
	grep -v -e '^compiler/driver/' -e '^compiler/export/program' \
		-e '^compiler/solver/ilp_solve.c' \
		-e '^libtdl/describe_text.c' -e '^libtdl/emit_header.c' \
		-e '^compiler/verify/verify.c') >"$tmp/written" &&
	fail "messages with options: $(cat "$tmp/written")"
for word in $(sed -n 's/^OPTION("[^"]*", "[^"]*", "\(.*\)")$/\1/p' \
	"$root/base/options.def"); do
	for command in plan compare place score show compile; do
		"$TDLC" $command --help
	done >"$tmp/help"
	"$TDLC" score --placement x --help | cat "$tmp/help" - |
		grep -q -e "^ .*$word\>" || fail "no command has $word"
done

finish
