# Tests: runtime/run compiler/train
"""The handwritten digits of examples/digits on eight workers.

The loss of each of the first 100 steps is PyTorch's from the same weights and
the same batches, within 1e-4, and so are the weights after them.  (By gradient
descent with a small rate: with AdamW, or a rate of 0.05, rounding grows until
PyTorch's own losses in f32 and in f64 are 1e-3 and more apart.)  Trained from
scratch the network has at least 97 % of the digits that it has not seen right.

	digits.py [--steps N]
"""
import argparse
import csv
import json
import os
import sys
import tempfile

try:
    import numpy as np
    import sklearn  # noqa: F401 (what data.py needs)
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import (EXAMPLES, TDLC, TDLRUN, call, expect,  # noqa: E402
                      finish, optimize_kernels, run)

EXAMPLE = os.path.join(EXAMPLES, "digits")
MODEL = os.path.join(EXAMPLE, "digits.tdl")
BATCH = 64
OPTIMIZER = "sgd,momentum=0.9,lr=0.05"
RATE = 0.01
LOSS_TOLERANCE = 1e-4
WEIGHT_TOLERANCE = 1e-4     # of the norm of the change of a weight
ACCURACY = 0.97
# The weights in the order of the model, which a plan need not keep.
WEIGHTS = [f"{layer}.{w}" for layer in ("first", "second", "third")
           for w in ("maps.w", "scale", "bias")] + ["logits.w", "logits.b"]

# ---- PyTorch's --------------------------------------------------------------

class Net(torch.nn.Module):
    """The network, its parameters by the names of our model."""

    def __init__(self, weights):
        super().__init__()
        self.of = {n: torch.nn.Parameter(torch.tensor(w))
                   for n, w in weights.items()}
        self.running = {n: (torch.zeros(len(w)), torch.ones(len(w)))
                        for n, w in weights.items() if n.endswith("scale")}

    def layer(self, x, name):
        x = F.conv2d(x, self.of[f"{name}.maps.w"], padding=1)
        mean, var = self.running[f"{name}.scale"]
        return F.relu(F.batch_norm(x, mean, var, self.of[f"{name}.scale"],
                                   self.of[f"{name}.bias"], training=True))

    def forward(self, image):
        x = self.layer(image, "first")
        x = self.layer(x, "second")
        x = self.layer(F.max_pool2d(x, 2), "third")
        x = F.max_pool2d(x, 2).flatten(1)
        return x @ self.of["logits.w"] + self.of["logits.b"]


def train_torch(weights, image, label, steps):
    net = Net(weights)
    optimizer = torch.optim.SGD(net.of.values(), lr=RATE, momentum=0.9)
    losses = []
    for step in range(steps):
        first = step % (len(label) // BATCH) * BATCH
        at = slice(first, first + BATCH)
        loss = F.cross_entropy(net(torch.tensor(image[at])),
                               torch.tensor(label[at]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {n: w.detach().numpy() for n, w in net.of.items()}


# ---- ours -------------------------------------------------------------------

def draw_weights(plan, rng):
    """Values for the parameters of a plan."""
    weights = {}
    with open(plan, encoding="utf-8") as f:
        shapes = {t["name"]: t["shape"] for t in json.load(f)["tensors"]}
    for name in WEIGHTS:
        shape, end = shapes[name], name.rpartition(".")[2]
        draw = rng.standard_normal(shape)
        fan = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        scaled = draw * fan ** -0.5 if len(shape) > 1 else 0.1 * draw
        weights[name] = (scaled + (end == "scale")).astype(np.float32)
    return weights


def compare(folder, data, steps):
    plan, start, log, out = (os.path.join(folder, n) for n in
                             ("8.plan", "start.npz", "log.csv", "out.npz"))
    print(run(TDLC, "plan", MODEL, "-k", "8", "--train", "--optimizer",
              OPTIMIZER, "-o", plan).splitlines()[0])
    weights = draw_weights(plan, np.random.default_rng(0))
    np.savez(start, **weights)
    epochs = -(-steps // (len(data["label"]) // BATCH))
    run(TDLRUN, plan, "--data", os.path.join(folder, "train.npz"), "--inputs",
        start, "--epochs", str(epochs), "--steps", str(steps),
        "--learning-rate", str(RATE), "--log", log, "--outputs", out)
    want, after = train_torch(weights, data["image"], data["label"], steps)
    with open(log, newline="", encoding="utf-8") as f:
        got = [float(row["loss"]) for row in csv.DictReader(f)]
    worst = max(abs(x - y) for x, y in zip(got, want, strict=True))
    print(f"loss of step {steps}: {got[-1]:.6f}, PyTorch's {want[-1]:.6f}; "
          f"at most {worst:.1e} apart")
    expect(f"losses differ by {worst}", worst <= LOSS_TOLERANCE)
    with np.load(out) as states:
        for name, w in after.items():
            change = np.linalg.norm(w - weights[name])
            error = np.linalg.norm(states[name] - w) / change
            expect(f"{name} differs by {error}", error < WEIGHT_TOLERANCE)


def check_accuracy(folder):
    train, test = (os.path.join(folder, n) for n in ("train", "test"))
    run(TDLC, "plan", MODEL, "-k", "8", "--train", "--optimizer", OPTIMIZER,
        "-o", f"{train}.plan")
    run(TDLC, "plan", MODEL, "-k", "8", "-o", f"{test}.plan")
    result = call(
        TDLRUN, f"{train}.plan", "--data", f"{train}.npz", "--epochs", "6",
        "--shuffle", "--lr-schedule", "cosine", "--evaluate", f"{test}.plan",
        "--evaluate-data", f"{test}.npz")
    right = result["evaluations"][-1]["means"]["right"]
    print(f"{right:.2%} right after {len(result['evaluations'])} epochs")
    expect("accuracy", right >= ACCURACY)
    for what in ("communication_bytes", "arena_bytes"):
        expect(what, result[what] == result[f"predicted_{what}"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=100)
    args = p.parse_args()
    optimize_kernels()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, os.path.join(EXAMPLE, "data.py"), folder)
        with np.load(os.path.join(folder, "train.npz")) as data:
            compare(folder, data, args.steps)
        check_accuracy(folder)
    finish()


main()
