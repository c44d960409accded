#!/bin/sh
# planted.sh [NAME...]: plants known faults in a copy of the sources, one after
# the other, and shows that the random agreement tests find each.
#
# tests/random/planted/NAME.patch is a fault: after "finds:" the test that has
# to find it, then a patch.  `operators`, `facts` and `gradients` end at the
# first case that differs, whose number is printed; a name in tests/unit is a
# suite that has to fail.  Without names all are planted.  The exit status is 1
# where a fault is not found, or no longer fits the sources.
#
# It runs in a build folder, `make check-planted`, and takes its compiler; the
# copy is built at -O1 in $TDL_PLANTED, or a folder that is removed again.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
work=${TDL_PLANTED:-$(mktemp -d)}
[ -n "${TDL_PLANTED:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/source" "$work/build"

stop() {
	echo "planted.sh: $*" >&2
	exit 1
}

# The sources, without what is built and kept beside them.  Files that are the
# same stay, with their times.
copy() {
	(cd "$srcdir" && find . \( -name .git -o -name build -o -name .venv \
		-o -name autom4te.cache \
		-o -name 'build-*' ! -name build-aux \) \
		-prune -o -type f -print) |
		while read -r f; do
			cmp -s "$srcdir/$f" "$work/source/$f" && continue
			mkdir -p "$work/source/${f%/*}"
			cp "$srcdir/$f" "$work/source/$f"
		done
	[ -f "$work/source/configure" ] ||
		(cd "$work/source" && autoreconf -fi >/dev/null 2>&1)
}

configure() {
	(cd "$work/build" && "$work/source/configure" -q ${CC:+CC="$CC"} \
		CFLAGS='-O1 -w' --without-mpi --without-cuda) \
		>"$work/log" 2>&1 || stop "configure fails, see $work/log"
}

# build PROGRAM
build() {
	make -C "$work/build" "$1" >"$work/log" 2>&1
}

# The program that a test begins with, and how it is run.
program() {
	case $1 in
	operators | facts | gradients) echo "tests/random/$1" ;;
	*) echo "tests/unit/$1" ;;
	esac
}

run() {	# TEST OPTION...
	case $1 in
	operators | facts | gradients) set -- "$@" --first ;;
	esac
	(
		cd "$work/build" || exit 0
		program=$(program "$1")
		shift
		unset TDL_OPDEFS # the library's gradients are not asked for
		srcdir=$work/source TDLC=$work/build/tdlc \
			timeout -s KILL 900 "./$program" "$@"
	) >"$work/out" 2>&1
}

# The number of cases that it took, or the first failed check.
found() {
	n=$(sed -n 's/^operator \([0-9]*\)[ :].*/\1/p' "$work/out" | head -n 1)
	if [ -n "$n" ]; then
		echo "$((n + 1)) cases:" "$(sed -n \
			's/^operator [^:]*: //p' "$work/out" | head -n 1)"
	else
		grep -m 1 -E ':[FE]:|Assert|seed' "$work/out" | cut -c1-110
	fi
}

failed=0

# not NAME WHY
not() {
	echo "$1: $2"
	failed=1
}

try() {	# NAME PATCH TEST OPTION...
	name=$1
	patch=$2
	shift 2
	(cd "$work/source" && patch -p1 -s -f --dry-run <"$patch" &&
		patch -p1 -s -f <"$patch") >"$work/log" 2>&1 || {
		not "$name" "STALE, the sources are others"
		return
	}
	if ! build "$(program "$1")"; then
		not "$name" "DOES NOT BUILD, see the end of $work/log"
	else
		status=0
		run "$@" || status=$?
		case $status in
		0) not "$name" "NOT FOUND by $*" ;;
		1) echo "$name: found by $1, $(found)" ;;
		*) not "$name" "$1 ends with status $status" ;;
		esac
	fi
	(cd "$work/source" && patch -R -p1 -s -f <"$patch") ||
		stop "$name stays"
}

copy
[ -f "$work/build/config.status" ] || configure
build generated || stop "the sources do not build, see $work/log"
[ $# -gt 0 ] || for p in "$srcdir"/tests/random/planted/*.patch; do
	set -- "$@" "$(basename "$p" .patch)"
done
for p; do
	patch=$srcdir/tests/random/planted/$p.patch
	# shellcheck disable=SC2046
	try "$p" "$patch" $(sed -n 's/^finds: //p' "$patch")
done
exit "$failed"
