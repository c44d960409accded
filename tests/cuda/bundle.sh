#!/bin/sh
# Tests: runtime/cuda
# The archive of `make gpu-bundle' on a machine with only a shell, the shell's C
# library and the fake libraries: run-gpu does its points there and reports
# them; without a GPU it says so for each, and it goes on after one that fails.
# Such a machine is a folder that chroot makes the root.
. "${srcdir:-.}/tests/cuda/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip 'the bundle is tested on x86-64'
[ -z "${SANITIZE-}" ] || [ "$SANITIZE" = no ] ||
	skip 'the fake libraries go with no sanitizer'
PATH=$PATH:/usr/sbin:/sbin
enter=$(command -v chroot) || skip 'there is no chroot'
if ! $enter / true 2>/dev/null; then
	enter="$(command -v unshare) -r $enter"
	$enter / true 2>/dev/null || skip 'chroot is not permitted'
fi
make -s gpu-bundle >"$tmp/make" 2>&1 || {
	cat "$tmp/make"
	fail 'make gpu-bundle'
	finish
}

root=$tmp/root
mkdir -p "$root/bin" "$root/dev/shm" "$root/cache" "$root/fakes" "$root/tmp"
chmod 700 "$root/cache"
: >"$root/dev/null"

# bring FOLDER FILE: copies a program or library, under its name, into a folder
bring() {
	mkdir -p "$root$1"
	cp -L "$2" "$root$1/"
}

# needs FILE: the paths of the libraries that it is linked with.
needs() {
	ldd "$1" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p
		s/^[ \t]*\(\/[^ ]*\) (.*/\1/p'
}
bring /bin "$(command -v dash || command -v sh)"
[ -f "$root/bin/sh" ] || mv "$root/bin/dash" "$root/bin/sh"
for file in $(needs "$root/bin/sh"); do
	bring "$(dirname "$file")" "$file"
done
for file in "$fakes"/lib*.so.*; do
	bring /fakes "$file"
done
bundle=$(echo tdlc-*-gpu.tar.gz)
tar -xzf "$bundle" -C "$root"
bundle=/${bundle%.tar.gz}
plans='one-1 mlp-2'

# report NAME: checks the report of a run; has PATTERN: a line of that report
report() {
	file=$root/$1/report.txt
	"${PYTHON:-python3}" -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["done"] + r["failed"] + r["skipped"] == len(r["points"]) > 0
assert all(p["state"] == "done" or p["reason"] for p in r["points"])' \
		"$root/$1/report.json" || fail "$1/report.json"
}
has() {
	grep -q -- "$1" "$file" || {
		fail "the report has no '$1'"
		cat "$file"
	}
}

# The fake NVRTC compiles outside; its cache serves the runs inside.
compilers=$(dirname "$(command -v "${CXX:-c++}")"):/usr/bin:/bin
expect 0 env -i PATH="$compilers" LD_LIBRARY_PATH="$fakes" SAMPLE=400 \
	TDL_CACHE="$root/cache" TDL_KILL=1 "$root$bundle/run-gpu" --small \
	--plans "$plans" --out "$root/outside"
report outside
has '^[1-9][0-9]* done, 0 failed'
has '^skipped  2  compute-sanitizer'

# The bundle has its own C library, without all that ours needs.  The machine
# has no C++ library; the fake ones need one.
for file in $(needs "$root/fakes/libcublasLt.so.13" &&
	needs "$(find "$root/cache" -name kernels.cubin | head -n 1)"); do
	case $file in
	*/libstdc++.so.* | */libgcc_s.so.*) bring /fakes "$file" ;;
	esac
done
# inside NAME=VALUE FOLDER [ARGUMENT]: run-gpu, in the folder that is the root
inside() {
	# shellcheck disable=SC2086 # words
	env -i $1 SAMPLE=400 TDL_CACHE=/cache TDL_KILL=1 PATH=/bin $enter \
		"$root" "$bundle/run-gpu" --small --plans "$plans" \
		--out "$2" ${3-}
}
expect 0 inside LD_LIBRARY_PATH=/fakes /inside
report inside
has '^[1-9][0-9]* done, 0 failed'
has '^done     1  one-1: they are the same'
has '^done     1  mlp-2, without a graph'
has '^done     2  operators against the interpreter'
has '^done     2  mlp-2, 2 processes'
has '^done     2  mlp-2, a process that is killed'
has '^done     3  mlp-bf16: measured'
has '^skipped  3  beside PyTorch'

# No driver, no GPU: nothing has failed.
expect 0 inside NONE=1 /none 1
report none
has 'there is no library libcuda.so.1'

has '^0 done, 0 failed, [1-9]'

# A point that fails is reported, and the others are run.
expect 1 inside 'LD_LIBRARY_PATH=/fakes FAKE_CUDA_FAIL=cuModuleLoadData:1:201' \
	/failing 1
report failing
has '^failed   1  one-1, kernels generated'
has 'cuModuleLoadData'
has '^failed   1  mlp-2, without a graph'
has '^done     1  mlp-2: by the interpreter'

# A machine whose own C library has everything: tdlrun uses that.
for file in $(needs "$root$bundle/bin/tdlrun"); do
	case $file in
	*/libc.so.* | */libm.so.* | */ld-*)
		bring "$(dirname "$file")" "$file" ;;
	esac
done
mv "$root$bundle/libc/libc.so.6" "$root$bundle/libc/moved"
expect 0 env -i $enter "$root" "$bundle/tdlrun" --version
prints tdlrun
mv "$root$bundle/libc/moved" "$root$bundle/libc/libc.so.6"
expect 0 env -i TDL_BUNDLE_LIBC=own $enter "$root" "$bundle/tdlc" --version
prints tdlc
rm -rf tdlc-*-gpu.tar.gz
finish
