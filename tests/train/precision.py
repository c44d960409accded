# Tests: compiler/train runtime/run
"""Training in bf16 and f16: a step is what it would be with every tensor that
is to be short rounded by hand.

In PyTorch the same network computes in f32; what torch.autocast would have in a
short type is rounded to it, on the way there and on the way back.  In f16 the
loss is scaled as by torch's GradScaler: a step that overflows leaves all as it
is but the scale.  With CHECK_ALL=yes each type is tried on 1, 2 and 4 devices.

	precision.py
"""
import csv
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import ALL, TDLC, TDLRUN, expect, finish, run  # noqa: E402

RATE = 0.5
# The difference that a few other roundings make, as a part of the norm of a
# change; there are more of them where sums are cut.
TOLERANCE = {"bf16": 2e-2, "f16": 6e-3}
WHOLE = 0.1  # of these
SCALE = 65536.0

MODEL = """
model small(batch = 6) {
    input x[batch, 3, 8, 8]
    input label[batch]: i64
    param f[8, 3, 3, 3]
    param fb[8]
    y = relu(add_channels(conv2d(x, f, pads = [1, 1, 1, 1]), fb))
    param gs[8] = 1
    param gb[8]
    y = group_norm(y, gs, gb, groups = 2)
    param w[512, 16]
    param b[16]
    h = gelu(matmul(reshape(y, shape = [batch, 512]), w) + b)
    param ls[16] = 1
    param lb[16]
    n = layer_norm(h, ls, lb)
    param v[16, 10]
    logits = matmul(n, v)
    loss = softmax_cross_entropy(logits, label)
    output loss, logits
}
"""
SHAPES = {"f": (8, 3, 3, 3), "fb": (8,), "gs": (8,), "gb": (8,),
          "w": (512, 16), "b": (16,), "ls": (16,), "lb": (16,),
          "v": (16, 10)}

def by_hand(short):
    """What rounds a value and its gradient."""
    class Rounded(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            return x.to(short).float()

        @staticmethod
        def backward(_, d):
            return d.to(short).float()
    return Rounded.apply


def network(p, x, r):
    y = r(F.relu(r(r(F.conv2d(r(x), r(p["f"]), padding=1))
                   + r(p["fb"])[:, None, None])))
    y = F.group_norm(y, 2, p["gs"], p["gb"])
    h = r(r(r(y.reshape(len(x), 512)) @ r(p["w"])) + r(p["b"]))
    h = r(F.gelu(h))
    n = F.layer_norm(h, (16,), p["ls"], p["lb"])
    return r(r(n) @ r(p["v"]))


def gradients(weights, x, label, r, scale):
    p = {k: torch.tensor(w, requires_grad=True) for k, w in weights.items()}
    loss = F.cross_entropy(network(p, torch.tensor(x), r),
                           torch.tensor(label))
    slopes = torch.autograd.grad(loss * scale, list(p.values()))
    return loss.item(), {k: d.numpy() / scale for k, d in zip(p, slopes)}


class Step:
    """One step of a plan from the values that are fed."""

    def __init__(self, folder, precision, k):
        self.folder = folder
        # Kernels take long to compile; those of one device are PyTorch's to
        # judge.
        self.options = ["--verify"] * (k > 1)
        self.plan = os.path.join(folder, f"plan.{precision}.{k}")
        model = os.path.join(folder, "small.tdl")
        with open(model, "w", encoding="utf-8") as out:
            out.write(MODEL)
        run(TDLC, "plan", model, "-k", str(k), "--train", "--precision",
            precision, "--optimizer", f"sgd,lr={RATE}", "-o", self.plan)

    def __call__(self, fed):
        given, made = (os.path.join(self.folder, f) for f in
                       ("in.npz", "out.npz"))
        np.savez(given, **fed)
        run(TDLRUN, self.plan, *self.options, "--inputs", given, "--outputs",
            made)
        return np.load(made)


def check_step(step, precision, k, fed, weights, want):
    loss, slopes = want
    got = step({**fed, **weights})
    where, worst = f"{precision}, k = {k}", 0
    most = TOLERANCE[precision] * (WHOLE if k == 1 else 1)
    expect(f"{where}: the loss is {got['loss']}, by hand {loss}",
           abs(got["loss"] - loss) <= most * abs(loss) / 5)
    for name, slope in slopes.items():
        change = (weights[name] - got[name]) / RATE
        error = np.linalg.norm(change - slope) / np.linalg.norm(slope)
        worst = max(worst, error)
        expect(f"{where}: the gradient by {name} is off by {error:.1e}",
               error <= most)
    print(f"{where}: loss {loss:.4f}, gradients within {worst:.1e}")


def check_scaling(step, fed, weights):
    """What becomes of the scale."""
    for scale, steps, then in ((SCALE, 5, (SCALE, 6)),
                               (SCALE, 1999, (2 * SCALE, 0)),
                               (2.0 ** 40, 1999, (2.0 ** 39, 0))):
        got = step({**fed, **weights,
                    "optimizer.loss_scale": np.float64(scale),
                    "optimizer.good_steps": np.int64(steps)})
        is_now = tuple(got["optimizer." + n].item()
                       for n in ("loss_scale", "good_steps"))
        expect(f"after {steps} steps the scale {scale} becomes {is_now}",
               is_now == then)
        same = all(np.array_equal(got[k], w) for k, w in weights.items())
        expect(f"with the scale {scale}, weights {'stay' if same else 'move'}",
               same == (scale > SCALE))


def train(folder, step, x, fed):
    """Takes batches of x; the process and the losses."""
    data, start, log, out = (os.path.join(folder, n) for n in
                             ("data.npz", "start.npz", "log.csv", "end.npz"))
    np.savez(data, x=x, label=np.tile(fed["label"], len(x) // 6))
    np.savez(start, **{k: w for k, w in fed.items()
                       if k not in ("x", "label")})
    done = subprocess.run([TDLRUN, step.plan, "--data", data, "--inputs",
                           start, "--log", log, "--epochs", "1", "--outputs",
                           out], capture_output=True, text=True)
    with open(log, newline="", encoding="utf-8") as f:
        losses = [float(row["loss"] or "nan") for row in csv.DictReader(f)]
    return done, losses


def check_overflow(folder, step, fed, weights):
    """A batch that overflows is left out, and training goes on."""
    x = np.concatenate([fed["x"], 1e6 * fed["x"], fed["x"]])
    done, losses = train(folder, step, x, {**fed, **weights})
    expect(f"overflow: {done.stderr}", done.returncode == 0)
    expect(f"overflow: losses {losses}",
           np.isfinite(losses).tolist() == [True, False, True])
    expect("a NaN has a sign", "-nan" not in done.stdout)
    with np.load(os.path.join(folder, "end.npz")) as end:
        expect("overflow: the scale is "
               f"{end['optimizer.loss_scale']} after the steps",
               end["optimizer.loss_scale"] == SCALE / 2)
        after = {k: end[k] for k in weights}
    train(folder, step, np.concatenate([fed["x"], fed["x"]]),
          {**fed, **weights})
    with np.load(os.path.join(folder, "end.npz")) as end:
        for k, w in weights.items():
            error = np.linalg.norm(after[k] - end[k]) \
                / np.linalg.norm(end[k] - w)
            expect(f"overflow: {k} is off by {error:.1e}", error <= 1e-3)
    done, losses = train(folder, step, np.tile(1e6 * fed["x"], (60, 1, 1, 1)),
                         {**fed, **weights})
    expect(f"all overflow: {len(losses)} losses, {done.stderr}",
           done.returncode == 4 and len(losses) == 47)


def main():
    draw = np.random.default_rng(5)
    weights = {k: draw.standard_normal(s, dtype=np.float32)
               * np.float32(np.prod(s[1:] if len(s) == 4 else s[:1]) ** -0.5)
               for k, s in SHAPES.items()}
    fed = {"x": draw.standard_normal((6, 3, 8, 8), dtype=np.float32),
           "label": draw.integers(0, 10, 6)}
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TDL_CACHE", folder)
        for precision, short, devices in (("bf16", torch.bfloat16, (1, 4)),
                                          ("f16", torch.float16, (1, 2))):
            scale = SCALE if precision == "f16" else 1
            want = gradients(weights, fed["x"], fed["label"], by_hand(short),
                             scale)
            for k in (1, 2, 4) if ALL else devices:
                step = Step(folder, precision, k)
                check_step(step, precision, k, fed, weights, want)
                if precision == "f16":
                    check_scaling(step, fed, weights)
                if precision == "f16" and k == 2:
                    check_overflow(folder, step, fed, weights)
    finish()


if __name__ == "__main__":
    main()
