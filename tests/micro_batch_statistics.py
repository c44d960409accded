# Tests: compiler/graph compiler/lower plan runtime
"""Micro-batches with statistics of their own do what runs of each of them do.

A network whose normalisations need sums over the batch is trained for a step of
SGD with --micro-batch-statistics, and for a step on each micro-batch alone, by
another plan, which has a batch of that size and no micro-batches.  All states
are then the means of those of these runs, since the update is linear in the
gradient and the loss a mean: weights, and running statistics, too.
"""
import itertools
import os
import tempfile

import numpy as np

from programs import MODELS, TDLC, TDLRUN, call, expect, finish, sample

BATCH = 8
KEPT = 0.9  # of a running variance, 1 at first
SIZES = {
    "densenet121": "classes=10 image=32 growth=4 depth=[2,3,2,1]",
    "resnet": "classes=10 image=64 depth=18 width=4",
}
ALGORITHMS = "tofu", "data-parallel", "extended"


def plan(folder, name, net, k, batch, *more):
    path = os.path.join(folder, name)
    words = [w for size in [f"batch={batch}", *SIZES[net].split()]
             for w in ("-D", size)]
    made = call(TDLC, "plan", os.path.join(MODELS, net + ".tdl"), *words,
                "-k", str(k), "--train", *more, "-o", path)
    return path, made


def run(folder, path, inputs, *more):
    """The outputs and the states after a step, and what was said of it."""
    fed, got = (os.path.join(folder, x) for x in ("in.npz", "out.npz"))
    np.savez(fed, **inputs)
    said = call(TDLRUN, path, "--inputs", fed, "--outputs", got, "--kernels",
                "interpreter", "--learning-rate", "0.5", *more)
    with np.load(got) as z:
        return {name: z[name].astype(np.float64) for name in z.files}, said


def scaled(got, want):
    """A running variance takes n/(n - 1) of a variance, for the whole batch's n:
    less than for a micro-batch's, by one factor for all channels."""
    factor = np.median(got / want)
    assert 0.5 <= factor <= 1 + 1e-6, f"factor {factor}"
    return want * factor


def check(folder, net, turns, k, by):
    at = f"{net}, {turns} micro-batches, {k} devices, {by}"
    rng = np.random.default_rng(turns)
    image = int(SIZES[net].split("image=")[1].split()[0])
    x = rng.standard_normal((BATCH, 3, image, image)).astype(np.float32)
    label = rng.integers(0, 10, BATCH)
    path, planned = plan(folder, "all", net, k, BATCH, "--algorithm", by,
                         "--micro-batches", str(turns),
                         "--micro-batch-statistics")
    got, said = run(folder, path, {"x": x, "label": label}, "--verify")
    expect(f"{at}: verified", said["verified"])
    expect(f"{at}: bytes", said["communication_bytes"] ==
           planned["communication_bytes"])
    expect(f"{at}: arena", said["arena_bytes"] ==
           planned["peak_bytes_per_device"])
    part, _ = plan(folder, "part", net, 1, BATCH // turns)
    alone = [run(folder, part, {"x": px, "label": pl})[0] for px, pl in
             zip(np.split(x, turns), np.split(label, turns))]
    for name, value in got.items():
        each = np.stack([one[name] for one in alone])
        if value.shape != each.shape[1:]:
            continue  # an output of all samples
        want = each.mean(axis=0)
        if name.endswith(".var"):
            value, want = value - KEPT, scaled(value - KEPT, want - KEPT)
        worst = np.abs(value - want).max() / (np.abs(want).max() + 1e-3)
        expect(f"{at}: {name} differs by {worst:.2g}", worst < 5e-4)


def main():
    cases = list(itertools.product(SIZES, (2, 4), (1, 2), ALGORITHMS))
    with tempfile.TemporaryDirectory() as folder:
        for case in sample(cases, 11):
            try:
                check(folder, *case)
            except AssertionError as e:
                expect(f"{case}: {e}", False)
    finish()


if __name__ == "__main__":
    main()
