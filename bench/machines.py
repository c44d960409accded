"""Predicted beside measured times of a step, on this machine: tdlrun --calibrate,
then models of examples/models on one and two workers, in passes and in steps of
training.

    machines.py [--quick] [--rounds N] [--steps N] [NAME..]

Each case has processors of its own number of workers.  A round runs every case
once; two figures are kept of each: the least wall time of a step, and the least
processor time by the number of workers, which is not disturbed by other programs,
but counts waits that do not sleep.  A row has both, and how many times the
prediction each is.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "examples", "models")
SIZES = {
    "mlp": "batch=256 width=512 depth=6",
    "alexnet": "batch=4 image=96 width=16 hidden=256 classes=10",
    "vgg19": "batch=2 image=32 width=16 hidden=128 classes=10",
    "resnet": "batch=2 image=64 depth=18 width=32 classes=10",
    "densenet121": "batch=2 image=64 classes=10",
    "gpt2": "batch=4 tokens=128 vocabulary=1000 layers=2 width=128 heads=4",
    "bert": "batch=4 tokens=64 vocabulary=1000 layers=2 width=128 heads=4 "
            "wide=512",
    "transformer": "batch=4 tokens=64 vocabulary=1000 layers=2 width=128 "
                   "heads=4 wide=512",
    "vit": "batch=4 image=64 patch=8 layers=2 width=128 heads=4 wide=512 "
           "classes=10",
    "unet": "batch=2 image=32 width=32 widen=[1,2] depth=1 attention_at=16 "
            "groups=4",
    "rnn": "batch=32 layers=2 hidden=128 steps=8 inputs=64 classes=10",
}


def run_on(processors, *command):
    """What a command prints on so many processors, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    some = sorted(os.sched_getaffinity(0))[:processors]
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, some))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, (after.ru_utime - before.ru_utime +
                         after.ru_stime - before.ru_stime)


def calibrate(folder, k, quick):
    path = os.path.join(folder, f"machine-{k}.json")
    run_on(k, TDLRUN, "--calibrate", "-o", path,
           *(["--quick"] if quick else []))
    return path


def plan(case, machine, path):
    name, k, train = case
    sizes = [x for s in SIZES[name].split() for x in ("-D", s)]
    out, _ = run_on(2, TDLC, "plan", os.path.join(MODELS, name + ".tdl"),
                    *sizes, "-k", str(k), *(["--train"] if train else []),
                    "--topology", machine, "-o", path, "--json")
    return json.loads(out)["predicted_seconds"]


def measure(case, path, steps, into):
    """The time of the steps behind the first."""
    k = case[1]
    one, first = run_on(k, TDLRUN, path, "--json", "--steps", "1")
    many, all_ = run_on(k, TDLRUN, path, "--json", "--steps", str(steps + 1))
    wall = json.loads(many)["seconds_per_step"] * (steps + 1) - \
        json.loads(one)["seconds_per_step"]
    into["wall"].append(json.loads(many)["seconds_per_step"])
    if wall > 0:
        into["wall"].append(wall / steps)
    into["processor"].append((all_ - first) / steps / k)


def least(values):
    return min((v for v in values if v > 0), default=float("nan"))


def summary(what, ratios):
    off = sorted(abs(r - 1) for r in ratios)
    near = sum(x <= .25 for x in off)
    print(f"{what}: median error {100 * statistics.median(off):.0f} %, "
          f"{near} of {len(off)} within 25 %, the most {100 * off[-1]:.0f} %; "
          f"measured / predicted {min(ratios):.2f} to {max(ratios):.2f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--quick", action="store_true",
                   help="calibrate in seconds")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    cases = [(n, k, t) for n in a.names or SIZES for k in (1, 2)
             for t in (False, True)]
    with tempfile.TemporaryDirectory() as folder:
        machines = {k: calibrate(folder, k, a.quick) for k in (1, 2)}
        paths = {c: os.path.join(folder, f"{i}.plan")
                 for i, c in enumerate(cases)}
        predicted = {c: plan(c, machines[c[1]], paths[c]) for c in cases}
        found = {c: {"wall": [], "processor": []} for c in cases}
        for _ in range(a.rounds):
            for c in cases:
                measure(c, paths[c], a.steps, found[c])
    print(f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")
    print("| model | k | | predicted | wall | | processor | |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = {"wall": [], "processor": []}
    for c in cases:
        row = f"| {c[0]} | {c[1]} | {'train' if c[2] else ''} | " \
              f"{1e3 * predicted[c]:.3g} ms |"
        for how in ("wall", "processor"):
            s = least(found[c][how])
            ratios[how].append(s / predicted[c])
            row += f" {1e3 * s:.3g} ms | {s / predicted[c]:.2f} |"
        print(row)
    for how, r in ratios.items():
        summary(how, r)


main()
