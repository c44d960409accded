"""How much larger a network may be in stages of even memory than in stages of even
time.

	larger.py [-k K] [--memory SIZE] [--topology T] [--search] [NAME...]

Networks are trained in K stages of a device each, by 1f1b with 2 K micro-batches,
and grow as long as the arena of the fullest stage, as it is lowered, is within
SIZE: in the stages that take the least time, whatever they need, of which those
of least memory count (tdlc plan --algorithm mcap, with a limit that is none; where
it has no such stages tdlc plan --stages K), and in the stages of least memory
(--algorithm mcap), or with --search those that tdlc plan --memory SIZE finds, too.
Each line has both sizes, the ratio of the parameters, and the price: the larger
one's step, over that of its stages of least time.  Last are the geometric means.
"""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
TDLC = os.environ.get("TDLC", "./tdlc")
UNITS = {"KB": 1e3, "MB": 1e6, "GB": 1e9}
NO_PLAN = 3  # the status of tdlc where nothing fits
EVEN_TIMES = [["--algorithm", "mcap", "--memory", "1000000GB"], []]
LEAST_MEMORY = ["--algorithm", "mcap"]
# Name: what grows, the least that it grows by, the samples of a micro-batch, and
# the model with its options.
NETS = {
    "gpt2": ("layers", 1, 4, ["gpt2.tdl", "--optimizer", "adamw"]),
    "unet": ("width", 32, 32, ["unet.tdl", "--optimizer", "adamw"]),
    "resnet": ("width", 8, 16, ["resnet.tdl", "--micro-batch-statistics"]),
    "vgg19": ("width", 8, 16, ["vgg19.tdl"]),
    "wresnet": ("widen", 1, 4, ["wresnet.tdl", "-Ddepth=50"]),
}


def plan(args, name, size, how):
    """A plan as JSON; None where there is none."""
    what, step, samples, (model, *options) = NETS[name]
    done = subprocess.run(
        [TDLC, "plan", os.path.join(MODELS, model), *options, "--train",
         f"-D{what}={step * size}", f"-Dbatch={samples * 2 * args.k}", "-k",
         str(args.k), "--stages", str(args.k), "--micro-batches",
         str(2 * args.k), "--topology", args.topology, *how, "--json"],
        capture_output=True, text=True)
    if done.returncode not in (0, NO_PLAN):
        sys.exit(done.stderr)
    return json.loads(done.stdout) if done.returncode == 0 else None


def by_time(args, name, size):
    """The plan of least time, as None or JSON."""
    for how in EVEN_TIMES:
        told = plan(args, name, size, how)
        if told:
            return told
    return None


def by_memory(args, name, size):
    """A plan that fits, if one is found."""
    told = plan(args, name, size, LEAST_MEMORY)
    if args.search and not is_within(args, told):
        told = plan(args, name, size, ["--memory", str(args.memory)])
    return told


def is_within(args, told):
    return told and told["peak_bytes_per_device"] <= args.memory


def largest(args, name, low, make):
    """The largest size that fits, from `low' on, and its plan."""
    found, high = make(args, name, low), low + 1
    if not is_within(args, found):
        sys.exit(f"{name}: {low} of what grows does not fit")
    told = make(args, name, high)
    while is_within(args, told):
        low, high, found = high, 2 * high, told
        told = make(args, name, high)
    while high - low > 1:
        middle = (low + high) // 2
        told = make(args, name, middle)
        if is_within(args, told):
            low, found = middle, told
        else:
            high = middle
    return low, found


def compare(args, name):
    """Prints a line; returns the ratio, and the price."""
    what, step = NETS[name][:2]
    even, small = largest(args, name, args.least, by_time)
    most, large = largest(args, name, even, by_memory)
    ratio = large["parameters_bytes"] / small["parameters_bytes"]
    price = large["predicted_seconds"] / \
        by_time(args, name, most)["predicted_seconds"]
    print(f"{name:8} {what:7} {even * step:8} {most * step:9} {ratio:7.2f} "
          f"{price:7.2f}", flush=True)
    return ratio, price


def mean(x):
    return math.exp(sum(map(math.log, x)) / len(x))


def size(text):
    """The bytes of 16GB, as argparse takes it: ValueError where it is none."""
    unit = UNITS.get(text[-2:].upper())
    if not unit:
        raise ValueError(text)
    return int(float(text[:-2]) * unit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", type=int, default=8)
    parser.add_argument("--memory", type=size, default="16GB", metavar="SIZE")
    parser.add_argument("--topology", default="8xh100-nvlink")
    parser.add_argument("--search", action="store_true",
                        help="look for other stages that fit, too")
    parser.add_argument("--least", type=int, default=2, metavar="N",
                        help="begin with N times what a network grows by")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    for name in args.names:
        if name not in NETS:
            parser.error(f"'{name}' is none of {', '.join(NETS)}")
    print(f"{args.k} devices of {args.memory / 1e9:g} GB\n"
          "network  grows    by time by memory   ratio   price")
    found = [compare(args, n) for n in args.names or NETS]
    print(f"{'mean':34} {mean([r for r, _ in found]):7.2f} "
          f"{mean([p for _, p in found]):7.2f}")


if __name__ == "__main__":
    main()
