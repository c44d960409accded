#!/bin/sh
# Makes a library for the host of a text of CUDA kernels:
#
#	emulate.sh [-D..] [-I..] -o LIBRARY TEXT
#
# emulate.c says what it exports: emu_run() runs a kernel.  $CXX, $CC and
# $EMULATE_CXXFLAGS are used where they are set, and $EMULATE_ENGINE, what
# emulate.c was compiled to.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
flags= out= text= arch=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	-DEMU_ARCH=*) arch=${1#*=} ;;
	-*) flags="$flags $1" ;;
	*) text=$1 ;;
	esac
	shift
done
[ -n "$out" ] && [ -n "$text" ] || {
	echo "usage: $0 [-D..] [-I..] -o LIBRARY TEXT" >&2
	exit 2
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/emulate.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# Macros are expanded first, with __global__ and the like left as they are, so
# that the kernels' names and those of dynamic shared memory can be seen.
# shellcheck disable=SC2086
${CXX:-c++} -std=gnu++17 -nostdinc -nostdinc++ -E -x c++ \
	-include "$here/emulate.h" $flags "$text" >"$tmp/all.ii"
grep -v '^#' "$tmp/all.ii" | tr '\n\t' '  ' |
	sed 's/__attribute__ *((__[a-z]*__([0-9]*)))//g' >"$tmp/line"
names() {
	grep -o "$1" "$tmp/line" | sed 's/ *[[(].*//; s/.* //; s/\*//' |
		LC_ALL=C sort -u || :
}
kernels=$(names '__global__ *void *[A-Za-z_][A-Za-z_0-9]* *(')
dynamic=$(names 'extern *__shared__[^;[]*\[ *\]')

{
	sed 's/extern\([ \t]*\)__shared__/extern\1/g' "$tmp/all.ii"
	echo 'extern "C" __attribute__((visibility("hidden")))'
	echo 'const emu_kernel emu_table[] = {'
	for k in $kernels; do
		echo "emu_caller<decltype(&$k), $k>::row(\"$k\"),"
	done
	echo '{nullptr, 0, nullptr, nullptr}};'
	echo 'extern "C" __attribute__((visibility("default")))'
	echo "const int emu_arch = ${arch:-90};"
} >"$tmp/text.ii"

link=
for d in $dynamic; do
	link="$link -Wl,--defsym=$d=emu_dynamic"
done
# A product and a sum are not one operation unless the text says so, as on
# every executor, and what is not aligned is found.
common='-O1 -fPIC -march=native -ffp-contract=off -fvisibility=hidden
	-U_FORTIFY_SOURCE'
# shellcheck disable=SC2086
${CXX:-c++} -std=gnu++17 $common -fno-exceptions -fno-rtti -w \
	-fno-strict-aliasing -fsanitize=alignment \
	-fsanitize-undefined-trap-on-error \
	${EMULATE_CXXFLAGS:-} '-D__global__=' '-D__device__=' \
	'-D__constant__=' \
	'-D__shared__=static __attribute__((__section__("emu_shared")))' \
	-x c++ -c "$tmp/text.ii" -o "$tmp/text.o"
engine=${EMULATE_ENGINE:-$tmp/engine.o}
# shellcheck disable=SC2086
[ -n "${EMULATE_ENGINE-}" ] ||
	${CC:-cc} -std=gnu11 $common -c "$here/emulate.c" -o "$engine"
# shellcheck disable=SC2086
${CXX:-c++} -shared -o "$out" "$tmp/text.o" "$engine" $link -lm \
	-Wl,-z,start-stop-visibility=hidden
