# Sourced by the tests of --backend cuda on the fake libraries: $plans, a folder
# for plans, and functions that make and run them.
# shellcheck shell=sh disable=SC2154
. "${srcdir:-.}/tests/lib.sh"

here=$(cd "${srcdir:-.}" && pwd)
fakes=$(pwd)/tests/cuda/fake
[ -f "$fakes/libcuda.so.1" ] || skip 'the fake libraries were not built'
# shellcheck disable=SC2086 # words
command -v ${CXX:-c++} >/dev/null || skip 'there is no C++ compiler'
LD_LIBRARY_PATH=$fakes${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
# Compilers that the fake NVRTC starts keep what they make there as well.
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME

# Whether the next of some cases has its turn: every SAMPLEth, at least one of
# seven, from number SAMPLE_FROM on.
every=${SAMPLE:-1} ncases=0
[ "$every" -le 7 ] || every=7
turn() {
	ncases=$((ncases + 1))
	[ $(((ncases + ${SAMPLE_FROM:-0}) % every)) -eq 0 ]
}

# plan NAME K MODEL ARGUMENT...: $tmp/NAME-K.plan
plan() {
	name=$1 k=$2 model=$3
	shift 3
	expect 0 "$TDLC" plan "$here/examples/models/$model.tdl" -k "$k" \
		-o "$tmp/$name-$k.plan" "$@"
}

# merged NAME K ARGUMENT...: a plan of two products, the first an output whose
# parts are combined, stored, and gathered for the second
merged() {
	name=$1 k=$2
	shift 2
	cat >"$tmp/merged.tdl" <<'END'
import "linear.tdl"
model merged(batch = 8, n = 12) {
    input x[batch, n]
    param w[n, n]
    param v[n, n]
    y = matmul(x, w)
    z = matmul(y, v)
    output y, z
}
END
	expect 0 "$TDLC" plan "$tmp/merged.tdl" -k "$k" --pin 'y=by k' \
		--pin 'z=by j' -o "$tmp/$name-$k.plan" "$@"
}

cuda() {
	timeout 120 "$TDLRUN" "$@" --backend cuda
}

# Checks the output that every verified run has.
verified() {
	before=$nfailed
	prints 'communication .*, as planned'
	prints 'memory .*, as planned'
	prints ' verified '
	[ "$nfailed" -eq "$before" ] || cat "$tmp/out"
}

# near A.npz B.npz: the arrays are the same but for rounding.
near() {
	"${PYTHON:-python3}" - "$@" <<'END'
import sys
import numpy as np
a, b = np.load(sys.argv[1]), np.load(sys.argv[2])
assert a.files and sorted(a.files) == sorted(b.files)
for name in a.files:
    x, y = (np.asarray(z[name], np.float64) for z in (a, b))
    assert x.shape == y.shape
    error = np.linalg.norm(x - y)
    # Values that should be 0, as some gradients, are noise.
    noise = 1e-6 * np.sqrt(x.size)
    assert error <= 1e-4 * np.linalg.norm(y) + noise, f"{name}: {error:.2g}"
END
}

# rank R N PLAN ARGUMENT...; $odd: what rank 1 alone has in its environment
rank() {
	r=$1 n=$2 set=NCCL_HOSTID=host-$1
	shift 2
	[ "$r" != 1 ] || set="$set $odd"
	# shellcheck disable=SC2086 # words
	env $set FAKE_CUDA_SEED=$((seed + r)) timeout "$limit" \
		"$TDLRUN" "$@" --backend cuda --comm nccl \
		--rendezvous "$tmp/meet" --rank "$r" --ranks "$n" \
		--timeout "$patience"
}

# ranks N PLAN ARGUMENT...: the greatest status of all; what rank 0 says.
ranks() {
	mkdir "$tmp/meet"
	rm -f "$tmp"/err-*
	pids=
	for r in $(seq 1 $(($1 - 1))); do
		rank "$r" "$@" >"$tmp/out-$r" 2>"$tmp/err-$r" &
		pids="$pids $!"
	done
	greatest=0
	rank 0 "$@" || greatest=$?
	for p in $pids; do
		got=0
		wait "$p" || got=$?
		[ "$got" -le "$greatest" ] || greatest=$got
	done
	rm -rf "$tmp/meet"
	return "$greatest"
}
seed=1 limit=120 patience=60 odd= # the executor may be busy
