"""What the tests in Python share: the programs, and what is expected of them.

A test that looks at one thing after another says expect() of each, and ends
with finish(); one that tries many cases catches the AssertionError of each.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                        "examples")
MODELS = os.path.join(EXAMPLES, "models")
# `make check-long': every combination.  Else some, so chosen that each network,
# planner, optimizer and number of devices is among them.
ALL = os.environ.get("CHECK_ALL") == "yes"
SAMPLE = 1 if ALL else int(os.environ.get("SAMPLE") or 1)
SAMPLE_FROM = int(os.environ.get("SAMPLE_FROM") or 0)

faults = []


def run(*command):
    """What a command prints; it has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, \
        f"status {done.returncode}: {' '.join(command)}\n{done.stderr[-2000:]}"
    return done.stdout


def call(*command):
    """The same, read as JSON."""
    return json.loads(run(*command, "--json"))


def optimize_kernels():
    """For a test whose kernels run for long, or are measured: those of others
    are compiled in little time, instead (KERNEL_CFLAGS in local.mk)."""
    os.environ["TDL_KERNEL_CFLAGS"] = \
        f"{os.environ.get('TDL_KERNEL_CFLAGS', '')} -O3"


def words(sizes):
    """The options of tdlc for these arguments of a model."""
    return [f"-D{n}={v}".replace(" ", "") for n, v in sizes.items()]


def sample(cases, every=1):
    """Every so many of a list, SAMPLE times as many, with CHECK_ALL=yes all.  It
    begins at number SAMPLE_FROM, so that in time all have their turn."""
    step = 1 if ALL else min(every * SAMPLE, max(len(cases), 1))
    return cases[SAMPLE_FROM % step::step]


def over_seeds(check, rounds, prepare=None):
    """The main() of a random test: check(seed, folder) for `--rounds` seeds from
    `--seed` on, `rounds` of them without the option, 1,000 with CHECK_ALL=yes;
    prepare(folder) goes before."""
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rounds", type=int, default=1000 if ALL else rounds)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if prepare:
            prepare(folder)
        for seed in sample(range(a.seed, a.seed + a.rounds)):
            check(seed, folder)
    finish()


# ---- what is expected ---------------------------------------------------------

def expect(what, is_so):
    if not is_so:
        faults.append(what)
        print(f"FAIL: {what}", flush=True)


def finish():
    """Ends the test, as well as it went."""
    sys.exit(1 if faults else 0)


def check_plan(plan, k):
    """A plan of tofu's, as JSON: the sums are right, and all is optimal."""
    assert plan["devices"] == k, plan["devices"]
    assert sum(plan["byte_model"]["by_step"]) == plan["byte_model"]["total"]
    assert plan["communication_bytes"] <= plan["byte_model"]["total"]
    assert all(plan["optimal_by_step"]), plan["optimal_by_step"]
    assert math.prod(plan["mesh"]) == k, plan["mesh"]


def check_run(run, plan):
    """A run, as JSON: the figures are those of the plan."""
    assert run["verified"] is True
    assert run["communication_bytes"] == plan["communication_bytes"], run
    assert run["predicted_communication_bytes"] == plan["communication_bytes"]
    assert run["arena_bytes"] == plan["peak_bytes_per_device"], run
    assert run["predicted_arena_bytes"] == plan["peak_bytes_per_device"]
