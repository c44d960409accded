#!/bin/sh
# Tests: runtime/exec runtime/run runtime/comm
# Plans of several stages on threads: compared with one worker, with as many
# micro-batches and without; trained, from checkpoints of other numbers of
# stages and of none, and evaluated.
. "${srcdir:-.}/tests/lib.sh"

models=${srcdir:-.}/examples/models

# plan NAME K ARGUMENT...: a small mlp that trains, to $tmp/NAME.plan.
plan() {
	name=$1 k=$2
	shift 2
	expect 0 "$TDLC" plan "$models/mlp.tdl" -k "$k" -o "$tmp/$name.plan" \
		-D batch=8 -D inputs=6 -D width=10 -D depth=3 "$@"
}

# ---- one worker --------------------------------------------------------------

# A worker for each stage: no sum is divided but over micro-batches.
train='--train --optimizer sgd,momentum=0.9'
# shellcheck disable=SC2086
plan one 1 $train
# shellcheck disable=SC2086
plan two 2 --stages 2 --micro-batches 4 $train
# shellcheck disable=SC2086
plan three 3 --stages 3 --micro-batches 2 --schedule zb $train
# shellcheck disable=SC2086
plan six 6 --stages 3 --micro-batches 4 --schedule gpipe $train
for name in two three; do
	expect 0 "$TDLRUN" "$tmp/$name.plan" --steps 3 --verify
	prints 'communication .* a step, as planned'
	prints 'a worker of stage 1, as planned'
	prints ' verified .*are, bit for bit, those of one worker$'
	prints ' with [24] micro-batches$'
	prints ' worker with the whole batch$'
done
expect 0 "$TDLRUN" "$tmp/six.plan" --steps 3 --verify
prints 'a worker of stage 2, as planned'
prints ' verified .* within rounding, those of one$'
expect 0 "$TDLRUN" "$tmp/two.plan" --verify --json
for key in '"stages": \[' '"micro_batches": {' '"verified": true'; do
	prints "$key"
done
expect 0 "$TDLRUN" "$tmp/one.plan" --verify --json
[ "$(grep -c '"stages"\|"micro_batches"' "$tmp/out")" -eq 0 ] ||
	fail 'a plan of one stage has stages'

# ---- published planners ------------------------------------------------------

# For plans that run once: compiling takes longer than interpreting them.
slow='--kernels interpreter'
# Each runs as one worker does.
for how in 'mcap --schedule gpipe' 'mcap --schedule interleaved:2' \
	'mcap --recompute stage' pipedream capture; do
	# shellcheck disable=SC2086
	expect 0 "$TDLC" plan "$models/mlp.tdl" -k 3 $train -D batch=8 \
		-D inputs=6 -D width=10 -D depth=8 --stages auto \
		--micro-batches 2 --algorithm $how -o "$tmp/published.plan"
	prints "in .* stages\{0,1\}, planned by ${how%% *}"
	# shellcheck disable=SC2086
	expect 0 "$TDLRUN" "$tmp/published.plan" --steps 2 --verify $slow
	prints 'a worker of stage 0, as planned'
	prints ' with 2 micro-batches$'
done
# Each stage has an operator that computes with weights, where the last ones
# take so long that one without would not matter.
# shellcheck disable=SC2086
expect 0 "$TDLC" plan "$models/gpt2.tdl" -k 4 $train -D batch=4 -D layers=1 \
	-D heads=2 -D width=8 -D tokens=6 -D vocabulary=2000 --stages 4 \
	--micro-batches 2 --algorithm mcap --memory 1GB -o "$tmp/published.plan"
# shellcheck disable=SC2086
expect 0 "$TDLRUN" "$tmp/published.plan" --verify $slow
prints ' with 2 micro-batches$'
# The cuts are those that place makes of a model with the batch of one.
layers() { sed -n 's/.*"'"$1"'": \([0-9]*\),*$/\1/p' "$tmp/out"; }
gpt="$models/gpt2.tdl --train -k 3 -D layers=3 -D heads=2 -D width=8 \
	-D tokens=6 -D vocabulary=20"
# shellcheck disable=SC2086
expect 0 "$TDLC" plan $gpt -D batch=8 --stages 3 --micro-batches 4 \
	--algorithm mcap --json
layers layers >"$tmp/cut"
# shellcheck disable=SC2086
expect 0 "$TDLC" place $gpt -D batch=2 --micro-batches 4 --algorithm mcap --json
layers nodes >"$tmp/other"
[ "$(wc -l <"$tmp/cut")" -eq 3 ] || fail 'not 3 stages'
[ "$(head -n 2 "$tmp/cut")" = "$(head -n 2 "$tmp/other")" ] ||
	fail 'plan and place cut differently'

# ---- options -----------------------------------------------------------------

expect 2 "$TDLRUN" "$tmp/two.plan" --lr-schedule linear
says -- '--lr-schedule needs --data'
expect 2 "$TDLRUN" "$tmp/two.plan" --schedule linear
says -- '--lr-schedule needs --data'

# ---- training ----------------------------------------------------------------

"${PYTHON:-python3}" - "$tmp" <<'END' || skip 'no numpy for the rest'
import sys
import numpy as np
rng = np.random.default_rng(1)
x = rng.standard_normal((40, 6), dtype=np.float32)
np.savez(f"{sys.argv[1]}/data.npz", x=x, label=rng.integers(0, 10, 40))
np.savez(f"{sys.argv[1]}/in.npz", x=x[:8], label=np.arange(8) % 10)
np.savez(f"{sys.argv[1]}/more.npz", x=x[:32], label=np.arange(32) % 10)
END

# near A B: the arrays of two files have the same names, and values up to
# rounding; same A B: the same bits.
near() {
	"${PYTHON:-python3}" - "$1" "$2" "${3:-1e-5}" <<'END' ||
import sys
import numpy as np
a, b = np.load(sys.argv[1]), np.load(sys.argv[2])
names = set(a.files) - {"tdlrun.checkpoint"}
assert names == set(b.files) - {"tdlrun.checkpoint"}
for name in names:
    x, y = a[name], b[name]
    assert x.dtype == y.dtype and x.shape == y.shape, name
    assert np.max(np.abs(x - y), initial=0) <= float(sys.argv[3]), name
assert len(names) > 10
END
		fail "$1 and $2 differ"
}
same() { near "$1" "$2" 0; }

for name in two three six; do
	expect 0 "$TDLRUN" "$tmp/$name.plan" --inputs "$tmp/in.npz" --steps 2 \
		--outputs "$tmp/$name.npz"
done
near "$tmp/two.npz" "$tmp/three.npz"
near "$tmp/two.npz" "$tmp/six.npz"

# ---- computed again ----------------------------------------------------------

# The same bits, in less memory: as they are planned, as they are run.
for schedule in gpipe zb interleaved:2; do
	for what in none stage; do
		[ $what = stage ] && again='--recompute stage' || again=
		# shellcheck disable=SC2086
		expect 0 "$TDLC" plan "$models/mlp.tdl" -k 2 $train $again \
			-D batch=32 -D inputs=6 -D width=10 -D depth=6 \
			--stages 2 --micro-batches 8 --schedule $schedule \
			-o "$tmp/$what.plan"
		[ $what = none ] || prints 'recomputed  *[1-9][0-9]* operators'
		expect 0 "$TDLC" show "$tmp/$what.plan" --json
		sed -n 's/.*"peak_bytes_per_device": \([0-9]*\).*/\1/p' \
			"$tmp/out" >"$tmp/$what.peak"
		# shellcheck disable=SC2086
		expect 0 "$TDLRUN" "$tmp/$what.plan" --steps 3 --verify $slow \
			--inputs "$tmp/more.npz" --outputs "$tmp/$what.npz"
		prints 'a worker of stage 0, as planned'
		prints 'a worker of stage 1, as planned'
		prints ' verified .*are, bit for bit, those of one worker$'
	done
	same "$tmp/none.npz" "$tmp/stage.npz"
	[ "$(cat "$tmp/stage.peak")" -lt "$(cat "$tmp/none.peak")" ] ||
		fail "--schedule $schedule: no less memory"
done
expect 0 "$TDLC" show "$tmp/stage.plan"
prints 'recomputed '
expect 0 "$TDLC" explain --plan "$tmp/stage.plan" --tensor layer_0.matmul
prints 'computed again before the backward pass, as'

# run NAME FOLDER EPOCHS ARGUMENT...
run() {
	name=$1 folder=$2 epochs=$3
	shift 3
	expect 0 "$TDLRUN" "$tmp/$name.plan" --data "$tmp/data.npz" --shuffle \
		--seed 5 --epochs "$epochs" \
		--checkpoint "$tmp/$folder" "$@"
}

plan test 2 --evaluate
run one all 1
run two some 1 --log "$tmp/some.csv" --evaluate "$tmp/test.plan" \
	--evaluate-data "$tmp/data.npz"
prints 'evaluation: loss'
[ "$(wc -l <"$tmp/some.csv")" -eq 6 ] || fail 'a log of 5 steps and a header'
cp -r "$tmp/some" "$tmp/again"
run two again 2 --resume
run two twice 2
same "$tmp/again/step-10.npz" "$tmp/twice/step-10.npz"
near "$tmp/some/step-5.npz" "$tmp/all/step-5.npz"
for name in three six one; do
	cp -r "$tmp/some" "$tmp/$name-2"
	run $name "$name-2" 2 --resume
	near "$tmp/again/step-10.npz" "$tmp/$name-2/step-10.npz"
done
run two one-2 3 --resume --lr-schedule linear
prints 'steps 11 to 15'

# ---- a failure ---------------------------------------------------------------

# An index outside of a tensor, in the second micro-batch of the first stage;
# the others wait for that.
expect 0 "$TDLC" plan "$models/gpt2.tdl" -k 3 --stages 3 --micro-batches 2 \
	--train -D layers=3 -D heads=1 -D width=4 -D tokens=3 -D batch=4 \
	-D vocabulary=9 -o "$tmp/gpt2.plan"
"${PYTHON:-python3}" - "$tmp/bad.npz" <<'END'
import sys
import numpy as np
ids = np.arange(12).reshape(4, 3) % 9
label = ids.copy()
ids[2, 1] = 9
np.savez(sys.argv[1], ids=ids, label=label)
END
expect 1 timeout 60 "$TDLRUN" "$tmp/gpt2.plan" --inputs "$tmp/bad.npz" \
	--kernels interpreter
says "worker 0: node '.*is read at index 9 of dimension 0, which has 9"

# ---- weights -----------------------------------------------------------------

# Weights of any number of stages, in a plan of any other.
plan staged 4 --stages 2 --micro-batches 2 --evaluate
for name in test staged; do
	expect 0 "$TDLRUN" "$tmp/$name.plan" --data "$tmp/data.npz" \
		--parameters "$tmp/three-2" --outputs "$tmp/$name.npz" --json
	sed -n 's/^ *"loss": //p' "$tmp/out" >"$tmp/$name.loss"
done
[ -s "$tmp/test.loss" ] || fail 'no loss'
awk 'NR == 1 { x = $1 } END { exit !(NR == 2 && ($1 - x) ^ 2 < 1e-10) }' \
	"$tmp/test.loss" "$tmp/staged.loss" || fail 'losses differ'

# ---- little memory -----------------------------------------------------------

# Where nothing fits, auto computes forward passes again in stages.  It tries
# all else before, which takes long.
if [ "${CHECK_ALL-}" = yes ]; then
	expect 0 "$TDLC" plan "$models/gpt2.tdl" -k 2 -o "$tmp/little.plan" \
		-D layers=4 -D width=16 -D heads=2 -D vocabulary=20 \
		-D tokens=64 -D batch=4 --train --micro-batches 4 \
		--algorithm auto --memory 326354
	prints 'in 2 stages, planned by auto'
	expect 0 "$TDLC" show "$tmp/little.plan"
	prints 'recomputed  *[1-9][0-9]* operators'
	expect 0 "$TDLRUN" "$tmp/little.plan" --verify
fi
finish
