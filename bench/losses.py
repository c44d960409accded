"""GPT-2 small, trained in a pipeline, beside PyTorch: the loss of each step.

	losses.py [--steps N] [--stages P] [--tensors T] [--replicas D]
		[--micro-batches M] [--samples N] [--size NAME=N] [--keep FOLDER]

The network of examples/models/gpt2.tdl, with all its 124 million parameters but for
the places that --size tokens=N leaves out, begins with weights that are drawn,
takes other samples in each step, and is trained with AdamW, in stages of replicas
of devices that share tensors; PyTorch trains its twin (tests/models/nets.py) in
one piece.  Each line has both losses of a step and how far they are from each
other, of PyTorch's.  The status is 1 where that is more than a hundred-thousandth.

It needs tests/requirements-torch.txt, and about 12 GB.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "models"))
import layers  # noqa: E402
import text  # noqa: E402

MODEL = os.path.join(HERE, "..", "examples", "models", "gpt2.tdl")
TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")
SMALL = {"vocabulary": 50257, "layers": 12, "width": 768, "heads": 12,
         "tokens": 16}
RATE, DECAY = 3e-4, 0.01
TOLERANCE = 1e-5


def call(*command):
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def make_plan(args, sizes, path):
    k = args.stages * args.tensors * args.replicas
    options = [f"-D{n}={v}" for n, v in sizes.items()]
    return call(TDLC, "plan", MODEL, *options, f"-Dbatch={args.samples}",
                "-Ddropout=0", "--train", "--optimizer",
                f"adamw,lr={RATE},weight_decay={DECAY}", "-k", str(k),
                "--stages", str(args.stages), "--replicas",
                str(args.replicas), "--micro-batches",
                str(args.micro_batches), "-o", path)


def weights_of(path, rng):
    """The weights of a plan, as GPT-2 begins."""
    with open(path, encoding="utf-8") as f:
        plan = json.load(f)
    weights = {}
    for t in plan["tensors"]:
        name, dims = t["name"], t["shape"]
        kept = name.endswith((".mean", ".square")) or name == "optimizer.step"
        if t["role"] != "state" or kept or name in weights:
            continue
        if name.endswith(".scale"):
            weights[name] = np.ones(dims, np.float32)
        elif len(dims) == 1 or name.endswith(".b"):
            weights[name] = np.zeros(dims, np.float32)
        else:
            weights[name] = np.float32(0.02) * rng.standard_normal(
                dims, dtype=np.float32)
    return weights


def torch_losses(weights, data, args, sizes):
    p = {n: torch.tensor(v).requires_grad_() for n, v in weights.items()}
    by = torch.optim.AdamW(p.values(), lr=RATE, weight_decay=DECAY)
    losses = []
    for i in range(args.steps):
        at = slice(i * args.samples, (i + 1) * args.samples)
        ids, label = (torch.tensor(data[n][at]) for n in ("ids", "label"))
        by.zero_grad()
        loss = text.gpt(layers.Params(p), ids, label, sizes["layers"])
        loss.backward()
        by.step()
        losses.append(loss.item())
    return losses


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option, n in (("steps", 20), ("stages", 2), ("tensors", 2),
                      ("replicas", 2), ("micro-batches", 4), ("samples", 8)):
        parser.add_argument(f"--{option}", type=int, default=n)
    parser.add_argument("--size", action="append", default=[],
                        metavar="NAME=N")
    parser.add_argument("--keep", metavar="FOLDER")
    return parser.parse_args()


def main():
    args = parse_arguments()
    sizes = {**SMALL, **{n: int(v) for n, v in
                         (s.split("=") for s in args.size)}}
    rng = np.random.default_rng(1)
    n = args.steps * args.samples
    data = {x: rng.integers(0, sizes["vocabulary"], (n, sizes["tokens"]))
            for x in ("ids", "label")}
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        path, given, samples = (os.path.join(folder, x) for x in (
            "gpt2.plan", "weights.npz", "data.npz"))
        told = make_plan(args, sizes, path)
        weights = weights_of(path, rng)
        np.savez(given, **weights)
        np.savez(samples, **data)
        began = time.perf_counter()
        ran = call(TDLRUN, path, "--data", samples, "--parameters", given,
                   "--steps", str(args.steps))
        ours = ran["loss"]
        seconds = time.perf_counter() - began
    count = sum(v.size for v in weights.values())
    shapes = [(s["devices"], s["replicas"]) for s in told["stages"]]
    print(f"{count / 1e6:.1f} M parameters, {args.micro_batches} micro-batches; "
          f"devices and replicas of the stages: {shapes}; {seconds:.0f} s",
          flush=True)
    theirs = torch_losses(weights, data, args, sizes)
    worst = 0.0
    print("step       ours    PyTorch  apart")
    for i, (a, b) in enumerate(zip(ours, theirs)):
        worst = max(worst, abs(a / b - 1))
        print(f"{i:4} {a:10.6f} {b:10.6f} {abs(a / b - 1):.1e}")
    print(f"at most {worst:.1e} apart in {len(ours)} steps")
    sys.exit(len(ours) != args.steps or not worst <= TOLERANCE)


if __name__ == "__main__":
    main()
