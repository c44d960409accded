# Tests: runtime/run
"""The transformer of examples/characters, small.

In a few steps on four workers its loss falls by far more than the frequencies
of characters explain.  The text that it writes is the same, character by
character, on any number of workers, and moves on by one in each step.
"""
import csv
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import EXAMPLES, TDLC, TDLRUN, expect, finish, run  # noqa: E402

EXAMPLE = os.path.join(EXAMPLES, "characters")
MODEL = os.path.join(EXAMPLE, "characters.tdl")
TEXT = os.path.join(EXAMPLE, "persuasion.txt")
SMALL = ["-Dwidth=32", "-Dlayers=1", "-Dheads=2"]
STEPS = 60


def entropy(text):
    """The entropy of single characters, in nats."""
    _, counts = np.unique(list(text), return_counts=True)
    p = counts / counts.sum()
    return -(p * np.log(p)).sum()


def train(folder, checkpoints):
    plan, log = (os.path.join(folder, n) for n in ("train.plan", "log.csv"))
    run(TDLC, "plan", MODEL, "--model", "characters", *SMALL, "-k", "4",
         "--train", "--optimizer", "adamw", "--clip-norm", "1", "-o", plan)
    run(TDLRUN, plan, "--data", os.path.join(folder, "train.npz"),
         "--shuffle", "--steps", str(STEPS), "--learning-rate", "0.01",
         "--checkpoint", checkpoints, "--log", log)
    with open(log, newline="", encoding="utf-8") as f:
        return [float(row["loss"]) for row in csv.DictReader(f)]


def write(folder, checkpoints, k, steps):
    plan, out = (os.path.join(folder, n) for n in (f"{k}.plan", "out.npz"))
    run(TDLC, "plan", MODEL, "--model", "sample", *SMALL, "-Dlength=64",
         "-k", str(k), "-o", plan)
    run(TDLRUN, plan, "--parameters", checkpoints, "--steps", str(steps),
         "--outputs", out)
    with np.load(out) as arrays:
        expect("the count of steps", arrays["count"] == steps)
        expect("the last character",
               arrays["letter"] == arrays["text"][0, -1])
        return arrays["text"][0]


def main():
    with open(TEXT, encoding="utf-8") as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, os.path.join(EXAMPLE, "data.py"), TEXT, folder)
        checkpoints = os.path.join(folder, "checkpoints")
        losses = train(folder, checkpoints)
        last = np.mean(losses[-10:])
        print(f"loss {losses[0]:.3f}, then {last:.3f}; characters by "
              f"themselves have {entropy(text):.3f}")
        expect("it does not learn", last < entropy(text) - 0.3)
        written = {k: write(folder, checkpoints, k, 40) for k in (1, 2, 3)}
        for k, letters in written.items():
            expect(f"{k} workers write something else",
                   np.array_equal(letters, written[1]))
        more = write(folder, checkpoints, 1, 45)
        expect("it did not move on", np.array_equal(more[:-5], written[1][5:]))
        expect("no character", more.min() >= 0 and
               more.max() < len(set(text)))
        command = [sys.executable, os.path.join(EXAMPLE, "data.py"), TEXT,
                   "--decode", os.path.join(folder, "out.npz")]
        expect("no text", set(run(*command)) <= set(text))
    finish()


main()
