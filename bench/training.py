"""The time of a step of training, next to PyTorch.

Networks of examples/models and examples/digits at sizes of some hundred
million operations a step; gradient descent with a momentum.

	training.py [-k N] [--repeat R] [--json] [NAME...]

For each a row: the processor time of a step of PyTorch on one thread, that of
ours on one worker with one processor, their ratio; and how long a step takes on
N workers that share all processors, as a ratio to one worker on one processor.
Processor time says the same on a machine that others use, too; the last column
does not.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "examples")
sys.path.insert(0, os.path.join(HERE, "..", "tests", "models"))
import images  # noqa: E402
import layers  # noqa: E402
import text  # noqa: E402

TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")
OPTIMIZER = "sgd,lr=0.001,momentum=0.9"


def digits(p, image, label):
    def layer(p, x):
        return F.relu(layers.batch_norm(p, layers.conv(p.of("maps"), x)))
    x = layer(p.of("second"), layer(p.of("first"), image))
    x = layer(p.of("third"), F.max_pool2d(x, 2))
    return F.cross_entropy(layers.linear(p.of("logits"),
                                       F.max_pool2d(x, 2).flatten(1)), label)


# The model, its arguments, what PyTorch makes of it with which of these.
CASES = {
    "digits": ("digits/digits", {}, digits, []),
    "mlp": ("models/mlp", {"width": 512, "depth": 4}, images.mlp, ["depth"]),
    "resnet": ("models/resnet",
               {"batch": 8, "depth": 18, "image": 64, "width": 16,
                "classes": 10}, images.resnet, ["depth"]),
    "rnn": ("models/rnn", {"batch": 32, "layers": 2, "hidden": 128,
                           "inputs": 128, "classes": 64, "steps": 10},
            text.rnn, ["layers"]),
    "gpt2": ("models/gpt2", {"batch": 4, "tokens": 128, "vocabulary": 512,
                             "layers": 2, "width": 128, "heads": 4}, text.gpt, ["layers"]),
    "vit": ("models/vit", {"batch": 8, "image": 64, "patch": 8, "layers": 2,
                           "width": 128, "heads": 4, "classes": 10},
            images.vit, ["layers"]),
}


def call(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


# ---- what both are fed ------------------------------------------------------

def draw(plan):
    """States and inputs of a plan, by name."""
    rng = np.random.default_rng(0)
    values = {}
    with open(plan, encoding="utf-8") as f:
        tensors = json.load(f)["tensors"]
    for t in tensors:
        dims, name = t["shape"], t["name"]
        if t["type"] == "i64" and t["role"] == "input":
            values[name] = rng.integers(0, 10, dims)
        elif t["role"] == "state" and t["type"] == "f32":
            fan = np.prod(dims[1:] if len(dims) == 4 else dims[:1] or [1])
            x = rng.standard_normal(dims) * fan ** -0.5
            if name.endswith(("var", "scale")):
                x = 1 + 0.1 * abs(x)
            values[name] = x.astype(np.float32)
        elif t["role"] == "input" and t["type"] == "f32":
            values[name] = rng.standard_normal(dims).astype(np.float32)
    return values


# ---- the two of them --------------------------------------------------------

def per_step(seconds_of, repeat):
    """The time of a step from the difference of many and few; the least."""
    few, many = 2, 12
    return min((seconds_of(many) - seconds_of(few)) / (many - few)
               for _ in range(repeat))


def torch_seconds(case, values, inputs, repeat):
    _, sizes, loss, wanted = case
    p = {n: torch.tensor(v) for n, v in values.items() if n not in inputs}
    trained = [v.requires_grad_() for n, v in p.items()
               if not n.endswith(("mean", "var", "velocity"))]
    fed = {n: torch.tensor(v) for n, v in values.items() if n in inputs}
    optimizer = torch.optim.SGD(trained, lr=0.001, momentum=0.9)

    def seconds_of(steps):
        began = time.process_time()
        for _ in range(steps):
            optimizer.zero_grad()
            loss(layers.Params(p), **fed, **{n: sizes[n] for n in wanted}
                 ).backward()
            optimizer.step()
        return time.process_time() - began
    seconds_of(3)
    return per_step(seconds_of, repeat)


def one_seconds(plan, values, repeat):
    def seconds_of(steps):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([TDLRUN, plan, "--inputs", values, "--steps",
                        str(steps)], check=True, stdout=subprocess.DEVNULL,
                       preexec_fn=lambda: os.sched_setaffinity(
                           0, list(os.sched_getaffinity(0))[:1]))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime \
            - before.ru_utime - before.ru_stime
    call(TDLRUN, plan, "--inputs", values)      # compiles the kernels
    return per_step(seconds_of, repeat)


def all_seconds(plan, values, repeat):
    call(TDLRUN, plan, "--inputs", values)
    return min(json.loads(call(TDLRUN, plan, "--inputs", values, "--steps",
                               "10", "--json"))["seconds_per_step"]
               for _ in range(repeat))


def bench(folder, name, args):
    case = CASES[name]
    model = [os.path.join(EXAMPLES, case[0] + ".tdl"),
             *(f"-D{n}={v}" for n, v in case[1].items())]
    plans = {k: os.path.join(folder, f"{k}.plan") for k in (1, args.k)}
    for k, plan in plans.items():
        call(TDLC, "plan", *model, "--train", "--optimizer", OPTIMIZER, "-k",
             str(k), "-o", plan)
    values, path = draw(plans[1]), os.path.join(folder, "values.npz")
    np.savez(path, **values)
    shown = json.loads(call(TDLC, "show", *model, "--train", "--optimizer",
                            OPTIMIZER, "--json"))
    reference = torch_seconds(case, values, shown["inputs"], args.repeat)
    single = one_seconds(plans[1], path, args.repeat)
    together = all_seconds(plans[args.k], path, args.repeat)
    return {"name": name, "flops": shown["flops"],
            "pytorch_seconds": reference, "seconds": single,
            "to_pytorch": single / reference,
            "workers_to_one": together / single}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", type=int, default=8, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="R")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    torch.set_num_threads(1)
    results = []
    if not args.json:
        print(f"{'network':12}{'MFLOP':>8}{'PyTorch':>12}{'one worker':>12}"
              f"{'/ PyTorch':>11}{f'{args.k} / 1':>8}", flush=True)
    for name in args.names or CASES:
        with tempfile.TemporaryDirectory() as folder:
            r = bench(folder, name, args)
        results.append(r)
        if not args.json:
            print(f"{name:12}{r['flops'] / 1e6:8.0f}"
                  f"{r['pytorch_seconds'] * 1e3:9.2f} ms"
                  f"{r['seconds'] * 1e3:9.2f} ms{r['to_pytorch']:11.2f}"
                  f"{r['workers_to_one']:8.2f}", flush=True)
    if args.json:
        print(json.dumps({"devices": args.k, "networks": results}, indent=2))


if __name__ == "__main__":
    main()
