# Tests: runtime/run
"""Training that is killed, stopped and resumed.

A small network trains on three workers and writes a checkpoint every other
step.  Killed by SIGKILL again and again, at any moment, and resumed each time,
it has to end with the same bytes in its weights, its last checkpoint and its
log as a run that nobody disturbed.  SIGTERM and SIGINT leave a checkpoint of
the step that was made last.  Another number of workers goes on from it, too.

	interrupted.py [--kills N] [--seed S]
"""
import argparse
import csv
import glob
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, TDLRUN, expect, finish, run as call  # noqa: E402

EPOCHS, PER_EPOCH = 4, 10

MODEL = """
/// Two layers; the state counts the steps.
model small(batch = 12) {
    input x[batch, 20]
    input label[batch]: i64
    param w[20, 32]
    param b[32]
    param v[32, 5] = normal(0, 0.3)
    state count[]: i64 = 0
    h = relu(matmul(x, w) + b)
    loss = softmax_cross_entropy(matmul(h, v), label)
    next count = count + 1
    output loss
}
"""


class Run:
    """A training run in a folder of its own."""

    def __init__(self, top, name, plan, data):
        self.folder = os.path.join(top, name)
        os.mkdir(self.folder)
        self.checkpoints = os.path.join(self.folder, "checkpoints")
        self.weights = os.path.join(self.folder, "weights.npz")
        self.log = os.path.join(self.folder, "log.csv")
        self.command = [
            TDLRUN, plan, "--data", data, "--shuffle", "--seed", "5",
            "--epochs", str(EPOCHS), "--schedule", "cosine", "--warmup", "7",
            "--checkpoint", self.checkpoints, "--checkpoint-every", "2",
            "--outputs", self.weights, "--log", self.log]

    def start(self, *options):
        return subprocess.Popen([*self.command, *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def finish(self, *options):
        p = self.start(*options)
        out, err = p.communicate()
        expect(f"{self.command}: status {p.returncode}: {err}",
               p.returncode == 0)
        return out

    def names(self):
        return sorted(os.listdir(self.checkpoints))

    def bytes(self):
        """What must not depend on how often the run was disturbed."""
        with open(self.weights, "rb") as f:
            weights = f.read()
        with open(self.newest(), "rb") as f:
            newest = f.read()
        with open(self.log, newline="", encoding="utf-8") as f:
            log = [row[:4] for row in csv.reader(f)]
        return weights, newest, log

    def newest(self):
        return max(glob.glob(os.path.join(self.checkpoints, "step-*.npz")),
                   key=lambda p: int(p[p.rindex("-") + 1:-4]))


def check_same(run, whole, how):
    for part, got, want in zip(("weights", "last checkpoint", "log"),
                               run.bytes(), whole.bytes()):
        expect(f"{how}: the {part} are not those of an undisturbed run",
               got == want)


def kill_often(top, plan, data, whole, seconds, kills, rng):
    """Runs again and again until so many have been killed."""
    killed = runs = 0
    while killed < kills:
        run = Run(top, f"killed-{runs}", plan, data)
        runs += 1
        while True:
            p = run.start("--resume")
            try:
                p.wait(rng.uniform(0, seconds))
            except subprocess.TimeoutExpired:
                p.kill()
            _, err = p.communicate()
            if p.returncode != -signal.SIGKILL:
                break
            killed += 1
        expect(f"resumed: status {p.returncode}: {err}", p.returncode == 0)
        if p.returncode == 0:
            check_same(run, whole, f"killed ({run.folder})")
            expect(f"killed: {run.names()}", run.names() == whole.names())
    print(f"{killed} kills, {runs} runs")


def stop_politely(top, plan, data, whole, seconds, how):
    """The process ends by the signal, after a checkpoint of its last step."""
    run = Run(top, how.name, plan, data)
    p = run.start("--keep", "0")
    while p.poll() is None and not os.path.exists(run.log):
        time.sleep(seconds / 100)   # it has not begun yet
    time.sleep(seconds / 4)
    p.send_signal(how)
    _, err = p.communicate()
    if p.returncode == 0:
        return      # it was faster
    expect(f"{how.name}: status {p.returncode}: {err}", p.returncode == -how)
    with open(run.log, newline="", encoding="utf-8") as f:
        last = list(csv.reader(f))[-1][0]
    if last != "step":
        expect(f"{how.name}: no checkpoint of step {last}: {run.names()}",
               f"step-{last}.npz" in run.names())
    run.finish("--resume")
    check_same(run, whole, how.name)


def go_on_elsewhere(top, plans, data):
    """A checkpoint restores, bit for bit, on any number of workers."""
    run = Run(top, "elsewhere", plans[3], data)
    run.finish("--steps", "20")
    kept = {}
    for k, plan in plans.items():
        out = os.path.join(top, f"states-{k}.npz")
        folder = run.checkpoints
        call(TDLRUN, plan, "--parameters", folder, "--steps", "1",
             "--learning-rate", "0", "--outputs", out)
        with np.load(out) as states, np.load(run.newest()) as was:
            for name in ("w", "b", "v"):
                expect(f"{name} on {k} workers",
                       np.array_equal(states[name], was[name]))
            expect(f"count on {k} workers", states["count"] == 21)
        other = Run(top, f"from-20-on-{k}", plan, data)
        subprocess.run(["cp", "-r", folder, other.checkpoints], check=True)
        other.finish("--resume")
        with np.load(other.weights) as states:
            kept[k] = {n: states[n] for n in states.files}
    for k, states in kept.items():
        for name, x in states.items():
            error = np.abs(x - kept[3][name]).max()
            expect(f"{name} on {k} workers in the end: {error}", error < 1e-5)


def complain(top, plan, data):
    """What cannot be resumed says why, and with which status it ends."""
    run = Run(top, "complain", plan, data)
    run.finish("--steps", "8")
    run.finish("--steps", "10", "--resume")
    out = run.finish("--steps", "10", "--resume")
    expect("nothing to do", "all 10 steps were done before" in out)
    cases = [
        (1, "--resume goes on", []),
        (1, "--seed 5, not 6", ["--resume", "--seed", "6"]),
        (2, "needs --checkpoint", None),
        (1, "trains, too", ["--resume", "--evaluate", plan,
                            "--evaluate-data", data]),
        (4, "the loss of step",
         ["--resume", "--learning-rate", "1e9", "--steps", "30"]),
    ]
    for status, says, options in cases:
        command = [*run.command, *options] if options is not None else [
            TDLRUN, plan, "--data", data, "--resume"]
        p = subprocess.run(command, capture_output=True, text=True)
        expect(f"{options}: status {p.returncode}, not {status}: {p.stderr}",
               p.returncode == status and says in p.stderr)
    with open(run.newest(), "r+b") as f:
        f.truncate(300)
    p = subprocess.run([*run.command, "--resume"], capture_output=True,
                       text=True)
    expect(f"truncated: {p.stderr}", p.returncode == 1 and "is whole" in
           p.stderr)


def make(top):
    model = os.path.join(top, "small.tdl")
    with open(model, "w", encoding="utf-8") as f:
        f.write(MODEL)
    plans = {k: os.path.join(top, f"{k}.plan") for k in (1, 3, 4)}
    for k, plan in plans.items():
        call(TDLC, "plan", model, "-k", str(k), "--train", "--optimizer",
             "adamw,lr=0.01", "-o", plan)
    rng = np.random.default_rng(0)
    data = os.path.join(top, "data.npz")
    np.savez(data, x=rng.standard_normal((125, 20)).astype(np.float32),
             label=rng.integers(0, 5, 125))
    return plans, data


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--kills", type=int, default=25)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as top:
        plans, data = make(top)
        whole = Run(top, "first", plans[3], data)
        whole.finish()                      # compiles the kernels
        whole = Run(top, "whole", plans[3], data)
        begun = time.monotonic()
        whole.finish()
        seconds = time.monotonic() - begun
        kill_often(top, plans[3], data, whole, seconds, args.kills, rng)
        for how in (signal.SIGTERM, signal.SIGINT):
            stop_politely(top, plans[3], data, whole, seconds, how)
        go_on_elsewhere(top, plans, data)
        complain(top, plans[3], data)
    finish()


main()
