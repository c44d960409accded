# Tests: compiler/train compiler/onnx
"""Networks exported by PyTorch, trained for a step.

Each network of exported_nets.py is exported and planned with a loss and an
optimizer for several numbers of devices.  After a step of gradient descent
each weight has to have changed by PyTorch's gradient, the loss has to be
PyTorch's, and the three figures have to agree.

	trained.py [--all] [--devices 4,1] [--jobs N] [--keep FOLDER] [NAME...]

Without --all, or CHECK_ALL=yes, it is one exporter and one number of devices per
network, and the interpreter.
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

import numpy as np

from against import relative_error

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import (ALL, TDLC, TDLRUN, call, check_run,  # noqa: E402
                      sample)

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
try:
    import onnx
    import torch

    import exported_nets
    from exported_nets import Sizes
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

RATE = 64  # so large that what a weight changes by keeps all its digits
TOLERANCE = 1e-3  # relative norm error of a gradient, all in f32
OPSETS = {"script": 17, "dynamo": 20}
NORMALISED = "normalised"  # a network in training mode


def perturb(net):
    """The exporters store what is equal once: weights that are all ones would
    be one weight."""
    torch.manual_seed(5)
    with torch.no_grad():
        for p in net.parameters():
            p += 0.02 * torch.randn(p.shape)


def export(net, exporter, path):
    """Keeps the weights as PyTorch has them, under their names."""
    inputs = net.inputs(Sizes())
    options = {"dynamo": exporter == "dynamo", "verbose": False,
               "opset_version": OPSETS[exporter], "output_names": ["y"],
               "input_names": list(inputs)}
    if exporter == "script":
        options["do_constant_folding"] = False
    chat = io.StringIO()
    with contextlib.redirect_stdout(chat), contextlib.redirect_stderr(chat):
        torch.onnx.export(net.module, tuple(inputs.values()), path, **options)
    return inputs


def weights_of(net, path):
    """The parameters that the export has as they are, under their names, and
    the names of other weights."""
    stored = {t.name: onnx.numpy_helper.to_array(t)
              for t in onnx.load(path).graph.initializer}
    # The newer exporter folds a normalisation into the weights before it.
    named = {n: p for n, p in net.module.named_parameters()
             if p.ndim > 0 and n in stored and
             np.array_equal(stored[n], p.detach().numpy())}
    frozen = [n for n, v in stored.items()
              if n not in named and v.ndim > 0 and v.dtype.kind == "f"]
    return named, frozen


def expect(net, inputs, label):
    """The loss; the gradients are left in the parameters."""
    for p in net.module.parameters():
        p.grad = None
        p.requires_grad_(True)
    y = net.module(*inputs.values())
    loss = torch.nn.functional.mse_loss(y, label)
    loss.backward()
    return float(loss.detach())


def compare(named, before, after):
    """The greatest error of a weight's change; what was not trained has to
    have no gradient."""
    # A gradient that is nothing but rounding, as that of the bias of a key,
    # is compared with the others.
    scale = max(float(p.grad.norm()) / max(p.numel(), 1) ** 0.5
                for p in named.values() if p.grad is not None)
    worst = 0.0
    for name, p in named.items():
        want = None if p.grad is None else p.grad.numpy()
        if name not in after:
            assert want is None or not want.any(), f"{name} is not trained"
            continue
        got = (before[name].astype(np.float64) - after[name]) / RATE
        if want is None:
            want = np.zeros_like(got)
        floor = 1e-4 * scale * want.size ** 0.5
        error = float(np.linalg.norm(got - want)) / max(
            float(np.linalg.norm(want)), floor)
        assert error <= TOLERANCE, f"{name}: relative error {error}"
        worst = max(worst, error)
    return worst


def check(net, exporter, k, folder, kernels):
    model, path, given, out = (os.path.join(folder, n) for n in (
        "model.onnx", "plan", "in.npz", "out.npz"))
    if not os.path.exists(model):
        export(net, exporter, model)
    torch.manual_seed(11)
    inputs = net.inputs(Sizes())
    with torch.no_grad():
        y = net.module(*inputs.values())
    label = torch.randn(y.shape)
    np.savez(given, label=label.numpy(),
             **{n: v.numpy() for n, v in inputs.items()})
    named, frozen = weights_of(net, model)
    before = {n: p.detach().numpy().copy() for n, p in named.items()}
    loss = expect(net, inputs, label)
    freeze = [f"--freeze={n.replace('[', '[[]')}" for n in frozen]
    began = time.monotonic()
    plan = call(TDLC, "plan", model, "-k", str(k), "-o", path, "--train",
                "--loss", "mse", "--optimizer", f"sgd,lr={RATE}", *freeze)
    planned = time.monotonic() - began
    run = call(TDLRUN, path, "--inputs", given, "--outputs", out, "--verify",
               "--kernels", kernels)
    check_run(run, plan)
    with np.load(out) as results:
        got = dict(results)
    assert relative_error(got["loss"], np.float32(loss)) <= 1e-4, got["loss"]
    error = compare(named, before, got)
    trained = sum(n in got for n in named)
    assert trained, "nothing was trained"
    return (f"{plan['operators']:5} {trained:4}/{len(named):<4} "
            f"{run['communication_bytes']:9} {run['arena_bytes']:9} "
            f"{planned:7.2f} {error:8.1e}")


# ---- a network in training mode ----------------------------------------------

def normalised():
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
        torch.nn.Conv2d(8, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(8 * 16, 5))
    perturb(net)
    return net.train()


def check_training_mode(k, folder):
    """The statistics of the batch count, and the running ones are updated; the
    running variance is that of all elements, as ONNX says, not an estimate of
    theirs, as PyTorch has it."""
    rate, steps, momentum = 0.25, 3, 0.1
    model, path, given, out = (os.path.join(folder, n) for n in (
        "model.onnx", "plan", "in.npz", "out.npz"))
    net = normalised()
    x, label = torch.randn(6, 3, 8, 8), torch.randn(6, 5)
    torch.onnx.export(net, (x,), model, dynamo=False, input_names=["x"],
                      training=torch.onnx.TrainingMode.TRAINING,
                      do_constant_folding=False, opset_version=17)
    stored = {t.name: onnx.numpy_helper.to_array(t)
              for t in onnx.load(model).graph.initializer}
    np.savez(given, x=x.numpy(), label=label.numpy())
    plan = call(TDLC, "plan", model, "-k", str(k), "-o", path, "--train",
                "--loss", "mse", "--optimizer", f"sgd,lr={rate}")
    run = call(TDLRUN, path, "--inputs", given, "--outputs", out, "--steps",
               str(steps), "--verify", "--kernels", "interpreter")
    check_run(run, plan)
    by = torch.optim.SGD(net.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        by.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), label)
        loss.backward()
        by.step()
        losses.append(float(loss.detach()))
    assert np.allclose(run["loss"], losses, rtol=1e-4), (run["loss"], losses)
    worst = 0.0
    with np.load(out) as got:
        for name, want in net.state_dict().items():
            if not name.endswith("tracked"):
                want = want.numpy()
                if name.endswith("running_var"):
                    n = 6 * (36 if name[0] == "1" else 16)
                    start = stored[name] * (1 - momentum) ** steps
                    want = start + (want - start) * (n - 1) / n
                worst = max(worst, relative_error(got[name], want))
    assert worst <= 1e-5, f"relative error {worst}"
    return (f"{plan['operators']:5}           {run['communication_bytes']:9} "
            f"{run['arena_bytes']:9}         {worst:8.1e}")


def try_training_mode(args):
    torch.set_num_threads(1)
    for k in args.devices:
        row = f"normalised   script   {k:2}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield True, f"{row} {check_training_mode(k, folder)}"
            except Exception as e:  # whatever it is, on with the next
                yield False, f"FAIL: {row} {type(e).__name__}: {str(e)[:2000]}"


def try_network(args, name):
    if name == NORMALISED:
        return list(try_training_mode(args))

    torch.set_num_threads(1)
    net = exported_nets.build(name)
    perturb(net.module)
    result = []
    index = list(exported_nets.NETS).index(name)
    # The newer exporter takes longer than all the rest.
    exporters = list(OPSETS) if args.all else \
        [list(OPSETS)[index % 4 == 3]]
    kernels = "generated" if args.all else "interpreter"
    devices = args.devices if args.all else \
        [args.devices[index % len(args.devices)]]
    with tempfile.TemporaryDirectory() as folder:
        for exporter in exporters:
            where = os.path.join(args.keep or folder, f"{name}-{exporter}")
            os.makedirs(where, exist_ok=True)
            for k in devices:
                row = f"{name:12} {exporter:8} {k:2}"
                try:
                    line = check(net, exporter, k, where, kernels)
                    result.append((True, f"{row} {line}"))
                except Exception as e:  # whatever it is, on with the next
                    result.append((False, f"FAIL: {row} {type(e).__name__}: "
                                   f"{str(e)[:2000]}"))
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", default=ALL)
    parser.add_argument("--devices", default="4,1",
                        type=lambda s: [int(k) for k in s.split(",")])
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


def main():
    args = parse_arguments()
    done = failed = 0
    print("network      export    k   ops   trained       run     arena    "
          "plan    error", flush=True)
    with concurrent.futures.ProcessPoolExecutor(
            args.jobs, multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(try_network, args, name)
                   for name in args.names or
                   sample([*exported_nets.NETS, NORMALISED])]
        for future in futures:
            for well, line in future.result():
                done, failed = done + 1, failed + (not well)
                print(line, flush=True)
    print(f"{done} plans, {failed} failed")
    sys.exit(1 if failed or not done else 0)


if __name__ == "__main__":
    main()
