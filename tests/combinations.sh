#!/bin/sh
# Tests: runtime
# tdlrun alone, built with each combination of what it can do without, CUDA's
# headers being those of tests/cuda/include: it builds without a warning, and
# says what it was built without, or what the machine lacks.
. "${srcdir:-.}/tests/lib.sh"

here=$(cd "${srcdir:-.}" && pwd)
[ -x "$here/configure" ] || skip 'there is no configure'
stubs=$here/tests/cuda
every=${SAMPLE:-1}
[ "$every" -le 4 ] || every=4	# combinations
expect 0 "$TDLC" plan "$here/examples/models/mlp.tdl" -k 2 -D batch=4 \
	-D inputs=8 -D width=8 -D depth=2 -o "$tmp/mlp.plan"

# builds NAME OPTION...: a tdlrun in $tmp/NAME; fails where it is not in the
# sample: every SAMPLEth, from number SAMPLE_FROM on.
nbuilds=0
builds() {
	nbuilds=$((nbuilds + 1))
	[ $(((nbuilds + ${SAMPLE_FROM:-0}) % every)) -eq 0 ] || return
	mkdir "$tmp/$1"
	cd "$tmp/$1" || exit 1
	shift
	expect 0 "$here/configure" -q --cache-file="$tmp/cache" \
		--disable-tdlc --enable-werror CC="$CC" CFLAGS=-O0 "$@"
	cp "$tmp/out" summary
	expect 0 make -s -j2 tdlrun
	cd "$OLDPWD" || exit 1
}

# refuses PATTERN OPTION...: configure ends with an error
refuses() {
	pattern=$1
	shift
	mkdir -p "$tmp/refused"
	cd "$tmp/refused" || exit 1
	expect 1 "$here/configure" -q --cache-file="$tmp/cache" \
		--disable-tdlc CC="$CC" CFLAGS=-O0 "$@"
	cd "$OLDPWD" || exit 1
	says "$pattern"
}

# runs NAME STATUS PATTERN OPTION...
runs() {
	name=$1 status=$2 pattern=$3
	shift 3
	expect "$status" "$tmp/$name/tdlrun" "$tmp/mlp.plan" "$@"
	if [ "$status" -eq 0 ]; then prints "$pattern"; else says "$pattern"; fi
}

# lacks LIBRARY: whether the loader does not find it
lacks() {
	! "${PYTHON:-python3}" -c "import ctypes; ctypes.CDLL('$1')" 2>/dev/null
}

# Nothing runs what is built for another machine.
mkdir "$tmp/cross"
cd "$tmp/cross" || exit 1
expect 0 "$here/configure" -q --build=x86_64-linux-gnu \
	--host=i686-tdl-linux-gnu --cache-file="$tmp/cross.cache" CC="$CC" \
	CFLAGS=-O0 PKG_CONFIG="$(command -v pkg-config)" --without-mpi \
	--without-cuda
expect 0 make -n all
grep -E '(^|[;&|] *|")\./tdl(c|run)' "$tmp/out" &&
	fail 'a program for another machine would be run'
cd "$OLDPWD" || exit 1

if builds none --without-mpi --without-cuda --without-onednn; then
	runs none 0 'verified' --verify
	runs none 4 'oneDNN.* is not built in' --kernels library
	runs none 4 "'cuda' is not built in; use --backend cpu" --backend cuda
	runs none 4 "'mpi' is not built in" --comm mpi
fi
if builds cuda --without-mpi --without-onednn --with-cuda="$stubs" \
	--without-nccl --without-cudnn
then
	runs cuda 0 'verified' --verify
	runs cuda 4 "'nccl' is not built in" --backend cuda --comm nccl
	runs cuda 2 'goes with' --backend cuda --kernels interpreter
	if lacks libcuda.so.1; then
		runs cuda 4 'there is no library libcuda.so.1' --backend cuda
	fi
fi
if builds nccl --without-mpi --with-cuda="$stubs" --with-nccl --without-cudnn
then
	runs nccl 2 'nccl' --backend cpu --comm nccl
	runs nccl 4 'with --rendezvous' --backend cuda --comm nccl
fi
if builds all --with-cuda="$stubs" --with-nccl --with-cudnn; then
	runs all 0 'verified' --verify
	runs all 2 'mpi' --backend cuda --comm mpi
	if lacks libcuda.so.1; then
		runs all 4 'there is no library libcuda.so.1' --backend cuda
	fi
fi

refuses 'no headers for --with-cuda' --with-cuda="$tmp/nowhere"
refuses 'goes with CUDA' --without-cuda --with-nccl
refuses 'goes with CUDA' --without-cuda --with-cudnn
finish
