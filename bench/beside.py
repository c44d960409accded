"""Processor time of this build's tdlc beside that of another commit's: the plans of
plans.py and the descriptors of the other's library; and what the solver says of the
searches of search.py, which are shorter than the start of a process.

	beside.py [--repeat R] [--under RATIO] OLD [NAME...]

OLD: the other's build folder, below its sources, with the same CFLAGS.  NAME: rows,
or beginnings of their names, `plan.rnn', `search.grid', `compile'.  The two take turns,
R times each, and the least counts.  A row that one of the two cannot do is left out,
and said.  Ends with an error if a ratio is above RATIO.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

import plans
import search

HERE = os.path.dirname(os.path.abspath(__file__))
TDLC = os.environ.get("TDLC", "./tdlc")


def seconds(tdlc, opdefs, args):
    """Of a processor, in the program itself and in the system, or those that a
    search says it took; None if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([tdlc, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, text=True,
                          env={**os.environ, "TDL_OPDEFS": opdefs})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    if args[0] == "solve":
        return json.loads(done.stdout)["seconds"]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(folder, library):
    """Names and arguments."""
    for path in search.made_up(folder):
        name = os.path.basename(path)[:-len(".wcsp")]
        yield f"search.{name}", ["solve", path, "--json"]
    for name, (model, devices, options) in plans.ROWS.items():
        yield f"plan.{name}", [
            "plan", os.path.join(plans.MODELS, model), "-k", str(devices),
            "--train", *options, "--json"]
    files = [os.path.join(library, f) for f in sorted(os.listdir(library))
             if f.endswith(".tdl")]
    yield "compile", ["compile", *files, "-o", os.devnull]


def least(programs, args, repeat):
    """Of both programs, by turns; a program that fails has none."""
    best = [None, None]
    for _ in range(repeat):
        for i, (tdlc, opdefs) in enumerate(programs):
            took = seconds(tdlc, opdefs, args)
            if took is None:
                return [None, None]
            best[i] = took if best[i] is None else min(best[i], took)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, metavar="R")
    parser.add_argument("--under", type=float, metavar="RATIO")
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    library = os.path.join(args.old, "..", "opdefs")
    programs = [(os.path.join(args.old, "tdlc"), library),
                (TDLC, os.path.join(HERE, "..", "opdefs"))]
    worst = 0
    print(f"{'':34} {'old s':>8} {'new s':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name, row in rows(folder, library):
            if args.names and not name.startswith(tuple(args.names)):
                continue
            old, new = least(programs, row, args.repeat)
            if old is None:
                print(f"{name:34} not by both", flush=True)
                continue
            ratio = new / max(old, 1e-6)
            worst = max(worst, ratio)
            print(f"{name:34} {old:8.4f} {new:8.4f} {ratio:6.2f}",
                  flush=True)
    if args.under and worst > args.under:
        sys.exit(f"the greatest ratio is {worst:.2f}")


if __name__ == "__main__":
    main()
