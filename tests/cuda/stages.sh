#!/bin/sh
# Tests: runtime/cuda runtime/comm
# Plans of several stages on fake GPUs, in one process and as ranks of NCCL: the
# bits are those of threads, in whatever order the GPUs work; an event that is
# missing changes them; whoever fails is named.
. "${srcdir:-.}/tests/cuda/lib.sh"
"${PYTHON:-python3}" -c 'import numpy' 2>/dev/null || skip 'there is no numpy'
[ -x tests/cuda/pipelines ] || skip 'there is no program that makes plans'

# staged SEED SCHEDULE: $tmp/staged.plan, for $workers, and its inputs, whole
# numbers, of which all sums are exact; what threads make of them.
staged() {
	workers=$(tests/cuda/pipelines "$1" "$2" "$tmp/staged.plan") ||
		fail "there is no plan $1 $2"
	expect 0 "${PYTHON:-python3}" - "$tmp/staged.plan" "$tmp/in.npz" <<'END'
import json, sys
import numpy as np
plan = json.load(open(sys.argv[1]))
inputs = {}
for t in plan["tensors"]:
    if t["name"] in plan["inputs"]:
        n = int(np.prod(t["shape"]))
        x = (np.arange(n) * 7 % 5 - 2).astype(np.float32)
        inputs[t["name"]] = x.reshape(t["shape"])
np.savez(sys.argv[2], **inputs)
END
	expect 0 "$TDLRUN" "$tmp/staged.plan" --inputs "$tmp/in.npz" \
		--kernels interpreter --steps 3 --outputs "$tmp/cpu.npz"
	steps="--inputs $tmp/in.npz --steps 3 --outputs $tmp/cuda.npz"
}

# same: the last run has done what was planned, with the same results.
same() {
	prints 'communication .*, as planned'
	prints 'memory .*, as planned'
	cmp "$tmp/cuda.npz" "$tmp/cpu.npz" || fail "$*: results differ"
	rm -f "$tmp/cuda.npz"
}

# shellcheck disable=SC2086 # words
in_one_process() {
	for gpus in "$@"; do
		export FAKE_CUDA_SEED=$((gpus + seed)) FAKE_CUDA_DEVICES=$gpus
		expect 0 cuda "$tmp/staged.plan" $steps
		same "$gpus GPUs"
	done
	unset FAKE_CUDA_SEED FAKE_CUDA_DEVICES
}

# ---- results -----------------------------------------------------------------

# Every ninth of all, or of every SAMPLEth, from number SAMPLE_FROM on; 2 to 4
# stages, 3 to 13 workers.
nth=0
for seed in 94 80 76 49 9 42 2 22 12; do
	for schedule in gpipe 1f1b interleaved zb; do
		nth=$((nth + 1))
		[ $(((nth + ${SAMPLE_FROM:-0}) % (${SAMPLE:-1} * 9))) -eq 0 ] ||
			[ "${CHECK_ALL:-}" = yes ] || continue
		staged $seed $schedule
		in_one_process 1 2 5
		[ "$workers" -le 7 ] || continue
		# shellcheck disable=SC2086 # words
		expect 0 ranks "$workers" "$tmp/staged.plan" $steps
		same "plan $seed $schedule, $workers ranks"
	done
done
seed=1

# Without graphs, and one against one worker.
staged 94 1f1b
# shellcheck disable=SC2086 # words
{
	expect 0 env TDL_CUDA_GRAPH=0 FAKE_CUDA_DEVICES=3 timeout 120 \
		"$TDLRUN" "$tmp/staged.plan" --backend cuda $steps
	same 'without graphs'
	export TDL_CUDA_GRAPH=0
	expect 0 ranks "$workers" "$tmp/staged.plan" $steps --verify
	same 'ranks without graphs'
	unset TDL_CUDA_GRAPH
}

# ---- networks ----------------------------------------------------------------

plan mlp 4 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=6 --train \
	--optimizer adamw --stages 2 --micro-batches 4
networks=mlp-4
if [ "${CHECK_ALL:-}" = yes ]; then
	plan gpt2 4 gpt2 -D layers=2 -D heads=2 -D width=16 -D tokens=9 \
		-D batch=4 -D vocabulary=50 --train --optimizer adamw \
		--stages 2 --micro-batches 2 --schedule gpipe
	networks="$networks gpt2-4"
fi
for name in $networks; do
	expect 0 "$TDLRUN" "$tmp/$name.plan" --steps 3 --outputs "$tmp/cpu.npz"
	export FAKE_CUDA_DEVICES=4
	expect 0 cuda "$tmp/$name.plan" --steps 3 --outputs "$tmp/cuda.npz" \
		--verify
	unset FAKE_CUDA_DEVICES
	verified
	expect 0 near "$tmp/cuda.npz" "$tmp/cpu.npz"
	expect 0 ranks 4 "$tmp/$name.plan" --steps 3 --verify \
		--outputs "$tmp/cuda.npz"
	verified
	expect 0 near "$tmp/cuda.npz" "$tmp/cpu.npz"
done

# Training goes on from checkpoints of one stage, and of several.
plan single 2 mlp -D batch=8 -D inputs=6 -D width=10 -D depth=6 --train \
	--optimizer adamw --micro-batches 4
expect 0 "${PYTHON:-python3}" - "$tmp/data.npz" <<'END'
import sys
import numpy as np
rng = np.random.default_rng(1)
np.savez(sys.argv[1], x=rng.standard_normal((24, 6), dtype=np.float32),
         label=rng.integers(0, 10, 24))
END
train="--data $tmp/data.npz --shuffle --seed 5 --checkpoint-every 2"
# shellcheck disable=SC2086 # words
{
	expect 0 "$TDLRUN" "$tmp/single-2.plan" $train --epochs 2 \
		--checkpoint "$tmp/a"
	expect 0 "$TDLRUN" "$tmp/single-2.plan" $train --epochs 1 \
		--checkpoint "$tmp/b"
	rm "$tmp/b/step-3.npz"
	expect 0 ranks 4 "$tmp/mlp-4.plan" $train --epochs 2 --steps 4 \
		--checkpoint "$tmp/b" --resume
	expect 0 cuda "$tmp/mlp-4.plan" $train --epochs 2 \
		--checkpoint "$tmp/b" --resume
}
expect 0 near "$tmp/b/step-6.npz" "$tmp/a/step-6.npz"

# ---- messages wait for no collective -----------------------------------------

# Links have streams of their own, which go first.
export FAKE_CUDA_LOG="$tmp/log"
# shellcheck disable=SC2086 # words
expect 0 ranks "$workers" "$tmp/staged.plan" $steps
unset FAKE_CUDA_LOG
most=0
for pid in $(sed 's/:.*//' "$tmp/log" | sort -u); do
	sed -n "s/^$pid: stream \([0-9]*\): nccl.*/\1/p" "$tmp/log" |
		sort -u >"$tmp/streams"
	n=$(wc -l <"$tmp/streams")
	[ "$n" -le "$most" ] || most=$n
	while read -r of; do
		grep -q "^$pid: stream $of is the most urgent" "$tmp/log" ||
			fail "transfers are not urgent, on stream $of"
	done <"$tmp/streams"
done
# Those of the stage in the middle: its own, and links in and out, both ways.
[ "$most" -ge 4 ] || fail "a process transfers on $most streams only"
rm "$tmp/log"

# ---- an event that is missing ------------------------------------------------

# Some wait, where it is left out, some seed shows it.
staged 49 1f1b
found=0
export FAKE_CUDA_DEVICES=3 TDL_CUDA_GRAPH=0
for drop in 14 30 34 50; do
	for of in 1 2 3; do
		export FAKE_CUDA_DROP=$drop FAKE_CUDA_SEED=$of
		# shellcheck disable=SC2086 # words
		cuda "$tmp/staged.plan" $steps >"$tmp/out" 2>"$tmp/err" &&
			cmp -s "$tmp/cuda.npz" "$tmp/cpu.npz" ||
			found=$((found + 1))
	done
done
unset FAKE_CUDA_DROP FAKE_CUDA_SEED FAKE_CUDA_DEVICES TDL_CUDA_GRAPH
[ "$found" -gt 0 ] || fail 'no missing event shows'
echo "$found of 12 runs with an event less differ"

# ---- failures ----------------------------------------------------------------

# told PATTERN: by any rank
told() {
	grep -q -- "$1" "$tmp/err" "$tmp"/err-* || {
		fail "no rank says '$1'"
		head -n 5 "$tmp/err" "$tmp"/err-*
	}
}

# A device that fails, or hangs, while all others wait for it or for those who
# do.
limit=60 patience=1
# shellcheck disable=SC2086 # words
for at in 9 40; do
	odd="FAKE_CUDA_FAIL=kernel:$at:700"
	expect 4 ranks "$workers" "$tmp/staged.plan" $steps
	told 'worker 1: .*illegal memory access'
	odd="FAKE_CUDA_FAIL=kernel:$at:hang"
	expect 4 ranks "$workers" "$tmp/staged.plan" $steps
	told 'rank 1 on .* has made no progress .*in step 1 of stage'
done
odd=

# A process that is gone, or stopped.
for signal in KILL STOP; do
	mkdir "$tmp/meet"
	pids=
	for r in $(seq 0 $((workers - 1))); do
		# shellcheck disable=SC2086 # words
		rank "$r" "$workers" "$tmp/staged.plan" --inputs "$tmp/in.npz" \
			--steps 100000 >"$tmp/out-$r" 2>"$tmp/err-$r" &
		pids="$pids $!"
	done
	sleep 4
	victim=$(pgrep -f -- "$tmp/staged.plan .*--rank $((workers - 1)) ")
	for p in $victim; do
		[ "$(cat "/proc/$p/comm")" != tdlrun ] || kill -$signal "$p"
	done
	for p in $pids; do
		[ "$p" = "${pids##* }" ] || wait "$p"
	done
	for p in $victim; do
		kill -KILL "$p" 2>/dev/null
	done
	wait
	told "rank $((workers - 1)) on .* has not been heard from"
	rm -rf "$tmp/meet"
done
# ---- a case of the matrix ----------------------------------------------------

# GPT-2 of 8 layers in 2 stages; or every sixth of all cases.
cases='--every 1000 --from 4 --schedules interleaved:2 gpt2'
[ "${CHECK_ALL:-}" = yes ] && cases='--every 6'
# shellcheck disable=SC2086 # words
expect 0 "${PYTHON:-python3}" "$here/bench/pipelines.py" --cuda $cases
prints ' cases well'
finish
