#!/bin/sh
# Tests: runtime/exec
# The report of tdlrun --verify: the worst tensor, its error, the rule, NaN.
. "${srcdir:-.}/tests/lib.sh"

# Standard output of the last command, without its division into lines.
reports() {
	tr -s ' \n' ' ' <"$tmp/out" | grep -q -- "$1" || {
		fail "standard output has no '$1'"
		cat "$tmp/out"
	}
}

cat >"$tmp/sums.tdl" <<'END'
import "reduce.tdl"
model sums(batch = 4, width = 4096) {
    input x[batch, width]
    total = reduce_sum(x, axes = [0, 1])
    y = x * 2
    output total
    output y
}
END
expect 0 "$TDLC" plan "$tmp/sums.tdl" -k 2 -o "$tmp/sums.plan"
expect 0 "$TDLRUN" "$tmp/sums.plan" --verify
prints "verified .*one worker's$"
grep -q NaN "$tmp/out" && fail 'NaN where there is none'
"${PYTHON:-python3}" - "$tmp" <<'END' || skip 'no numpy for the rest'
import sys
import numpy as np
x = np.random.default_rng(1).standard_normal((4, 4096), dtype=np.float32)
x[1, 7] = x[3, 0] = np.nan
np.savez(f"{sys.argv[1]}/nan.npz", x=x)
END
expect 0 "$TDLRUN" "$tmp/sums.plan" --verify --inputs "$tmp/nan.npz"
prints "NaN  *'total': 1 of 1 elements$"
prints "   'y': 2 of 16384 elements$"
expect 0 "$TDLRUN" "$tmp/sums.plan" --verify --inputs "$tmp/nan.npz" --json
prints '"nan_on_one_worker": 2'
expect 0 "$TDLRUN" "$tmp/sums.plan" --inputs "$tmp/nan.npz" --json
prints '"worst": null'

# A fault of several workers, not of one: a function that multiplies a value of
# each row by $FACTOR in the first run, which is that of all workers; its
# library stays loaded, and counts on.  `rows` may have no rounding; `total` is
# a sum that is divided.
cat >"$tmp/planted.tdl" <<'END'
import "reduce.tdl"
opaque scaled(x[M]) -> y[M] = "scaled"
op scale_rows(x[N, M]) -> y[N, M] = lambda n, i: scaled(x[n, :])[i]
model planted(batch = 8, width = 50) {
    input x[batch, width]
    rows = scale_rows(x)
    square = rows * rows
    total = reduce_sum(square, axes = [0])
    output OUTPUT
}
END
cat >"$tmp/planted.c" <<'END'
#include <stdatomic.h>
#include <stdlib.h>
#include <tdl/kernel.h>
enum { ROWS = 8 };
static atomic_int calls;
int scaled(const tdl_kernel_call *call)
{
	const tdl_view *x = &call->inputs[0], *y = &call->outputs[0];
	float factor = strtof(getenv("FACTOR"), NULL);
	const int first = atomic_fetch_add(&calls, 1) < ROWS;
	for (int64_t i = 0; i < x->dims[0]; i++) {
		float v = ((float *)x->data)[i * x->strides[0]];
		if (i == 7 && first)
			v *= factor;
		((float *)y->data)[i * y->strides[0]] = v;
	}
	return 0;
}
END
${CC:-cc} -I"${srcdir:-.}/include" -shared -fPIC -Wl,-z,nodelete \
	-o "$tmp/planted.so" "$tmp/planted.c" || fail 'no library of the kernel'
planted() {	# OUTPUT FACTOR STATUS
	sed "s/OUTPUT/$1/" "$tmp/planted.tdl" >"$tmp/$1.tdl"
	expect 0 "$TDLC" plan "$tmp/$1.tdl" -k 4 --algorithm data-parallel \
		-o "$tmp/$1.plan"
	FACTOR=$2
	export FACTOR
	expect "$3" "$TDLRUN" "$tmp/$1.plan" --verify \
		--kernels-from "$tmp/planted.so"
}
planted rows 1 0
prints 'verified .*, bit for bit, '
for factor in 1.0000002 1.01 -1 0 nan; do
	planted rows "$factor" 5
	prints "different .*'rows' differs from one worker's$"
	reports 'no divided sum leads to it'
done
prints "NaN .*'rows': 8 of 400 elements, 0 on one worker$"
for factor in 1 1.0000002; do
	planted total "$factor" 0
	prints 'verified .*, within rounding, '
done
for factor in 1.01 -2 0 nan; do
	planted total "$factor" 5
	prints "different .*'total' differs from one worker's$"
done

# A compiler whose path has blanks, with arguments of its own.
mkdir "$tmp/my tools"
cat >"$tmp/my tools/a compiler" <<END
#!/bin/sh
[ "\$1" = -DMINE ] && echo "\$@" >>"$tmp/called" && shift
exec ${CC:-cc} "\$@"
END
chmod +x "$tmp/my tools/a compiler"
expect 0 env TDL_CACHE="$tmp/cache" CC="$tmp/my tools/a compiler -DMINE" \
	"$TDLRUN" "$tmp/sums.plan"
grep -q -- '-DMINE.*-c\|-DMINE.*-shared' "$tmp/called" ||
	fail 'the compiler was not called with its argument'
expect 4 env TDL_CACHE="$tmp/cache2" CC="$tmp/my tools/none" \
	"$TDLRUN" "$tmp/sums.plan"
says "cannot run the C compiler '$tmp/my'"

# Sums that are divided; then Adam in a short type, which makes noise of a
# gradient that is 0.
gpt2() {
	expect 0 "$TDLC" plan "${srcdir:-.}/examples/models/gpt2.tdl" -k 4 \
		-D layers=1 -D heads=2 -D width=16 -D tokens=9 -D batch=4 \
		-D vocabulary=50 --train "$@" -o "$tmp/gpt2.plan"
}
gpt2
expect 0 "$TDLRUN" "$tmp/gpt2.plan" --verify
prints 'verified .*within rounding'
reports "worst '.*', .* by [0-9.e-]* of its .*; [0-9.e-]* is allowed"
expect 0 "$TDLRUN" "$tmp/gpt2.plan" --verify --json
prints '"rule": "\(type\|change\)"'
prints '"element_allowed": 0.0002'
prints '"nan": \[\]'
gpt2 --optimizer adamw --precision bf16
expect 0 "$TDLRUN" "$tmp/gpt2.plan" --verify --steps 2
prints 'verified .*within rounding'
prints 'in doubt  *[1-9][0-9]* of [0-9]* elements: rounding alone decides them$'
expect 0 "$TDLRUN" "$tmp/gpt2.plan" --verify --steps 2 --json
prints '"rule": "\(type\|change\)"'
prints '"doubtful": [1-9]'

# A sign of what is 0 but for rounding: on one worker it is 0 whatever the
# inputs are, as both sums round to the same number.
cat >"$tmp/cancelled.tdl" <<'END'
op cancelled(x[B, N]: f32) -> (y[B]: f32, z[B]: f32) =
    let short = lambda b: Sum(lambda n: x[b, n])
    let long = lambda b: Sum(lambda n: cast(x[b, n], f64))
    lambda b: sign(short[b] - cast(long[b], f32))
    lambda b: short[b]
model signs(batch = 31, width = 999) {
    input x[batch, width]: f32
    y, z = cancelled(x)
    output y, z
}
END
expect 0 "$TDLC" plan "$tmp/cancelled.tdl" -k 32 --algorithm tofu \
	-o "$tmp/cancelled.plan"
expect 0 "$TDLRUN" "$tmp/cancelled.plan" --verify --kernels interpreter
prints 'verified .*within rounding'
prints 'in doubt  *[1-9][0-9]* of 62 elements: rounding alone decides them$'
finish
