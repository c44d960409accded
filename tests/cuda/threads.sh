#!/bin/sh
# Tests: runtime/cuda
# --backend cuda with all workers in one process, on fake GPUs: results are
# those of one worker and of the cpu backend, in any order in which a GPU may
# work; either backend goes on from the checkpoints of the other; failures are
# named.
. "${srcdir:-.}/tests/cuda/lib.sh"
"${PYTHON:-python3}" -c 'import numpy' 2>/dev/null || skip 'there is no numpy'

# ---- results -----------------------------------------------------------------

mlp='-D batch=8 -D inputs=6 -D width=10 -D depth=2 --train --optimizer
	sgd,momentum=0.9'
# shellcheck disable=SC2086
for k in 1 2 4 8; do
	plan mlp $k mlp $mlp
done
plan resnet 2 resnet -D depth=18 -D batch=2 -D image=33 -D width=4 \
	-D classes=7
plan gpt2 4 gpt2 -D layers=1 -D heads=2 -D width=16 -D tokens=9 -D batch=4 \
	-D vocabulary=50 --train --optimizer adamw
# Tensor parallelism, in which some devices add zeros.
plan bert 4 bert -D layers=1 -D heads=4 -D width=16 -D tokens=6 -D batch=2 \
	-D vocabulary=40 --train --algorithm megatron

for name in mlp-1 resnet-2 mlp-2 gpt2-4 mlp-4 bert-4 mlp-8; do
	turn || continue
	plan=$tmp/$name.plan
	expect 0 "$TDLRUN" "$plan" --steps 3 --outputs "$tmp/cpu.npz"
	expect 0 cuda "$plan" --steps 3 --outputs "$tmp/cuda.npz" --verify
	verified
	expect 0 near "$tmp/cuda.npz" "$tmp/cpu.npz"
	expect 0 cuda "$plan" --steps 2 --kernels generated --verify
	verified
done
for seed in 2 3 4 5 6 7 8; do
	turn || continue
	for gpus in 1 2 3; do
		export FAKE_CUDA_SEED=$seed FAKE_CUDA_DEVICES=$gpus
		expect 0 cuda "$tmp/mlp-4.plan" --steps 3 --verify \
			--outputs "$tmp/$gpus.npz"
		verified
	done
	cmp "$tmp/1.npz" "$tmp/3.npz" || fail "seed $seed: GPUs differ"
done
unset FAKE_CUDA_SEED FAKE_CUDA_DEVICES

# ---- buckets -----------------------------------------------------------------

# shellcheck disable=SC2086
for bytes in 0 1M; do
	plan bucket$bytes 4 mlp $mlp --algorithm data-parallel --memory 1M \
		--bucket-bytes $bytes
	expect 0 cuda "$tmp/bucket$bytes-4.plan" --steps 3 --verify \
		--outputs "$tmp/$bytes.npz"
	verified
done
grep -q '"bucket":1' "$tmp/bucket1M-4.plan" || fail 'there is no bucket'
cmp "$tmp/0.npz" "$tmp/1M.npz" || fail 'buckets change results'

# ---- long rows ---------------------------------------------------------------

# Rows of more units than a tile of the kernel that copies, an odd number.
cat >"$tmp/long.tdl" <<'END'
model long(n = 2062) {
    input x[2, n]: f32
    input z[n, 2]: f32
    param w[n, 3] = normal(0, 1)
    y = matmul(x, w)
    u = matmul(z, x)
    output y, u
}
END
expect 0 "$TDLC" plan "$tmp/long.tdl" -k 2 -o "$tmp/long.plan"
prints 'received by all devices in 1 all-gather'
expect 0 cuda "$tmp/long.plan" --verify
verified

# ---- compiled kernels --------------------------------------------------------

# Of models that have the same kernels, in another order and some twice, the
# second finds what was compiled for the first.
cat >"$tmp/one.tdl" <<'END'
model one() {
    input x[5, 9]
    a = neg(x)
    b = exp(a)
    c = tanh(b)
    output a, b, c
}
END
cat >"$tmp/two.tdl" <<'END'
model two() {
    input x[5, 9]
    a = tanh(x)
    b = exp(a)
    c = neg(b)
    d = exp(c)
    output a, b, c, d
}
END
for name in one two; do
	expect 0 "$TDLC" plan "$tmp/$name.tdl" -k 1 -o "$tmp/$name.plan"
	expect 0 cuda "$tmp/$name.plan" --verify
	verified
	find "$XDG_CACHE_HOME/tdlc" -name kernels.cubin | sort \
		>"$tmp/$name.kept"
done
cmp "$tmp/one.kept" "$tmp/two.kept" ||
	fail 'kernels in another order are compiled again'

# ---- micro-batches -----------------------------------------------------------

# shellcheck disable=SC2086
for k in 1 2 4; do
	plan turns $k mlp $mlp --micro-batches 3
done
plan recurrent 2 rnn -D batch=8 -D layers=2 -D hidden=4 -D steps=3 \
	-D inputs=3 -D classes=5 --train --micro-batches 2
plan conv 2 alexnet -D batch=4 -D classes=10 -D image=63 -D width=2 \
	-D hidden=12 --train --micro-batches 3
merged outputs 2 --micro-batches 3
merged outputs 4 --micro-batches 8
for name in turns-1 turns-2 turns-4 recurrent-2 conv-2 outputs-2 outputs-4; do
	turn || continue
	plan=$tmp/$name.plan
	expect 0 "$TDLRUN" "$plan" --steps 3 --outputs "$tmp/cpu.npz"
	for gpus in 1 2 3; do
		export FAKE_CUDA_SEED=$((gpus + ${SAMPLE_FROM:-0} % 100)) \
			FAKE_CUDA_DEVICES=$gpus
		expect 0 cuda "$plan" --steps 3 --outputs "$tmp/cuda.npz" \
			--verify
		verified
		expect 0 near "$tmp/cuda.npz" "$tmp/cpu.npz"
	done
	expect 0 env TDL_CUDA_GRAPH=0 timeout 120 "$TDLRUN" "$plan" \
		--backend cuda --steps 2 --kernels generated --verify
	verified
	unset FAKE_CUDA_SEED FAKE_CUDA_DEVICES
done

# ---- transfers beside kernels ------------------------------------------------

# Those between GPUs have streams of their own, which go first.
export FAKE_CUDA_LOG="$tmp/log" FAKE_CUDA_DEVICES=3
expect 0 cuda "$tmp/mlp-4.plan" --steps 2
unset FAKE_CUDA_LOG FAKE_CUDA_DEVICES
# streams PATTERN: that have run a kernel of such a name
streams() {
	sed -n "s/^.*: stream \([0-9]*\): $1.*/\1/p" "$tmp/log" | sort -u
}
streams tdl_combine >"$tmp/transfers"
streams '\(tdl_kernel\|matmul\)' >"$tmp/kernels"
[ "$(wc -l <"$tmp/transfers")" -eq 3 ] || fail 'not all GPUs have combined'
[ -z "$(comm -12 "$tmp/transfers" "$tmp/kernels")" ] ||
	fail 'kernels and transfers share a stream'
while read -r of; do
	grep -q ": stream $of is the most urgent" "$tmp/log" ||
		fail "transfers are not urgent, on stream $of"
done <"$tmp/transfers"
rm "$tmp/log"

# Some wait, where it is left out, some seed shows it.
found=0
export FAKE_CUDA_DEVICES=2
for drop in 6 17 18 36; do
	for seed in 1 2 3; do
		export FAKE_CUDA_DROP=$drop FAKE_CUDA_SEED=$seed
		cuda "$tmp/mlp-4.plan" --steps 2 --verify \
			>"$tmp/out" 2>"$tmp/err" || found=$((found + 1))
	done
done
unset FAKE_CUDA_DROP FAKE_CUDA_SEED FAKE_CUDA_DEVICES
[ "$found" -gt 0 ] || fail 'no missing event shows'
echo "$found of 12 runs with an event less differ"

# ---- copies in several parts ------------------------------------------------

# Arrays of 12 MB, which go through less memory that is pinned.
expect 0 "$TDLC" plan "$here/tests/gpu/bundle/one.tdl" -k 1 -D n=3000001 \
	-o "$tmp/one.plan"
expect 0 "$TDLRUN" "$tmp/one.plan" --outputs "$tmp/cpu.npz"
for seed in 1 2 3; do
	expect 0 env FAKE_CUDA_SEED=$seed timeout 120 "$TDLRUN" \
		"$tmp/one.plan" --backend cuda --outputs "$tmp/cuda.npz"
	cmp "$tmp/cuda.npz" "$tmp/cpu.npz" || fail "seed $seed: copies differ"
done

# ---- libraries without a suitable algorithm ----------------------------------

for absent in FAKE_CUBLASLT_NONE FAKE_CUDNN_NONE; do
	expect 0 env $absent=1 timeout 120 "$TDLRUN" "$tmp/resnet-2.plan" \
		--backend cuda --verify
	verified
done

# ---- libraries of the driver's generation ------------------------------------

for version in 12080 13000; do
	export FAKE_CUDA_VERSION=$version FAKE_CUDA_LOG="$tmp/log"
	expect 0 cuda "$tmp/mlp-2.plan" --verify
	verified
	silent err
	grep -q matmul "$tmp/log" || fail "$version: cuBLASLt has done nothing"
	rm "$tmp/log"
done
unset FAKE_CUDA_VERSION FAKE_CUDA_LOG

# ---- GPUs that do not reach each other ---------------------------------------

export FAKE_CUDA_DEVICES=2 FAKE_CUDA_NO_PEERS=1
expect 0 cuda "$tmp/mlp-2.plan" --verify
verified
says 'note: GPUs 0 and 1 do not read .*: 1 of 2 are used'
unset FAKE_CUDA_DEVICES FAKE_CUDA_NO_PEERS

# ---- a bias in the buffer of the result --------------------------------------

cat >"$tmp/bias.tdl" <<'END'
import "elementwise.tdl"
import "linear.tdl"
import "reduce.tdl"
model biased() {
    input a[30, 40]
    input b[40]
    input p[30, 6]
    v = reduce_sum(p, axes = [1])
    y = v + matmul_vector(a, b)
    output y
}
END
expect 0 "$TDLC" plan "$tmp/bias.tdl" -k 1 -o "$tmp/bias.plan"
expect 0 "$TDLRUN" "$tmp/bias.plan" --outputs "$tmp/cpu.npz"
expect 0 cuda "$tmp/bias.plan" --kernels library --outputs "$tmp/cuda.npz"
expect 0 near "$tmp/cuda.npz" "$tmp/cpu.npz"

# ---- tensor cores ------------------------------------------------------------

# Factors of f32 that may be rounded give other results, which are near.
cat >"$tmp/product.tdl" <<'END'
op times(x[M, K], w[K, N]) -> y[M, N] =
    lambda i, j: Sum(lambda k: exp(x[i, k]) * w[k, j])
op short_times(x[M, K]: f16, w[K, N]: f16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(x[i, k], f32) * cast(w[k, j], f32))
model product(m = 70, k = 45, n = 33) {
    input x[m, k]
    input w[k, n]
    input short_x[m, k]: f16
    input short_w[k, n]: f16
    y = times(x, w)
    z = short_times(short_x, short_w)
    output y, z
}
END
for sizes in '-D m=70' '-D k=1' '-D m=0' '-D k=0' '-D n=1 -D k=700' \
	'-D m=131 -D n=130 -D k=67'; do
	turn || continue
	# shellcheck disable=SC2086
	expect 0 "$TDLC" plan "$tmp/product.tdl" -k 1 $sizes \
		-o "$tmp/product.plan"
	expect 0 "$TDLRUN" "$tmp/product.plan" --outputs "$tmp/cpu.npz"
	for how in '' --tf32; do
		expect 0 cuda "$tmp/product.plan" --kernels generated \
			--outputs "$tmp/cuda$how.npz" $how
	done
	expect 0 "${PYTHON:-python3}" - "$tmp" "$sizes" <<'END'
import sys
import numpy as np
cpu, full, short = (np.load(f"{sys.argv[1]}/{name}.npz")
                    for name in ("cpu", "cuda", "cuda--tf32"))
for name in "y", "z":
    want = cpu[name].astype(np.float64)
    norm = np.linalg.norm(want)
    assert full[name].shape == short[name].shape == want.shape
    assert np.linalg.norm(full[name] - want) <= 1e-6 * norm, name
    allowed = 1e-3 if name == "y" else 1e-6
    assert np.linalg.norm(short[name] - want) <= allowed * norm, name
if sys.argv[2] in ("-D m=70", "-D m=131 -D n=130 -D k=67"):
    assert np.any(full["y"] != short["y"]), "TF32 rounds"
END
done

# Factors in pieces of 16 bytes along the depth or across it are copied beside
# the multiplication, others are fetched.
cat >"$tmp/copied.tdl" <<'END'
op along_along(x[M, K]: f16, w[N, K]: f16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(x[i, k], f32) * cast(w[j, k], f32))
op along_across(x[M, K]: bf16, w[K, N]: bf16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(x[i, k], f32) * cast(w[k, j], f32))
op across_along(x[K, M]: bf16, w[N, K]: bf16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(x[k, i], f32) * cast(w[j, k], f32))
op across_across(x[K, M]: f16, w[K, N]: f16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(x[k, i], f32) * cast(w[k, j], f32))
op along_f32(x[M, K], w[N, K]) -> y[M, N] =
    lambda i, j: Sum(lambda k: x[i, k] * w[j, k])
op across_f32(x[K, M], w[K, N]) -> y[M, N] =
    lambda i, j: Sum(lambda k: x[k, i] * w[k, j])
op left_alone(x[M, K]: bf16, w[K, N]: bf16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(x[i, k], f32) *
                               cast(cast(exp(cast(w[k, j], f32)), bf16), f32))
op right_alone(x[M, K]: bf16, w[K, N]: bf16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(cast(exp(cast(x[i, k], f32)), bf16), f32) *
                               cast(w[k, j], f32))
op points(x[B, C, H, W]: bf16, w[O, C]: bf16) -> (y[B, O, H, W]: f32) =
    lambda b, o, h, w_: Sum(lambda c: cast(x[b, c, h, w_], f32) *
                                      cast(w[o, c], f32))
op windows(x[B, C, H, W]: bf16, w[O, C, R, S]: bf16) ->
    (y[B, O, H - R + 1, W - S + 1]: f32) =
    lambda b, o, h, w_: Sum(lambda c, r, s: cast(x[b, c, h + r, w_ + s], f32) *
                                            cast(w[o, c, r, s], f32))
model copied(m = 72, k = 72, n = 40, side = 8) {
    input a[m, k]: f16
    input b[n, k]: f16
    input c[m, k]: bf16
    input d[k, n]: bf16
    input e[k, m]: bf16
    input f[n, k]: bf16
    input g[k, m]: f16
    input h[k, n]: f16
    input i[m, k]
    input j[n, k]
    input l[k, m]
    input o[k, n]
    input p[3, k, side, side]: bf16
    input q[m, k]: bf16
    input r[m, k, 2, 3]: bf16
    y0 = along_along(a, b)
    y1 = along_across(c, d)
    y2 = across_along(e, f)
    y3 = across_across(g, h)
    y4 = along_f32(i, j)
    y5 = across_f32(l, o)
    y6 = left_alone(c, d)
    y7 = right_alone(c, d)
    y8 = points(p, q)
    y9 = windows(p, r)
    output y0, y1, y2, y3, y4, y5, y6, y7, y8, y9
}
END
expect 0 "$TDLC" plan "$tmp/copied.tdl" -k 1 --emit-cuda "$tmp/copied"
for how in 'true, true.*fits, left_at, right_at' \
	'true, false.*fits, left_at, right_at' \
	'false, true.*fits, left_at, right_at' \
	'false, false.*fits, left_at, right_at' 'fits, left_at)' \
	'fits, tdl_nowhere(), right_at'; do
	grep -q "sums<.*$how" "$tmp"/copied/kernels*.cu ||
		fail "no factors are copied: $how"
done
for sizes in '-D side=8' '-D m=70 -D side=7' '-D k=67' '-D k=4 -D n=8' \
	'-D k=0' '-D m=1 -D n=33' '-D m=0'; do
	turn || continue
	# shellcheck disable=SC2086
	expect 0 "$TDLC" plan "$tmp/copied.tdl" -k 1 $sizes \
		-o "$tmp/copied.plan"
	expect 0 "$TDLRUN" "$tmp/copied.plan" --outputs "$tmp/cpu.npz"
	expect 0 cuda "$tmp/copied.plan" --kernels generated --tf32 \
		--outputs "$tmp/cuda.npz"
	expect 0 "${PYTHON:-python3}" - "$tmp" <<'END'
import sys
import numpy as np
cpu, cuda = (np.load(f"{sys.argv[1]}/{name}.npz") for name in ("cpu", "cuda"))
for name in cpu.files:
    allowed = 1e-3 if name in ("y4", "y5") else 1e-6
    norm = np.linalg.norm(cpu[name].astype(np.float64))
    assert cpu[name].shape == cuda[name].shape
    assert np.linalg.norm(cuda[name] - cpu[name]) <= allowed * norm, name
END
done

# A factor has the kind that it was last rounded to: 65504 of f16 is 65536 in
# bf16, which f16 does not have, and in f8e8m0.
cat >"$tmp/rounded.tdl" <<'END'
op rounded(x[M, K]: f16, w[K, N]: f16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(cast(x[i, k], bf16), f32) *
                               cast(cast(w[k, j], bf16), f32))
op powers(x[M, K]: f16, w[K, N]: f16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(cast(x[i, k], f8e8m0), f32) *
                               cast(w[k, j], f32))
op of_values(x[M, K]: f16, w[K, N]: f16) -> (y[M, N]: f32) =
    lambda i, j: Sum(lambda k: cast(cast(exp(cast(w[k, i], f32)), bf16), f32) *
                               cast(cast(x[j, k], bf16), f32))
model rounding(n = 37) {
    input x[n, n]: f16
    input w[n, n]: f16
    y = rounded(x, w)
    z = powers(x, w)
    v = of_values(x, w)
    output y, z, v
}
END
expect 0 "${PYTHON:-python3}" - "$tmp" <<'END'
import sys
import numpy as np
rng = np.random.default_rng(1)
x = rng.choice([65504, 1, 3, 0.1], (37, 37)).astype(np.float16)
np.savez(f"{sys.argv[1]}/in.npz", x=x, w=rng.random(x.shape).astype(x.dtype))
END
expect 0 "$TDLC" plan "$tmp/rounded.tdl" -k 1 -o "$tmp/rounded.plan"
expect 0 "$TDLRUN" "$tmp/rounded.plan" --kernels interpreter \
	--inputs "$tmp/in.npz" --outputs "$tmp/cpu.npz"
expect 0 cuda "$tmp/rounded.plan" --kernels generated \
	--inputs "$tmp/in.npz" --outputs "$tmp/cuda.npz"
expect 0 near "$tmp/cuda.npz" "$tmp/cpu.npz"

# ---- training ----------------------------------------------------------------

expect 0 "${PYTHON:-python3}" - "$tmp/data.npz" <<'END'
import sys
import numpy as np
rng = np.random.default_rng(1)
np.savez(sys.argv[1], x=rng.standard_normal((40, 6), dtype=np.float32),
         label=rng.integers(0, 10, 40))
END
train="--data $tmp/data.npz --shuffle --seed 5
	--checkpoint-every 2 --epochs 2"
# Eight steps on one backend, the last two on the other.
# shellcheck disable=SC2086
{
	expect 0 cuda "$tmp/mlp-4.plan" $train --checkpoint "$tmp/a"
	expect 0 "$TDLRUN" "$tmp/mlp-4.plan" $train --checkpoint "$tmp/b"
	expect 0 near "$tmp/a/step-10.npz" "$tmp/b/step-10.npz"
	cp -r "$tmp/a" "$tmp/c"
	rm "$tmp/a/step-10.npz" "$tmp/b/step-10.npz" "$tmp/c/step-10.npz"
	expect 0 cuda "$tmp/mlp-4.plan" $train --checkpoint "$tmp/c" --resume
	expect 0 cuda "$tmp/mlp-4.plan" $train --checkpoint "$tmp/b" --resume
	expect 0 "$TDLRUN" "$tmp/mlp-4.plan" $train --checkpoint "$tmp/a" \
		--resume
}
expect 0 near "$tmp/a/step-10.npz" "$tmp/b/step-10.npz"
expect 0 near "$tmp/a/step-10.npz" "$tmp/c/step-10.npz"

# Each step has a batch of its own, of which each turn has its part, of a graph
# that is replayed as well.
# shellcheck disable=SC2086
{
	expect 0 cuda "$tmp/turns-4.plan" $train --checkpoint "$tmp/d"
	expect 0 "$TDLRUN" "$tmp/turns-4.plan" $train --checkpoint "$tmp/e"
}
expect 0 near "$tmp/d/step-10.npz" "$tmp/e/step-10.npz"

# ---- failures ----------------------------------------------------------------

# fails STATUS SETTING PATTERN: of the environment of the fake libraries
fails() {
	expect "$1" env "$2" timeout 120 "$TDLRUN" "$tmp/mlp-2.plan" \
		--backend cuda --steps 3
	says "$3"
}

fails 4 FAKE_CUDA_DEVICES=0 'GPU\|device'
fails 4 FAKE_CUDA_FAIL=kernel:7:700 \
	'worker .*: .*an illegal memory access was encountered'
fails 4 FAKE_CUDA_FAIL=cuLaunchKernel:3:701 \
	'cuLaunchKernel: too many resources requested for launch'
fails 4 FAKE_CUDA_FAIL=cuMemAlloc:1:2 'memory'
fails 0 FAKE_CUDA_FAIL=cuGraphInstantiateWithFlags:1:2 \
	'note: steps are not replayed: .*Instantiate.*: out of memory'
fails 0 FAKE_CUBLASLT_WAITS=1 \
	'note: steps are not replayed: .*(matmul.*): .*cublasLtMatmul'
fails 4 FAKE_CUDA_FAIL=cuGraphLaunch:1:719 'cuGraphLaunch'
fails 4 FAKE_CUDA_MEMORY=0 'memory'
fails 4 FAKE_CUDA_ARCH=50 'architecture'
finish
