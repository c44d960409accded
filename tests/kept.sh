#!/bin/sh
# Tests: plan compiler/codegen runtime/exec runtime/cpu
# Factors that are kept in packed form: results have the bits of runs that keep
# none, over several steps, in which weights change; as many bytes are kept as
# planned.
. "${srcdir:-.}/tests/lib.sh"

models=$(cd "${srcdir:-.}/examples/models" && pwd)

# compare WHAT OPTION...: plans it, and runs that with and without.
compare() {
	what=$1
	shift
	"$TDLC" plan "$@" -o "$tmp/plan" >"$tmp/report" ||
		fail "$what: no plan"
	grep -q '"kept_bytes"' "$tmp/plan" || fail "$what: nothing is kept"
	sed 's/"kept_bytes":[0-9]*,//' "$tmp/plan" >"$tmp/bare"
	"$TDLRUN" "$tmp/plan" --steps 3 --outputs "$tmp/kept.npz" \
		>"$tmp/run" || fail "$what: no run"
	grep -q '^  copies .*, as planned$' "$tmp/run" ||
		fail "$what: $(grep copies "$tmp/run")"
	"$TDLRUN" "$tmp/bare" --steps 3 --outputs "$tmp/bare.npz" \
		>"$tmp/run" || fail "$what: no run without"
	! grep -q '^  copies' "$tmp/run" || fail "$what: bare plans keep some"
	cmp -s "$tmp/kept.npz" "$tmp/bare.npz" || fail "$what: other results"
}

mlp="$models/mlp.tdl -D batch=16 -D width=256 -D depth=3 -D inputs=64"
compare 'micro-batches' $mlp --train -k 1 --micro-batches 4
compare 'micro-batches of two workers' $mlp --train -k 2 --micro-batches 4
compare 'stages' $mlp --train --stages 2 -k 2 --micro-batches 4
compare 'two rows' "$models/mlp.tdl" -D batch=2 -D width=256 -D depth=3 \
	-D inputs=64 -k 1
compare 'convolutions' "$models/alexnet.tdl" -D batch=2 -D image=63 \
	-D width=32 -D hidden=24 -D classes=10 -k 2
compare 'recurrences' "$models/rnn.tdl" -D batch=8 -D layers=2 -D hidden=128 \
	-D inputs=16 -D steps=3 -D classes=4 --train -k 2

# A weight that is computed anew in each step, which several steps of a
# recurrence then use.
cat >"$tmp/made.tdl" <<'END'
op doubled(w[H, K]) -> r[K, H] = lambda k, h: 2 * w[h, k]
op next(s[B, K], r[K, H]) -> y[B, H] =
    lambda b, h: Sum(lambda k: s[b, k] * r[k, h])
op squares(y[..b]) -> l[] = lambda : Sum(lambda ..b: y[..b] * y[..b])
model made() {
    param w[160, 160]
    input x[8, 160]
    r = doubled(w)
    h = x
    for t < 4 { h = next(h, r) }
    loss = squares(h)
    output loss
}
END
compare 'a weight that is made' "$tmp/made.tdl" --train -k 1
compare 'the same, divided' "$tmp/made.tdl" --train -k 2 \
	--algorithm data-parallel
finish
