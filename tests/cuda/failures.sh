#!/bin/sh
# Tests: runtime/cuda runtime/comm
# --backend cuda --comm nccl on fake libraries, and processes that fail: all
# end, and what is said is what has happened.
. "${srcdir:-.}/tests/cuda/lib.sh"
"${PYTHON:-python3}" -c 'import numpy' 2>/dev/null || skip 'there is no numpy'

plan mlp 2 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=2 --train \
	--optimizer adamw
plan gpt2 4 gpt2 -D layers=1 -D heads=2 -D width=16 -D tokens=9 -D batch=4 \
	-D vocabulary=50 --train --optimizer adamw

# told PATTERN: by any rank; where they meet the same thing that is whoever
# comes first.
told() {
	grep -q -- "$1" "$tmp/err" "$tmp"/err-* || {
		fail "no rank says '$1'"
		head -n 5 "$tmp/err" "$tmp"/err-*
	}
}

# NCCL takes memory at the first collective, but once for all groups.
export FAKE_NCCL_BUFFERS=900 FAKE_CUDA_MEMORY=500
expect 4 ranks 2 "$tmp/mlp-2.plan"
told 'GPU 0 has [0-9]* bytes of memory free, NCCL may need'
export FAKE_CUDA_MEMORY=2000
expect 0 ranks 4 "$tmp/gpt2-4.plan"
unset FAKE_NCCL_BUFFERS FAKE_CUDA_MEMORY

# failing SETTING: both ranks, with that in their environment
failing() {
	export "${1?}"
	expect 4 ranks 2 "$tmp/mlp-2.plan" --steps 30
	unset "${1%%=*}"
}
limit=60 patience=2

# Another plan is noticed before the first step.
plan other 2 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=2 --train \
	--optimizer adamw,lr=0.5
mkdir "$tmp/meet"
rank 1 2 "$tmp/other-2.plan" --steps 3 >"$tmp/out-1" 2>&1 &
expect 1 rank 0 2 "$tmp/mlp-2.plan" --steps 3
says 'rank 1 has another plan'
got=0
wait $! || got=$?
[ "$got" -eq 1 ] || fail "rank 1 ends with status $got, not 1"
rm -rf "$tmp/meet"

failing FAKE_NCCL_FAIL=transfer:3
told 'in step 1, after instruction'
# The first transfer of step 3.
export FAKE_CUDA_LOG="$tmp/log"
expect 0 ranks 2 "$tmp/mlp-2.plan"
unset FAKE_CUDA_LOG
failing FAKE_NCCL_FAIL=transfer:$(($(grep -c ': nccl' "$tmp/log") + 1))
told 'in step 3, before its first transfer'
failing FAKE_NCCL_FAIL=ncclCommInitRank:1:2
told 'nccl'
failing FAKE_CUDA_FAIL=kernel:9:700
told 'illegal memory access'
# In a step that is replayed.
failing FAKE_CUDA_FAIL=kernel:150:700
told 'a step that was replayed: .*illegal memory access'

# Of several communicators that are given up one has work that does not end.
for nth in 1 2 3 4; do
	odd="FAKE_NCCL_FAIL=transfer:$nth FAKE_CUDA_FAIL=cuStreamQuery:400:719"
	expect 4 ranks 4 "$tmp/gpt2-4.plan"
	told 'cuStreamQuery'
done
odd=

# Rank 1 reports a fault that it alone finds in its part of an input, though it
# does not lead, and ends the others.
plan parallel 2 gpt2 -D layers=1 -D heads=2 -D width=16 -D tokens=9 \
	-D batch=4 -D vocabulary=50 --train --algorithm data-parallel
expect 0 "${PYTHON:-python3}" - "$tmp/ids.npz" <<'END'
import sys
import numpy as np
ids = np.zeros((4, 9), np.int64)
ids[3, 5] = 70
np.savez(sys.argv[1], ids=ids, label=np.zeros((4, 9), np.int64))
END
expect 1 ranks 2 "$tmp/parallel-2.plan" --inputs "$tmp/ids.npz" --steps 3
told 'is read at index 70'
finish
