"""ResNet-50 from ONNX, planned for 8 workers by every planner, run, verified.

Shows how a script uses tdlc and tdlrun: by their JSON.  `./quickstart` runs it.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx"))

import light  # noqa: E402

ALGORITHMS = ("tofu", "data-parallel", "allrow")
BATCH = 8


def say(text):
    print(f"==> {text}", flush=True)


def call(*command):
    """The JSON that a program prints; ends this script where it fails."""
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE)
    if done.returncode not in (0, 5):
        sys.exit(f"resnet50: this failed with status {done.returncode}: "
                 + " ".join(command))
    return json.loads(done.stdout)


def size(nbytes):
    return f"{nbytes / 1e6:,.1f} MB"


def table(rows):
    """Prints rows of text, the first column to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for first, *others in rows:
        line = "  " + first.ljust(widths[0]) + "".join(
            text.rjust(width + 2) for text, width in zip(others, widths[1:]))
        print(line.rstrip())


def report(plans, run):
    tofu = plans["tofu"]
    k = tofu["devices"]
    print(f"\nResNet-50, batch {BATCH}, on {k} workers: "
          f"{tofu['operators']} operators, "
          f"{size(tofu['parameters_bytes'])} of parameters\n")
    rows = [("", "moved per run", "peak per worker", "search")]
    for name, plan in plans.items():
        rows.append((name, size(plan["communication_bytes"]),
                     size(plan["peak_bytes_per_device"]),
                     f"{plan['search_seconds'] * 1000:.1f} ms"))
    rows.append(("one device", "-", size(tofu["peak_bytes_one_device"]), "-"))
    table(rows)
    print("  (tofu and allrow cut every tensor, weights too; data-parallel "
          "cuts the batch,\n  and every worker keeps all weights)")
    for name, plan in plans.items():
        if plan["note"]:
            print(f"  {name}: {plan['note']}")
    print(f"\nThe tofu plan, run on {k} workers and on one:")
    table([
        ("moved", f"{run['communication_bytes']:,} bytes",
         "as predicted" if run["communication_bytes"]
         == run["predicted_communication_bytes"] else "NOT as predicted"),
        ("peak per worker", f"{run['arena_bytes']:,} bytes",
         "as predicted" if run["arena_bytes"] == run["predicted_arena_bytes"]
         else "NOT as predicted"),
        ("time", f"{run['seconds_per_step']:.3f} s", ""),
        ("relative error", f"{run['max_rel_error']:.1e}",
         "verified" if run["verified"] else "NOT VERIFIED"),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", metavar="DIR",
                        help="where tdlc and tdlrun are (%(default)s)")
    parser.add_argument("--out", default="build/demo", metavar="DIR",
                        help="where the model and the plans go (%(default)s)")
    parser.add_argument("-k", type=int, default=8, metavar="N",
                        help="workers (%(default)s)")
    args = parser.parse_args()
    tdlc = os.path.join(args.build, "tdlc")
    tdlrun = os.path.join(args.build, "tdlrun")
    os.makedirs(args.out, exist_ok=True)

    say(f"Taking ResNet-50 from the onnx package, at batch {BATCH}, "
        "with random weights")
    model = os.path.join(args.out, "resnet50.onnx")
    light.write("resnet50", model, batch=BATCH)

    plans = {}
    for name in ALGORITHMS:
        say(f"Planning it for {args.k} workers with '{name}'")
        plans[name] = call(tdlc, "plan", model, "-k", str(args.k),
                           "--algorithm", name, "-o",
                           os.path.join(args.out, name + ".plan"))
    say(f"Running the tofu plan on {args.k} workers, and on one to compare")
    run = call(tdlrun, os.path.join(args.out, "tofu.plan"), "--verify")
    report(plans, run)
    if not run["verified"]:
        sys.exit("resnet50: the results of the workers and of one device "
                 "differ")


if __name__ == "__main__":
    main()
