# Tests: compiler/planners compiler/portfolio
"""What every planner's plan says of itself, and what running it counts.

Small models, whole and trained, are planned by every planner that `tdlc
compare` lists, and run: the bytes that the transport counts are those of the
plan, and no more than the byte model's; the arenas are as large as was said;
the results are those of one device.  Relations between planners have to hold,
too: joint is never above tofu, nothing that cuts every tensor below the bound,
and auto never slower than any, with reductions in buckets neither.  A limit of
memory holds in the run.

	planners.py [--all] [--devices 3,8] [MODEL...]

Without --all, or CHECK_ALL=yes, each model is whole on one number of devices,
and trained on another.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from programs import ALL, MODELS, TDLC, TDLRUN, call, sample

# Sizes at which a run takes no time.
SIZES = {
    "mlp": "batch=6 inputs=10 width=24 depth=3 classes=5",
    "alexnet": "batch=4 image=64 width=4 hidden=24 classes=10",
    "rnn": "batch=6 layers=2 hidden=8 steps=3 inputs=5 classes=7",
    "gpt2": "batch=2 tokens=6 vocabulary=48 layers=2 width=48 heads=24",
}
PLANNERS = ("tofu", "joint", "extended", "levels", "optcnn", "equalchop", "spartan",
            "allrow", "data-parallel", "megatron", "pase", "auto")
# Over two boxes of eight.
BOXES = [("mlp", "batch=4096"), ("gpt2", "batch=16", "layers=2"),
         ("wresnet", "batch=32", "depth=50", "widen=4")]
# Whose time is latency.
BUCKETED = [("gpt2", "layers=1", "batch=8", "tokens=8", "vocabulary=32", "width=16",
             "heads=4"),
            ("mlp", "batch=64", "inputs=128", "width=256", "depth=3")]
# Those that leave nothing whole which they could cut.
CUTTING = ("tofu", "joint", "equalchop", "spartan", "allrow")
# Those whose proofs are of bytes.
PROVING = ("tofu", "joint", "optcnn", "equalchop", "allrow", "ilp")


def check_plan(plan, k):
    """What a plan says of itself."""
    model = plan["byte_model"]
    assert plan["devices"] == k
    assert sum(model["by_step"]) == model["total"], model
    assert plan["communication_bytes"] <= model["total"], model
    bound = plan["lower_bound"]
    assert bound is None or bound <= model["total"], plan["lower_bound"]
    if plan["algorithm"] not in PROVING:
        assert not any(plan["optimal_by_step"]), plan["algorithm"]
        assert set(plan["least_by_step"]) == {None}, plan["algorithm"]


def check_run(folder, model, options, planner, plan):
    """Runs the plan of a planner."""
    path = os.path.join(folder, "plan")
    again = call(TDLC, "plan", model, *options, "--algorithm", planner, "-o",
                 path)
    assert again["byte_model"] == plan["byte_model"], "another plan"
    run = call(TDLRUN, path, "--verify", "--kernels", "interpreter")
    assert run["verified"], run
    assert run["communication_bytes"] == plan["communication_bytes"], run
    assert run["arena_bytes"] == plan["peak_bytes_per_device"], run


def check_others(plans):
    """What holds between plans of one model."""
    total = {p: plan["byte_model"]["total"] for p, plan in plans.items()}
    assert total["joint"] <= total["tofu"], total
    bound = plans["joint"]["lower_bound"]
    for name in CUTTING:
        assert total["joint"] <= total[name], (name, total)
        assert bound is None or bound <= total[name], (name, total)
    # Sums of the same seconds in another order may differ in the last bit.
    best = plans["auto"]["predicted_seconds"] / (1 + 1e-12)
    for name, plan in plans.items():
        assert best <= plan["predicted_seconds"], (name, best, plan)
    own = plans["pase"]["own_costs"]
    assert own["total"] <= own["one_device"], own
    if own["any_counts"] is not None:
        assert own["any_counts"] <= own["total"], own


def check_limits(folder, model, options, plans):
    """Under a limit that some plan keeps to, auto's does, too, and is as fast
    as the fastest of those; what nothing keeps to is refused."""
    peaks = sorted(p["peak_bytes_per_device"] for p in plans.values())
    path = os.path.join(folder, "plan")
    times = []
    for limit in peaks[0], peaks[len(peaks) // 2], peaks[-1] * 2:
        plan = call(TDLC, "plan", model, *options, "--algorithm", "auto",
                    "--memory", str(limit), "-o", path)
        assert plan["peak_bytes_per_device"] <= limit, (limit, plan)
        run = call(TDLRUN, path, "--verify", "--kernels", "interpreter")
        assert run["verified"] and run["arena_bytes"] <= limit, run
        fit = [p["predicted_seconds"] for p in plans.values()
               if p["peak_bytes_per_device"] <= limit]
        # under a limit copies are kept as long as they fit
        assert plan["predicted_seconds"] <= 1.02 * min(fit), (limit, fit)
        times.append(plan["predicted_seconds"])
    assert times == sorted(times, reverse=True), times
    check_enough(model, options, peaks[0] // 4)


def check_enough(model, options, limit):
    """What nothing keeps to is refused, and what is said to do does."""
    command = [TDLC, "plan", model, *options, "--algorithm", "auto"]
    done = subprocess.run([*command, "--memory", str(limit)],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return
    said = re.search(r"enough would be (?:(\d+) devices, or )?"
                     r"--memory (\d+)", done.stderr)
    assert done.returncode == 3 and said, done
    plan = call(*command, "--memory", said[2])
    assert plan["peak_bytes_per_device"] <= int(said[2]), plan
    if said[1]:
        call(*command, "--memory", str(limit), "-k", said[1])


def check(name, train, k):
    model = os.path.join(MODELS, name + ".tdl")
    options = [w for size in SIZES[name].split() for w in ("-D", size)]
    options += ["-k", str(k)] + ["--train"] * train
    entries = call(TDLC, "compare", model, *options)["planners"]
    assert set(PLANNERS) <= {e["algorithm"] for e in entries}, entries
    plans = {e["algorithm"]: e for e in entries if "error" not in e}
    # 24 rows are not divided by 5 devices
    assert set(PLANNERS) - set(plans) <= {"megatron"}, entries
    with tempfile.TemporaryDirectory() as folder:
        for planner, plan in plans.items():
            check_plan(plan, k)
            check_run(folder, model, options, planner, plan)
        check_limits(folder, model, options, plans)
    check_others(plans)
    return len(plans)


def check_bucketed(name, *sizes):
    """With its reductions in buckets auto's plan is as fast as each planner's
    within the memory that this takes."""
    model = [os.path.join(MODELS, name + ".tdl"), "--train", "-k", "4",
             "--topology", "8xh100-nvlink"]
    model += [w for size in sizes for w in ("-D", size)]
    entries = call(TDLC, "compare", *model)["planners"]
    bucketed = 0
    for theirs in entries:
        if "error" in theirs or theirs["algorithm"] == "auto":
            continue
        limit = ["--memory", str(theirs["peak_bytes_per_device"])]
        plan = call(TDLC, "plan", *model, *limit, "--algorithm", "auto")
        other = call(TDLC, "plan", *model, *limit, "--algorithm",
                     theirs["algorithm"])
        best = plan["predicted_seconds"] / (1 + 1e-9)
        assert best <= other["predicted_seconds"], (limit, plan, other)
        bucketed += other["buckets"] > 0
    assert bucketed > 3, entries
    return bucketed


def reversed_pins(plan):
    """The same plan with the axes of its mesh the other way round."""
    for t in plan["tensor_layouts"]:
        yield f"{t['name']}={','.join(reversed(t['layout']))}\n"
    for o in plan["operator_strategies"]:
        words = [f"by {v}" if v else "whole" for v in o["strategy"]]
        yield f"{o['name']}={','.join(reversed(words))}\n"


def check_boxes(name, *sizes):
    """Two boxes of eight: the first step goes between them."""
    options = [os.path.join(MODELS, name + ".tdl"), "--train", "-k", "16",
               "--topology", "2x8xh100"]
    options += [w for size in sizes for w in ("-D", size)]
    plan = call(TDLC, "plan", *options)
    steps = plan["byte_model"]["by_step"]
    assert plan["mesh"] == [2, 2, 2, 2] and steps[0] == min(steps), steps
    with tempfile.NamedTemporaryFile("w", suffix=".pins") as pins:
        pins.writelines(reversed_pins(plan))
        pins.flush()
        other = call(TDLC, "plan", *options, "--pins", pins.name)
    more = other["predicted_seconds"] / plan["predicted_seconds"]
    assert more > 1.1, f"{more} times the time"
    return more


def chosen(args):
    """(model, trained, number of devices) of what is to be tried."""
    n = len(args.devices)
    return [(name, train, k) for i, name in enumerate(args.models or SIZES)
            for train in (False, True) for j, k in enumerate(args.devices)
            if args.all or (i + train) % n == j]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", default=ALL)
    parser.add_argument("--devices", default=[3, 8],
                        type=lambda s: [int(k) for k in s.split(",")])
    parser.add_argument("models", nargs="*", metavar="MODEL")
    args = parser.parse_args()
    failed = 0
    for name, train, k in sample(chosen(args)):
        what = f"{name}, k = {k}{', trained' * train}"
        try:
            print(f"PASS: {what}: {check(name, train, k)} plans", flush=True)
        except AssertionError as e:
            print(f"FAIL: {what}: {e}", flush=True)
            failed += 1
    for name, *sizes in [] if args.models else sample(BOXES):
        try:
            print(f"PASS: {name} in two boxes: the other way round takes "
                  f"{check_boxes(name, *sizes):.2f} times as long", flush=True)
        except AssertionError as e:
            print(f"FAIL: {name} in two boxes: {e}", flush=True)
            failed += 1
    for name, *sizes in [] if args.models else sample(BUCKETED):
        try:
            print(f"PASS: {name}, whose reductions are in buckets: "
                  f"{check_bucketed(name, *sizes)} plans", flush=True)
        except AssertionError as e:
            print(f"FAIL: {name}, whose reductions are in buckets: {e}",
                  flush=True)
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
