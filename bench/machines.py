"""Predicted beside measured times of a step, on this machine: tdlrun --calibrate,
then models of examples/models on one and two workers, in passes and in steps of
training.

    machines.py [--quick] [--rounds N] [--steps N] [--planners] [NAME..]

Each case has processors of its own number of workers.  A round runs every case
once, with --profile.  The judge is processor time, by the thread
(CLOCK_THREAD_CPUTIME_ID), as on a machine that other programs use a clock judges
these: of each instruction the median of its steps, on the worker where it takes
longest, and of these the least of all rounds; a step is the sum of its
instructions.  Wall times of steps are shown.  The second prediction takes the
profile of the first round; later rounds judge it, too.

With --planners, the plans of several planners for two workers: whether the order
of their predicted times is that of the measured ones (Kendall's tau), and
whether that of the bytes that they move is.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "examples", "models")
SIZES = {
    "mlp": "batch=512 width=1024 depth=6",
    "alexnet": "batch=4 classes=100 hidden=1024",
    "vgg19": "batch=1 image=96 hidden=512 classes=100",
    "resnet": "batch=2 image=176 depth=18 classes=100",
    "wresnet": "batch=1 image=112 depth=50 widen=2 classes=100",
    "densenet121": "batch=2 image=160 classes=100",
    "inception_v3": "batch=1 image=203 classes=100",
    "gpt2": "batch=2 tokens=256 vocabulary=4000 layers=4 width=384 heads=6",
    "gpt3": "batch=1 tokens=512 vocabulary=4000 layers=4 width=384 heads=6 "
            "window=128",
    "bert": "batch=4 tokens=128 vocabulary=4000 layers=4 width=384 heads=6",
    "transformer": "batch=8 tokens=64 vocabulary=4000 layers=3 width=384 "
                   "heads=6",
    "llama": "batch=1 tokens=256 vocabulary=4000 layers=4 width=512 heads=8 "
             "kv_heads=4 wide=1536",
    "moe": "batch=1 tokens=256 vocabulary=4000 layers=3 width=384 heads=6 "
           "kv_heads=3 wide=1024 experts=4 room=160",
    "vit": "batch=4 image=128 patch=8 layers=4 width=256 heads=4 classes=100",
    "unet": "batch=2 image=64 width=32 widen=[1,2] depth=1 attention_at=16 "
            "groups=8",
    "rnn": "batch=96 layers=2 hidden=512 steps=8 inputs=256 classes=100",
}


def run_on(processors, *command):
    """What a command prints on so many processors."""
    some = sorted(os.sched_getaffinity(0))[:processors]
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, some))
    return done.stdout


def calibrate(folder, k, quick):
    path = os.path.join(folder, f"machine-{k}.json")
    run_on(k, TDLRUN, "--calibrate", "-o", path,
           *(["--quick"] if quick else []))
    return path


def plan(case, machine, path, *how):
    name, k, train = case
    sizes = [x for s in SIZES[name].split() for x in ("-D", s)]
    out = run_on(2, TDLC, "plan", os.path.join(MODELS, name + ".tdl"),
                    *sizes, "-k", str(k), *(["--train"] if train else []), *how,
                    "--topology", machine, "-o", path, "--json")
    return json.loads(out)


def measure(k, path, steps, profile):
    """The time of a step: of the processors, by the clock."""
    if os.path.exists(profile):
        os.remove(profile)
    run_on(k, TDLRUN, path, "--steps", str(steps + 2), "--profile", profile,
           "--json")
    with open(profile, encoding="utf-8") as f:
        run = json.load(f)["runs"][0]
    busy = sum(max(w["seconds"] for w in i["workers"])
               for i in run["instructions"])
    return busy, run["seconds"]


def profiled(path, machine, profile):
    out = run_on(2, TDLC, "simulate", path, "--topology", machine,
                    "--profile", profile, "--json")
    return json.loads(out)["predicted_seconds"]


def summary(what, ratios):
    off = sorted(abs(r - 1) for r in ratios)
    near = sum(x <= .25 for x in off)
    print(f"{what}: median error {100 * statistics.median(off):.0f} %, "
          f"{near} of {len(off)} within 25 %, the most {100 * off[-1]:.0f} %; "
          f"measured / predicted {min(ratios):.2f} to {max(ratios):.2f}")


def tau(x, y):
    """Kendall's, of pairs that differ in both."""
    same = other = 0
    for i in range(len(x)):
        for j in range(i):
            sign = (x[i] - x[j]) * (y[i] - y[j])
            same += sign > 0
            other += sign < 0
    return (same - other) / (same + other) if same + other else None


def compare_models(a, folder, machines):
    cases = [(n, k, t) for n in a.names or SIZES for k in (1, 2)
             for t in (False, True)]
    paths = {c: os.path.join(folder, f"{i}.plan")
             for i, c in enumerate(cases)}
    predicted = {c: plan(c, machines[c[1]], paths[c])["predicted_seconds"]
                 for c in cases}
    found = {c: [] for c in cases}
    known = {}
    for r in range(a.rounds):
        for c in cases:
            profile = os.path.join(folder, "profile.json")
            found[c].append(measure(c[1], paths[c], a.steps, profile))
            if r == 0:
                known[c] = profiled(paths[c], machines[c[1]], profile)
    print("| model | k | | predicted | with a profile | processor | "
          "by predicted | by the second | wall |")
    print("|---|---|---|---|---|---|---|---|---|")
    ratios = [], []
    for c in cases:
        busy = min(x[0] for x in found[c])
        later = min(x[0] for x in found[c][1:] or found[c])
        ratios[0].append(busy / predicted[c])
        ratios[1].append(later / known[c])
        print(f"| {c[0]} | {c[1]} | {'train' if c[2] else ''} | "
              f"{1e3 * predicted[c]:.3g} ms | {1e3 * known[c]:.3g} ms | "
              f"{1e3 * busy:.3g} ms | {ratios[0][-1]:.2f} | "
              f"{ratios[1][-1]:.2f} | "
              f"{1e3 * min(x[1] for x in found[c]):.3g} ms |")
    summary("calibrated", ratios[0])
    summary("with a profile", ratios[1])


PLANNERS = ["tofu", "joint", "data-parallel", "megatron", "extended"]


def compare_planners(a, folder, machine):
    """The order of the planners' plans, model by model."""
    print("| model | plans | tau of predicted times | tau of bytes |")
    print("|---|---|---|---|")
    sums = []
    for name in a.names or SIZES:
        rows = {}
        for p in PLANNERS:
            path = os.path.join(folder, "p.plan")
            said = plan((name, 2, True), machine, path, "--algorithm", p)
            least = min(measure(2, path, a.steps,
                                os.path.join(folder, "p.json"))[0]
                        for _ in range(a.rounds))
            rows[said["predicted_seconds"], said["communication_bytes"]] = \
                least
        times = list(rows.values())
        both = [tau([r[i] for r in rows], times) for i in (0, 1)]
        print(f"| {name} | {len(rows)} | " + " | ".join(
            "-" if x is None else f"{x:.2f}" for x in both) + " |",
            flush=True)
        if None not in both:
            sums.append(both)
    print(f"mean of {len(sums)} models: predicted "
          f"{statistics.mean(x[0] for x in sums):.2f}, bytes "
          f"{statistics.mean(x[1] for x in sums):.2f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--quick", action="store_true",
                   help="calibrate in seconds")
    p.add_argument("--planners", action="store_true",
                   help="compare the order of planners")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        machines = {k: calibrate(folder, k, a.quick)
                    for k in ((2,) if a.planners else (1, 2))}
        if a.planners:
            compare_planners(a, folder, machines[2])
        else:
            compare_models(a, folder, machines)
    print(f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")


main()
