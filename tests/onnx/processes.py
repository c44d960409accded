# Tests: runtime/comm
"""The `light` networks on Open MPI, a process for each worker.

Each is run on 8 ranks and verified: the bytes that were received, the memory
that was used and the results have to agree; then it is trained for three steps.
Results, and weights after training, are those of threads, bit for bit.

	processes.py [--all] [--devices 8] [--no-train] [NAME...]

Without --all, or CHECK_ALL=yes, it is one small network.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

import light

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import ALL, TDLC, TDLRUN, call, check_run  # noqa: E402

SMALL = ("squeezenet",)
STEPS = 3
TIMEOUT = 900  # seconds: a rank that waits for ever is found


def inputs_of(path):
    rng = np.random.default_rng(11)
    graph = onnx.load(path).graph
    stored = {t.name for t in graph.initializer}
    return {i.name: rng.standard_normal(
        [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
        for i in graph.input if i.name not in stored}


def ranks(n, *command):
    return call("timeout", str(TIMEOUT), "mpirun", "--oversubscribe", "-n",
                str(n), TDLRUN, *command, "--comm", "mpi")


def same(folder, plan, planned, n, *options):
    """The same files by threads and by processes, which are verified."""
    mine, theirs = (os.path.join(folder, f"{x}.npz") for x in ("a", "b"))
    begun = time.monotonic()
    run = ranks(n, plan, *options, "--outputs", mine, "--verify")
    took = time.monotonic() - begun
    check_run(run, planned)
    call(TDLRUN, plan, *options, "--outputs", theirs)
    with open(mine, "rb") as x, open(theirs, "rb") as y:
        assert x.read() == y.read(), "threads and processes differ"
    return f"{run['communication_bytes']} bytes a step, {took:.0f} s"


def check(folder, name, n, train):
    model = os.path.join(folder, "model.onnx")
    plan = os.path.join(folder, "model.plan")
    given = os.path.join(folder, "in.npz")
    light.write(name, model, batch=1)
    np.savez(given, **inputs_of(model))
    planned = call(TDLC, "plan", model, "-k", str(n), "-o", plan)
    print(f"{name}: {same(folder, plan, planned, n, '--inputs', given)}",
          flush=True)
    if not train:
        return
    planned = call(TDLC, "plan", model, "-k", str(n), "-o", plan, "--train",
                   "--loss", "softmax_cross_entropy", "--optimizer",
                   "sgd,momentum=0.9")
    said = same(folder, plan, planned, n, "--steps", str(STEPS),
                "--learning-rate", "1e-4")
    print(f"{name}, {STEPS} steps of training: {said}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", default=ALL)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--no-train", action="store_true")
    args = parser.parse_args()
    said = subprocess.run([TDLRUN, "--comm", "mpi", "none"], text=True,
                          capture_output=True).stderr
    if "not built in" in said or not shutil.which("mpirun"):
        print("SKIP: tdlrun was built without MPI, or there is no mpirun")
        sys.exit(77)
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
    os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    os.environ["OMPI_MCA_btl_base_warn_component_unused"] = "0"
    for name in args.names or (light.NAMES if args.all else SMALL):
        with tempfile.TemporaryDirectory() as folder:
            check(folder, name, args.devices, not args.no_train)


if __name__ == "__main__":
    main()
