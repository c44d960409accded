# Tests: compiler/onnx
"""Networks exported by PyTorch: both exporters, fixed and open dimensions.

Each network of exported_nets.py is exported, planned for 1, 2, 4 and 8
devices, run on as many workers and verified; the three figures have to agree,
and the output has to be PyTorch's.  Where dimensions are open, the plan and
the run are for sizes that the exporter has not seen.

	exported.py [--all] [--devices 1,2,8] [--algorithms tofu,allrow]
	            [--jobs N] [--keep FOLDER] [NAME...]

Without --all, or CHECK_ALL=yes, it is a selection of exports, devices and
planners.
"""
import argparse
import concurrent.futures
import contextlib
import io
import logging
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass

import numpy as np

from against import relative_error

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import (ALL, TDLC, TDLRUN, call, check_plan,  # noqa: E402
                      check_run, sample)

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
try:
    import torch

    import exported_nets
    from exported_nets import Sizes
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

TOLERANCE = 1e-4  # relative norm error against PyTorch, all in f32


@dataclass(frozen=True)
class Export:
    exporter: str  # script: traces, PyTorch's older one; dynamo: the newer
    opset: int
    is_open: bool  # the dimensions that the network can leave open are

    def __str__(self):
        return (f"{self.exporter} {self.opset} "
                f"{'open' if self.is_open else 'fixed'}")

    def sizes(self):
        """What is planned and run."""
        return Sizes(batch=5, tokens=10) if self.is_open else Sizes()


OPSETS = {"script": (14, 17, 20), "dynamo": (18, 20, 23)}


def every_export():
    return [Export(exporter, opset, is_open) for exporter in OPSETS
            for opset in OPSETS[exporter] for is_open in (False, True)]


def some_exports(name):
    """Most of the time goes into the newer exporter, so the networks take turns
    with it, with its operator sets, and with what is open."""
    i = list(exported_nets.NETS).index(name)
    if i % 2:
        return [Export("script", OPSETS["script"][i // 2 % 3], i % 4 == 1)]
    return [Export("dynamo", OPSETS["dynamo"][i // 2 % 3], i % 8 > 0)]


def plans(args, how, name):
    """(devices, planner, kernels) of one export.  Generated C goes with one
    plan, in every other network: its compiler takes longer than all the
    rest."""
    turn = list(exported_nets.NETS).index(name)
    for i, k in enumerate(args.devices):
        for j, planner in enumerate(args.algorithms):
            one = how.is_open and k == 4 and planner == "tofu" and \
                (args.all or turn % 2 == 0)
            some = (i + turn) % 2 == 0 if planner == "tofu" \
                else (i + j + turn) % 4 == 0
            if args.all or some:
                yield k, planner, "generated" if one else "interpreter"


# ---- exporting --------------------------------------------------------------

def export(net, how, path):
    inputs = net.inputs(Sizes())
    options = {"dynamo": how.exporter == "dynamo", "verbose": False,
               "opset_version": how.opset, "output_names": ["y"],
               "input_names": list(inputs)}
    if how.is_open and not options["dynamo"]:
        options["dynamic_axes"] = net.open
    if how.is_open and options["dynamo"]:
        shapes = tuple(net.open.values())
        # One entry per parameter of forward(), of which *args is one.
        several = not isinstance(net.module, exported_nets.OneResult)
        options["dynamic_shapes"] = shapes if several else (shapes,)
    chat = io.StringIO()
    with contextlib.redirect_stdout(chat), contextlib.redirect_stderr(chat):
        torch.onnx.export(net.module, tuple(inputs.values()), path, **options)


# ---- one plan ---------------------------------------------------------------

@dataclass(frozen=True)
class Case:
    model: str  # the file
    folder: str  # where in.npz is, and the rest goes
    sizes: list  # options of tdlc
    expected: np.ndarray


def check(case, k, algorithm, kernels):
    """What a row of the table shows of one plan."""
    path, out = (os.path.join(case.folder, n) for n in ("plan", "out.npz"))
    began = time.monotonic()
    plan = call(TDLC, "plan", case.model, "-k", str(k), "--algorithm",
                algorithm, "-o", path, *case.sizes)
    planned = time.monotonic() - began
    run = call(TDLRUN, path, "--inputs", os.path.join(case.folder, "in.npz"),
               "--outputs", out, "--verify", "--kernels", kernels)
    if algorithm == "tofu":
        check_plan(plan, k)
    check_run(run, plan)
    with np.load(out) as results:
        assert results.files == ["y"], results.files
        got = results["y"]
    assert got.shape == case.expected.shape, got.shape
    error = relative_error(got, case.expected)
    assert error <= TOLERANCE, f"relative error {error} against PyTorch"
    return (f"{plan['operators']:5} {plan['byte_model']['total']:9} "
            f"{run['communication_bytes']:9} {run['arena_bytes']:9} "
            f"{plan['search_seconds']:8.4f} {planned:7.2f} {error:8.1e}")


# ---- all of them ------------------------------------------------------------

def size_options(net, how, inputs):
    """How tdlc is told the sizes of open dimensions: by name, or by shape."""
    if not how.is_open:
        return []
    if how.exporter == "script":
        return [f"--shape={n}={'x'.join(map(str, v.shape))}"
                for n, v in inputs.items() if n in net.open]
    names = {n for dims in net.open.values() for n in dims.values()}
    return [f"-D{n}={getattr(how.sizes(), n)}" for n in sorted(names)]


def prepare(net, how, folder):
    """Exports the network, and computes what it has to give."""
    model = os.path.join(folder, "model.onnx")
    export(net, how, model)
    torch.manual_seed(11)
    inputs = net.inputs(how.sizes())
    with torch.no_grad():
        expected = net.module(*inputs.values()).numpy()
    np.savez(os.path.join(folder, "in.npz"),
             **{n: v.numpy() for n, v in inputs.items()})
    return Case(model, folder, size_options(net, how, inputs), expected)


def rows(args, net, name, how, folder):
    """(whether it went well, the line of the table) of each plan."""
    label = f"{name:12} {how!s:15}"
    os.makedirs(folder, exist_ok=True)
    try:
        case = prepare(net, how, folder)
    except Exception as e:
        yield False, f"FAIL: {label} is not exported: {str(e)[:2000]}"
        return
    for k, planner, kernels in plans(args, how, name):
        row = f"{label} {k:2} {planner:13}"
        try:
            yield True, f"{row} {check(case, k, planner, kernels)}"
        except Exception as e:  # whatever it is, the next one is tried
            yield False, f"FAIL: {row} {type(e).__name__}: {str(e)[:2000]}"


def try_network(args, name):
    torch.set_num_threads(1)
    net = exported_nets.build(name)
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for how in every_export() if args.all else some_exports(name):
            where = os.path.join(args.keep or folder,
                                 f"{name} {how}".replace(" ", "-"))
            result += rows(args, net, name, how, where)
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", default=ALL)
    parser.add_argument("--devices", default="1,2,4,8",
                        type=lambda s: [int(k) for k in s.split(",")])
    parser.add_argument("--algorithms", default=["tofu", "data-parallel",
                                                 "allrow"],
                        type=lambda s: s.split(","))
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def main():
    args = parse_arguments()
    done = failed = 0
    print("network      export           k planner        ops     model "
          "      run     arena   search    plan    error", flush=True)
    with concurrent.futures.ProcessPoolExecutor(
            args.jobs, multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(try_network, args, name)
                   for name in args.names or
                   sample(list(exported_nets.NETS))]
        for future in futures:
            for well, line in future.result():
                done, failed = done + 1, failed + (not well)
                print(line, flush=True)
    print(f"{done} plans, {failed} failed")
    sys.exit(1 if failed or not done else 0)


if __name__ == "__main__":
    main()
