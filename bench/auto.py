"""auto beside every plan that it might have chosen: it should never be slower.

	auto.py [--every N] [--from I] [-k 2,4,8] [--machine T,T..]
		[--micro-batches M,M..] [--shares 1,0.8] [NAME...]

Small networks of examples/models, run and trained, are planned by auto, by each
planner alone, and in stages of equally many devices and replicas by each
schedule, without a limit of memory and with shares of what auto's plan needs
without one.  Each line is a case in which auto is slower than the fastest of the
others that fit, by more than rounding, or than itself within less memory.  The
machine "two" has two boxes with a slow link between them.  --every N takes one
case of N, from number I on.  The status is 1 where there is such a case.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
TDLC = os.environ.get("TDLC", "./tdlc")
NETS = {
    "mlp": ["batch=256", "width=1024"],
    "gpt2": ["batch=16", "layers=2", "tokens=128", "width=256", "heads=4",
             "vocabulary=2000"],
    "vgg19": ["batch=32", "image=64", "hidden=1024"],
    "moe": ["batch=16", "layers=2", "tokens=64", "width=256", "heads=4",
            "kv_heads=2", "wide=512", "room=40", "vocabulary=1000"],
    "rnn": ["batch=64", "layers=2", "steps=4", "hidden=512"],
    "alexnet": ["batch=64"],
    "unet": ["batch=16", "width=32", "depth=1"],
    "vit": ["batch=16", "layers=2", "width=256", "heads=4"],
    "llama": ["batch=16", "layers=2", "tokens=64", "width=256", "heads=4",
              "kv_heads=2", "wide=512", "vocabulary=1000"],
    "transformer": ["batch=16", "layers=1", "tokens=64", "width=256",
                    "heads=4", "vocabulary=1000"],
    "resnet": ["batch=32", "image=64", "width=16"],
}
OPTIMIZERS = [None, "adamw"]  # without one it is not trained
PLANNERS = ("tofu", "joint", "extended", "levels", "optcnn", "equalchop", "spartan",
            "allrow", "data-parallel", "megatron", "pase")
SCHEDULES = "1f1b", "gpipe", "zb", "interleaved:2"
NO_PLAN = 3  # the status of tdlc where there is none
ROUNDING = 1e-6


def two_boxes(k, folder):
    """The path of a machine of two boxes."""
    path = os.path.join(folder, f"two{k}.json")
    levels = [{"name": "between", "size": 2, "latency": 3e-5,
               "bandwidth": 1e9},
              {"name": "inside", "size": k // 2, "latency": 3e-6,
               "bandwidth": 1e11}]
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"format": "tdl-topology", "version": 1, "name": "two",
                   "device": {"bandwidth": 1e12, "flops": {"f32": 2e13},
                              "launch": 4e-6},
                   "levels": [x for x in levels if x["size"] > 1]}, f)
    return path


def tell(*command):
    """What tdlc says; None where nothing fits."""
    done = subprocess.run([TDLC, *command, "--json"], capture_output=True,
                          text=True)
    if done.returncode not in (0, NO_PLAN):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else None


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


class Case:
    """A network on a machine."""

    def __init__(self, name, optimizer, k, machine, turns, folder):
        self.text = (f"{name:11} {'run' if not optimizer else 'train':5} "
                     f"{k:2} {machine:13} {turns:3}")
        self.k = k
        train = ["--train", "--optimizer", optimizer] if optimizer else []
        self.model = [os.path.join(MODELS, name + ".tdl"),
                      *(f"-D{s}" for s in NETS[name]), *train, "-k", str(k),
                      "--topology",
                      two_boxes(k, folder) if machine == "two" else machine,
                      "--micro-batches", str(turns), "--micro-batch-statistics"]

    def plan(self, limit, *how):
        """Seconds and bytes of a plan; None if there is none."""
        told = tell("plan", *self.model, *how, *limit)
        return told and (told["predicted_seconds"],
                         told["peak_bytes_per_device"])

    def others(self, limit):
        """The seconds of the plans that fit, by what made them."""
        told = tell("compare", *self.model, *limit,
                    *(f"--algorithm={p}" for p in PLANNERS))
        found = {p["algorithm"]: p["predicted_seconds"]
                 for p in told["planners"]
                 if "error" not in p and p.get("fits", True)}
        for stages, schedule in itertools.product(divisors(self.k), SCHEDULES):
            for replicas in divisors(self.k // stages) if stages > 1 else []:
                how = ["--stages", str(stages), "--replicas", str(replicas),
                       "--schedule", schedule]
                told = self.plan(limit, *how)
                if told:
                    found[" ".join(how)] = told[0]
        return found

    def judge(self, limit, seconds, found):
        """Whether seconds are the least; prints a line if not."""
        best = min(found, key=found.get, default=None)
        if not best or (seconds or float("inf")) <= \
                found[best] * (1 + ROUNDING):
            return 1
        ratio = seconds / found[best] if seconds else float("inf")
        print(f"{self.text} {' '.join(limit)[9:] or '-':>12} "
              f"{seconds or 0:10.4g} {found[best]:10.4g} {ratio:7.4f}  {best}",
              flush=True)
        return ratio

    def compare(self, shares):
        """The ratios of auto's seconds to the least of the others'."""
        roomy = self.plan([], "--algorithm", "auto")
        before = {}
        for share in reversed(shares):
            limit = ["--memory", str(int(share * roomy[1]))] \
                if share < 1 else []
            auto = self.plan(limit, "--algorithm", "auto") if limit else roomy
            found = {**self.others(limit), **before}
            yield self.judge(limit, auto and auto[0], found)
            before = {**before, **({f"auto in {share}": auto[0]} if auto
                                   else {})}


def main():
    def words(s):
        return s.split(",")

    def numbers(s):
        return [int(n) for n in words(s)]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--from", type=int, default=0, metavar="I",
                        dest="first")
    parser.add_argument("-k", type=numbers, default=[2, 4, 8])
    parser.add_argument("--machine", type=words,
                        default=["8xh100-nvlink", "8xk80", "cpu", "two"])
    parser.add_argument("--micro-batches", type=numbers, default=[1, 4])
    parser.add_argument("--shares", default=[1.0, 0.8],
                        type=lambda s: [float(x) for x in words(s)])
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    cases = list(itertools.product(args.names or NETS, OPTIMIZERS, args.k,
                                   args.machine, args.micro_batches))
    print("network           k machine         M       memory       auto      "
          "least   ratio  by")
    with tempfile.TemporaryDirectory() as folder:
        ratios = [r for c in cases[args.first::args.every]
                  for r in Case(*c, folder).compare(args.shares)]
    worse = sum(r > 1 for r in ratios)
    print(f"auto is slower in {worse} of {len(ratios)} cases, at most "
          f"{max(ratios, default=1):.4f} times")
    sys.exit(worse > 0)


if __name__ == "__main__":
    main()
