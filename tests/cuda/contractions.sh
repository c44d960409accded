#!/bin/sh
# Tests: runtime/cuda
# Random contractions, computed with the fake cuBLASLt on one worker and in
# parts by a plan for four, against the interpreter.
. "${srcdir:-.}/tests/cuda/lib.sh"
"${PYTHON:-python3}" -c 'import numpy' 2>/dev/null || skip 'there is no numpy'

# like A.npz B.npz: the arrays are equal up to rounding in their types.
like() {
	"${PYTHON:-python3}" - "$@" <<'END'
import sys
import numpy as np


def floats(x):
    """As f64, and the tolerance; NumPy has no type for bf16."""
    if x.dtype.kind == "f":
        return x.astype(np.float64), 1e-5 if x.dtype.itemsize > 2 else 2e-3
    wide = x.view(np.uint16).astype(np.uint32) << 16
    return wide.view(np.float32).astype(np.float64), 1e-2


a, b = np.load(sys.argv[1]), np.load(sys.argv[2])
assert a.files and sorted(a.files) == sorted(b.files)
for name in a.files:
    (x, allowed), (y, _) = floats(a[name]), floats(b[name])
    assert x.shape == y.shape
    error = np.linalg.norm(x - y)
    assert error <= allowed * np.linalg.norm(y), f"{name}: {error:.2g}"
END
}

for seed in 3; do
	"${PYTHON:-python3}" "$here/tests/cuda/drawn.py" $seed 14 \
		>"$tmp/model.tdl"
	for k in 1 4; do
		export FAKE_CUDA_SEED=$seed FAKE_CUDA_LOG="$tmp/log"
		rm -f "$tmp/log"
		expect 0 "$TDLC" plan "$tmp/model.tdl" -k $k -o "$tmp/plan"
		expect 0 "$TDLRUN" "$tmp/plan" --kernels interpreter \
			--outputs "$tmp/cpu.npz"
		expect 0 cuda "$tmp/plan" --steps 3 --kernels library \
			--verify --outputs "$tmp/cuda.npz"
		verified
		prints 'copies .*, as planned'
		expect 0 like "$tmp/cuda.npz" "$tmp/cpu.npz"
		for done in matmul tdl_copy; do
			grep -q $done "$tmp/log" ||
				fail "seed $seed: the log has no $done"
		done
	done
done

# ---- a limit of memory -------------------------------------------------------

# bytes MEMBER: of the plan that was printed as JSON
bytes() {
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$tmp/out"
}

# Copies take what the arena leaves: else sums or generated kernels do without.
expect 0 "$TDLC" plan "$tmp/model.tdl" -k 1 --json
arena=$(bytes peak_bytes_per_device) all=$(bytes copies_bytes_per_gpu)
[ "$all" -gt 0 ] || fail 'there are no copies'
for room in "$all" $((all - 1)) $((all / 2)) 0; do
	limit=$((arena + room))
	expect 0 "$TDLC" plan "$tmp/model.tdl" -k 1 --memory $limit --json
	copies=$(bytes copies_bytes_per_gpu)
	[ $(($(bytes peak_bytes_per_device) + copies)) -le $limit ] ||
		fail "more than $limit bytes"
	[ "$room" -eq "$all" ] || [ "$copies" -lt "$all" ] ||
		fail "$copies bytes of copies do not fit"
	expect 0 "$TDLC" plan "$tmp/model.tdl" -k 1 --memory $limit \
		-o "$tmp/plan"
	[ "$copies" -eq 0 ] || prints 'copies .* more per GPU'
	expect 0 cuda "$tmp/plan" --steps 2 --kernels library --verify
	verified
	[ "$copies" -eq 0 ] || prints 'copies .*, as planned'
done
finish
