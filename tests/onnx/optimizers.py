# Tests: compiler/train
"""The optimizers of the library against PyTorch's, over several steps.

A model of two weights is planned with an optimizer and its options for 1 and
3 devices, and run for some steps on one batch; the weights and the losses
have to be those of torch.optim, in f32 and in f64.
"""
import itertools
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, TDLRUN, call, check_run, sample  # noqa: E402

try:
    import torch
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

STEPS = 7
TOLERANCE = {"f32": 5e-6, "f64": 1e-13}  # relative norm error of a weight

MODEL = """\
model line() {{
    input x[6, 5]: {0}
    input t[6, 3]: {0}
    param w[5, 3]: {0}
    param b[3]: {0}
    y = tanh(matmul(x, w) + b)
    loss = mse(y, t)
    output loss
}}
"""

CASES = [
    ("sgd", "sgd", {}, 0),
    ("sgd,lr=0.5", "sgd", {"lr": 0.5}, 0),
    ("sgd,lr=0.1,momentum=0.9", "sgd", {"lr": 0.1, "momentum": 0.9}, 0),
    ("sgd,lr=0.1,momentum=0.9,nesterov=true", "sgd",
     {"lr": 0.1, "momentum": 0.9, "nesterov": True}, 0),
    ("sgd,lr=0.1,momentum=0.8,dampening=0.3,weight_decay=0.1", "sgd",
     {"lr": 0.1, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1}, 0),
    ("sgd,lr=0.3,weight_decay=0.2", "sgd",
     {"lr": 0.3, "weight_decay": 0.2}, 0),
    ("sgd,lr=0.3,momentum=0.5", "sgd", {"lr": 0.3, "momentum": 0.5}, 0.05),
    ("sgd,lr=0.3", "sgd", {"lr": 0.3}, 100),
    ("adam", "adam", {}, 0),
    ("adam,lr=0.05,beta1=0.8,beta2=0.9,eps=1e-3", "adam",
     {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3}, 0),
    ("adam,lr=0.05,weight_decay=0.1", "adam",
     {"lr": 0.05, "weight_decay": 0.1}, 0.1),
    ("adamw", "adamw", {}, 0),
    ("adamw,lr=0.05,weight_decay=0.3", "adamw",
     {"lr": 0.05, "weight_decay": 0.3}, 0.02),
]
TORCH = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam,
         "adamw": torch.optim.AdamW}


def draw(dtype):
    rng = np.random.default_rng(3)
    shapes = {"x": (6, 5), "t": (6, 3), "w": (5, 3), "b": (3,)}
    return {n: rng.standard_normal(s).astype(dtype)
            for n, s in shapes.items()}


def expect(arrays, optimizer, options, clip):
    tensors = {n: torch.tensor(v) for n, v in arrays.items()}
    weights = [tensors[n].requires_grad_(True) for n in ("w", "b")]
    by = TORCH[optimizer](weights, **options)
    losses = []
    for _ in range(STEPS):
        by.zero_grad()
        y = torch.tanh(tensors["x"] @ weights[0] + weights[1])
        loss = torch.nn.functional.mse_loss(y, tensors["t"])
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(weights, clip)
        by.step()
        losses.append(float(loss.detach()))
    return losses, dict(zip("wb", (w.detach().numpy() for w in weights)))


def check(folder, dtype, text, optimizer, options, clip, k):
    model, plan, given, out = (os.path.join(folder, n) for n in (
        "line.tdl", "plan", "in.npz", "out.npz"))
    with open(model, "w") as f:
        f.write(MODEL.format(dtype))
    arrays = draw({"f32": np.float32, "f64": np.float64}[dtype])
    np.savez(given, **arrays)
    clipping = ["--clip-norm", str(clip)] if clip else []
    planned = call(TDLC, "plan", model, "-k", str(k), "--train",
                   "--optimizer", text, *clipping, "-o", plan)
    run = call(TDLRUN, plan, "--inputs", given, "--outputs", out,
               "--steps", str(STEPS), "--verify", "--kernels",
               "interpreter")
    check_run(run, planned)
    losses, weights = expect(arrays, optimizer, options, clip)
    worst = float(np.max(np.abs(np.array(run["loss"]) / losses - 1)))
    with np.load(out) as got:
        for n, want in weights.items():
            # Of a weight that hardly changes, f32 holds few digits of that.
            scale = max(np.linalg.norm(want - arrays[n]),
                        0.1 * np.linalg.norm(want))
            worst = max(worst, float(np.linalg.norm(got[n] - want) / scale))
    assert worst <= TOLERANCE[dtype], f"relative error {worst}"
    return worst


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        chosen = sample(list(itertools.product(CASES, TOLERANCE, (1, 3))))
        for case, dtype, k in chosen:
            text, optimizer, options, clip = case
            row = f"{text:56} clip {clip:5} {dtype} {k}"
            try:
                error = check(folder, dtype, text, optimizer, options, clip,
                              k)
                print(f"{row} {error:8.1e}", flush=True)
            except AssertionError as e:
                failed += 1
                print(f"FAIL: {row}: {str(e)[:1000]}", flush=True)
    print(f"{len(chosen)} runs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
