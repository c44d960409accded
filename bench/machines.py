"""Predicted beside measured times of a step, on this machine: tdlrun --calibrate,
then models of examples/models, in passes and in steps of training.

    machines.py [--quick] [--rounds N] [--steps N] [--nice N] [--minutes N]
                [--ways LIST] [--planners] [NAME..]

Ways to run a model, of which --ways names some:

    1       one worker, on one processor
    2       two workers that are threads, on two processors
    mpi     two processes of MPI, each bound to a processor
    stages  training in two stages, 4 micro-batches, on two processors
    4       four threads on two processors; in the table, not in the summary

The judge is processor time, by the thread (CLOCK_THREAD_CPUTIME_ID), as on a
machine that other programs use a clock judges these: of each instruction the
median of its steps, on the worker where it takes longest.  A step is the sum of
its instructions.  Of stages it is replayed: each takes its instructions in the
order in which it was seen to take them, each as long as that median, but for a
message it waits until that was sent; the last stage's end is the step's.  Of
several rounds, one after the other, the least counts.  Four threads wait for
processors: they are judged by the clock, by the median of the steps.  By the
clock all are shown, and stages are summed up by it, too.  The second prediction
takes the profile of the first round, and later rounds judge it.

With --planners, the plans of several planners for two workers: whether the order
of their predicted times is that of the measured ones (Kendall's tau), and
whether that of the bytes that they move is.  Plans whose measured times are
within 2 % are in no order.

--nice -15 lets what is measured go before other programs, where the user may.
After --minutes no further case begins, and what there is is summed up.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "examples", "models")
# 0.06 to 0.62 s a step on a processor of today.
SIZES = {
    "mlp": "batch=512 width=1024 depth=6",
    "alexnet": "batch=4 classes=100 hidden=1024",
    "vgg19": "batch=4 image=48 hidden=512 classes=100",
    "resnet": "batch=4 image=128 depth=18 classes=100",
    "wresnet": "batch=4 image=64 depth=50 widen=2 classes=100",
    "densenet121": "batch=4 image=112 classes=100",
    "inception_v3": "batch=4 image=107 classes=100",
    "gpt2": "batch=4 tokens=128 vocabulary=4000 layers=4 width=384 heads=6",
    "gpt3": "batch=4 tokens=128 vocabulary=4000 layers=4 width=384 heads=6 "
            "window=32",
    "bert": "batch=4 tokens=128 vocabulary=4000 layers=4 width=384 heads=6",
    "transformer": "batch=8 tokens=64 vocabulary=4000 layers=3 width=384 "
                   "heads=6",
    "llama": "batch=4 tokens=64 vocabulary=4000 layers=4 width=512 heads=8 "
             "kv_heads=4 wide=1536",
    "moe": "batch=4 tokens=64 vocabulary=4000 layers=3 width=384 heads=6 "
           "kv_heads=3 wide=1024 experts=4 room=40",
    "vit": "batch=4 image=128 patch=8 layers=4 width=256 heads=4 classes=100",
    "unet": "batch=4 image=32 width=64 widen=[1,2] depth=1 attention_at=16 "
            "groups=8",
    "rnn": "batch=96 layers=2 hidden=512 steps=8 inputs=256 classes=100",
}

WAYS = ["1", "2", "mpi", "stages", "4"]
WORKERS = {"1": 1, "2": 2, "mpi": 2, "stages": 2, "4": 4}
STAGES = ["--stages", "2", "--micro-batches", "4", "--micro-batch-statistics"]


class Bench:
    """The options, a folder, and the machines that were measured."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.end = time.monotonic() + 60 * options.minutes
        self.machines = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def is_over(self):
        return time.monotonic() > self.end

    def run_on(self, processors, *command):
        """What a command prints on so many processors."""
        some = sorted(os.sched_getaffinity(0))[:processors]

        def begin():
            os.sched_setaffinity(0, some)
            os.nice(self.options.nice)

        done = subprocess.run(command, capture_output=True, text=True,
                              preexec_fn=begin)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def tdlrun(self, way, *arguments):
        if way != "mpi":
            return self.run_on(min(WORKERS[way], 2), TDLRUN, *arguments)
        return self.run_on(2, *os.environ.get("MPIRUN", "mpirun").split(),
                           "--bind-to", "core", "-n", "2", TDLRUN, "--comm",
                           "mpi", *arguments)

    def machine(self, way):
        """That of the processors and the transport of a way; measured once."""
        key = way if way in ("1", "mpi") else "2"
        if key not in self.machines:
            path = self.path(f"machine-{key}.json")
            self.tdlrun(key, "--calibrate", "-o", path,
                        *(["--quick"] if self.options.quick else []))
            self.machines[key] = path
        return self.machines[key]

    def plan(self, case, path, *how):
        name, way, train = case
        sizes = [x for s in SIZES[name].split() for x in ("-D", s)]
        out = self.run_on(
            2, TDLC, "plan", os.path.join(MODELS, name + ".tdl"), *sizes, "-k",
            str(WORKERS[way]), *(["--train"] if train else []),
            *(STAGES if way == "stages" else []), *how, "--topology",
            self.machine(way), "-o", path, "--json")
        return json.loads(out)

    def measure(self, way, path):
        """The time of a step: of the judge, by the clock."""
        profile, trace = self.path("profile.json"), self.path("trace.json")
        if os.path.exists(profile):
            os.remove(profile)
        self.tdlrun(way, path, "--steps", str(self.options.steps + 2),
                    "--profile", profile, "--trace", trace, "--json")
        with open(profile, encoding="utf-8") as f:
            run = json.load(f)["runs"][0]
        with open(trace, encoding="utf-8") as f:
            spans = [e for e in json.load(f)["traceEvents"] if e["ph"] == "X"]
        if way == "4":
            return run["seconds"], run["seconds"]
        return (replayed(run, spans) if way == "stages" else
                sum(map(longest, run["instructions"]))), run["seconds"]

    def profiled(self, way, path):
        out = self.run_on(2, TDLC, "simulate", path, "--topology",
                          self.machine(way), "--profile",
                          self.path("profile.json"), "--json")
        return json.loads(out)["predicted_seconds"]


def longest(instruction):
    return max(w["seconds"] for w in instruction["workers"])


def replayed(run, spans):
    """The end of a step of stages of one worker each."""
    rows, programs = iter(run["instructions"]), []
    for worker in range(run["devices"]):
        programs.append([next(rows) for e in spans if e["pid"] == worker])
    assert next(rows, None) is None
    now, sent = [0] * len(programs), {}
    while any(programs):
        before = sum(map(len, programs))
        for worker, left in enumerate(programs):
            while left:
                i = left[0]
                message = i["name"], i["micro_batch"]
                if i["kind"] == "receive":
                    if message not in sent:
                        break
                    now[worker] = max(now[worker], sent[message])
                now[worker] += longest(left.pop(0))
                if i["kind"] == "send":
                    sent[message] = now[worker]
        assert sum(map(len, programs)) < before
    return max(now)


def summary(what, ratios):
    off = sorted(abs(r - 1) for r in ratios)
    near = sum(x <= .25 for x in off)
    if off:
        print(f"{what}: median error {100 * statistics.median(off):.0f} %, "
              f"{near} of {len(off)} within 25 %, the most "
              f"{100 * off[-1]:.0f} %; measured / predicted "
              f"{min(ratios):.2f} to {max(ratios):.2f}")


def compare_case(b, case):
    """Prints a row; by how much the predictions are off."""
    name, way, train = case
    path = b.path("case.plan")
    predicted = b.plan(case, path)["predicted_seconds"]
    found = [b.measure(way, path)]
    known = b.profiled(way, path)
    found += [b.measure(way, path) for _ in range(1, b.options.rounds)]
    busy = min(x[0] for x in found)
    later = min(x[0] for x in found[1:]) / known if found[1:] else None
    print(f"| {name} | {way} | {'training' if train else ''} | "
          f"{1e3 * predicted:.3g} ms | {1e3 * known:.3g} ms | "
          f"{1e3 * busy:.3g} ms | {busy / predicted:.2f} | "
          f"{f'{later:.2f}' if later else '-'} | "
          f"{1e3 * min(x[1] for x in found):.3g} ms | "
          f"{os.getloadavg()[0]:.0f} |", flush=True)
    return busy / predicted, later, min(x[1] for x in found) / predicted


def compare_models(b):
    ways = b.options.ways.split(",") if b.options.ways else WAYS
    cases = [(n, w, t) for w in ways for n in b.options.names or SIZES
             for t in (False, True) if t or w != "stages"]
    print("| model | way | | predicted | with a profile | measured | "
          "by predicted | by the second | clock | load |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    ratios, failed = {}, 0
    for c in cases:
        if b.is_over():
            print(f"{len(cases) - len(ratios) - failed} cases not begun")
            break
        try:
            ratios[c] = compare_case(b, c)
        except RuntimeError as e:
            failed += 1
            print(f"{c}: {e}", file=sys.stderr, flush=True)
    for w in ways:
        summary(f"way {w}, calibrated",
                [r[0] for c, r in ratios.items() if c[1] == w])
    summary("way stages, by the clock",
            [r[2] for c, r in ratios.items() if c[1] == "stages"])
    counted = [r for c, r in ratios.items() if c[1] != "4"]
    summary("calibrated", [r[0] for r in counted])
    summary("with a profile", [r[1] for r in counted if r[1]])
    if failed:
        print(f"{failed} failed")
    return failed == 0


# ---- the order of planners ---------------------------------------------------

PLANNERS = ["tofu", "joint", "data-parallel", "megatron", "extended", "levels"]
ALIKE = 1.02


def tau(x, y):
    """Kendall's, of pairs that differ in x, and in y by what is no noise."""
    same = other = 0
    for i in range(len(x)):
        for j in range(i):
            if max(y[i], y[j]) < ALIKE * min(y[i], y[j]):
                continue
            sign = (x[i] - x[j]) * (y[i] - y[j])
            same += sign > 0
            other += sign < 0
    return (same - other) / (same + other) if same + other else None


def compare_planners(b):
    """The order of the planners' plans, model by model."""
    print("| model | plans | predicted | measured | MB moved | "
          "tau of predicted times | tau of bytes |")
    print("|---|---|---|---|---|---|---|")
    sums = []
    for name in b.options.names or SIZES:
        if b.is_over():
            break
        rows = {}
        for p in PLANNERS:
            path = b.path("p.plan")
            said = b.plan((name, "2", True), path, "--algorithm", p)
            key = said["predicted_seconds"], said["communication_bytes"]
            if key not in rows:
                rows[key] = min(b.measure("2", path)[0]
                                for _ in range(b.options.rounds))
        times = list(rows.values())
        both = [tau([r[i] for r in rows], times) for i in (0, 1)]
        print(f"| {name} | {len(rows)} | " + " | ".join(
            ", ".join(f"{f * v:.3g}" for v in x) for f, x in
            ((1e3, [r[0] for r in rows]), (1e3, times),
             (1e-6, [r[1] for r in rows]))) + " | " + " | ".join(
                 "-" if x is None else f"{x:.2f}" for x in both) + " |",
              flush=True)
        if None not in both:
            sums.append(both)
    if sums:
        print(f"mean of {len(sums)} models: predicted "
              f"{statistics.mean(x[0] for x in sums):.2f}, bytes "
              f"{statistics.mean(x[1] for x in sums):.2f}")
    return True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--nice", type=int, default=0)
    p.add_argument("--minutes", type=float, default=1e6)
    p.add_argument("--ways")
    p.add_argument("--quick", action="store_true",
                   help="calibrate in seconds")
    p.add_argument("--planners", action="store_true",
                   help="compare the order of planners")
    p.add_argument("names", nargs="*")
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(p.parse_args(), folder)
        good = compare_planners(b) if b.options.planners else \
            compare_models(b)
    print(f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")
    return 0 if good else 1


sys.exit(main())
