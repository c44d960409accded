"""A mixture of experts on 8 devices: what auto finds beside known ways as pins.

	experts.py [-k 8] [--topology T,T..] [--micro-batches M,M..] [--size D=N]
		[--run]

examples/models/moe.tdl, trained with AdamW, by data parallelism and by expert
parallelism, pins/moe-*.pins, of which auto decides what they leave open, and by
auto alone, which may choose stages where there are micro-batches.  Each line has
the predicted seconds of a step; with --run each plan is run, too, and verified
against one worker.  The status is 1 where auto's is not at most the better of
the others, or something is not verified.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "examples", "models", "moe.tdl")
TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")
PINS = {n: os.path.join(HERE, "pins", f"moe-{n}.pins")
        for n in ("data", "experts")}
SIZES = ["batch=32", "tokens=512", "layers=2", "width=1024", "heads=8",
         "kv_heads=2", "wide=3584", "room=160"]
SMALL = ["batch=32", "tokens=8", "layers=2", "width=16", "heads=4",
         "kv_heads=2", "wide=32", "room=3", "vocabulary=24"]


def call(*command):
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def plan(args, machine, turns, pins, path):
    """The seconds of a plan, and how many stages it has."""
    told = call(TDLC, "plan", MODEL, *(f"-D{s}" for s in args.size), "--train",
                "--optimizer", "adamw", "-k", str(args.k), "--topology",
                machine, "--algorithm", "auto",
                *(["--micro-batches", str(turns),
                   "--micro-batch-statistics"] if turns else []),
                *(["--pins", pins] if pins else []), "-o", path)
    return told["predicted_seconds"], len(told.get("stages", [0]))


def is_verified(args, path):
    if not args.run:
        return True
    ran = call(TDLRUN, path, "--verify", "--kernels", "interpreter")
    return ran["verified"] and \
        ran["communication_bytes"] == ran["predicted_communication_bytes"]


def compare(args, machine, turns):
    """Prints a line; returns whether all is well."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan")
        seconds, well = {}, True
        for name, pins in {**PINS, "auto": None}.items():
            seconds[name], stages = plan(args, machine, turns, pins, path)
            well = is_verified(args, path) and well
    fast = seconds["auto"] <= min(seconds.values())
    print(f"{machine:14} {turns or '-':>4} " +
          " ".join(f"{s:11.4g}" for s in seconds.values()) +
          f" {stages:6}  {'' if fast else 'auto is slower'}"
          f"{'' if well else ' not verified'}", flush=True)
    return fast and well


def main():
    def words(s):
        return s.split(",")

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", type=int, default=8)
    parser.add_argument("--topology", type=words,
                        default=["8xh100-nvlink", "cpu", "8xk80"])
    parser.add_argument("--micro-batches", default=[0, 4],
                        type=lambda s: [int(n) for n in words(s)])
    parser.add_argument("--size", action="append")
    parser.add_argument("--run", action="store_true")
    args = parser.parse_args()
    args.size = args.size or (SMALL if args.run else SIZES)
    print("machine           M        data     experts        auto stages")
    good = [compare(args, t, m) for t in args.topology
            for m in args.micro_batches]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
