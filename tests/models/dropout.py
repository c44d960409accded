# Tests: compiler/train runtime/run
"""Dropout in the networks of examples/models: it differs from step to step.

With a learning rate of 0 only what is left out changes the loss from one step
to the next: each has another, on any number of workers the same, and they lie
around the one without dropout.

	dropout.py [NAME...]
"""
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import MODELS, TDLC, TDLRUN, call, sample, words  # noqa: E402

try:
    import nets
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

STEPS = 6
SMALL = ["alexnet", "transformer", "bert", "gpt2"]  # what is quick


def losses(folder, name, ratio, k):
    """Of some steps that change no weight."""
    plan = os.path.join(folder, "plan")
    sizes = {**nets.NETS[name].sizes, "dropout": ratio}
    call(TDLC, "plan", os.path.join(MODELS, name + ".tdl"), "-o", plan, "-k",
         str(k), "--train", "--optimizer", "sgd,lr=0", *words(sizes))
    return call(TDLRUN, plan, "--steps", str(STEPS), "--kernels",
                "interpreter")["loss"]


def check(name):
    with tempfile.TemporaryDirectory() as folder:
        without = losses(folder, name, 0, 1)
        some = losses(folder, name, 0.2, 1)
        cut = losses(folder, name, 0.2, 4)
    assert max(without) - min(without) <= 1e-6 * without[0], without
    assert len(set(some)) == STEPS, f"the same is left out twice: {some}"
    assert all(abs(a - b) <= 1e-4 * abs(a) for a, b in zip(some, cut)), \
        f"on four workers {cut}, not {some}"
    far = abs(statistics.mean(some) - without[0])
    assert far <= max(3 * statistics.stdev(some), 0.05 * without[0]), \
        f"{some} do not lie around {without[0]}"
    return f"{without[0]:.4f} without, {min(some):.4f} to {max(some):.4f}"


def main():
    failed = 0
    for name in sys.argv[1:] or sample(SMALL):
        try:
            print(f"PASS: {name}: {check(name)}", flush=True)
        except Exception as e:  # whatever it is, the next is tried
            failed += 1
            print(f"FAIL: {name}: {e}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
