"""One step of training of each network of examples/models, as PyTorch makes it.

Each network gets, at small sizes, random weights, running statistics, states
of the optimizer and a batch, is planned for 1, 2, 4 and 8 devices, run on as
many workers and verified; the three figures have to agree.  The loss and
everything that is kept from step to step has to be what PyTorch makes of the
same in f64.

	train_step.py [--all] [--devices 1,2,8] [--optimizers adamw] [NAME...]

Without --all each network has one optimizer.
"""
import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "onnx"))
try:
    import numpy as np
    import torch

    import nets
    from networks import call, check_plan, check_run
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")
MODELS = os.path.join(HERE, "..", "..", "examples", "models")
LOSS_TOLERANCE = 1e-5  # relative
STEP_TOLERANCE = 3e-4  # of the norm of the change of a tensor
KEPT_TOLERANCE = 2e-6  # of the norm of the tensor: what f32 holds of it


@dataclass(frozen=True)
class Optimizer:
    """An optimizer in our words and in PyTorch's, and what it keeps."""
    ours: str
    make: type
    how: dict
    kept: dict  # suffix of the state's name in a plan: PyTorch's name


OPTIMIZERS = {
    "sgd": Optimizer(
        "sgd,momentum=0.9,weight_decay=0.05,nesterov=1", torch.optim.SGD,
        {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.05, "nesterov": True},
        {"velocity": "momentum_buffer"}),
    "adamw": Optimizer(
        "adamw,weight_decay=0.1", torch.optim.AdamW,
        {"lr": 0.02, "weight_decay": 0.1},
        {"m": "exp_avg", "v": "exp_avg_sq", "step": "step"}),
    "adam": Optimizer(
        "adam,weight_decay=0.05", torch.optim.Adam,
        {"lr": 0.02, "weight_decay": 0.05},
        {"m": "exp_avg", "v": "exp_avg_sq", "step": "step"}),
}


# ---- the values before the step ---------------------------------------------

def spread(dims):
    """A deviation that keeps sums of products near 1."""
    fan = {2: dims[0], 4: np.prod(dims[1:])}
    return fan.get(len(dims), np.prod(dims) ** 0.5) ** -0.5


def draw_state(rng, name, dims):
    """A weight, or a running statistic; those that scale are near 1."""
    end = name.rpartition(".")[2]
    normal = rng.standard_normal(dims)
    if end == "var":
        return rng.random(dims) + 0.5
    if end == "scale":
        return 1 + 0.2 * normal
    return normal * (spread(dims) if len(dims) > 1 else 0.2)


def draw_kept(rng, kind, dims):
    """What an optimizer keeps of a weight, as after some steps."""
    if kind == "step":
        return np.array(7.0)
    if kind == "exp_avg_sq":
        return 0.01 * (rng.random(dims) + 0.5)
    return 0.1 * rng.standard_normal(dims)


@dataclass
class Case:
    """A network before the step and after it."""
    file: str
    options: list
    fed: dict  # inputs and states by name
    states: list  # names
    loss: float
    after: dict  # states by name, in f64


def words(name, sizes):
    """The options of tdlc for a network at its small sizes."""
    def text(v):
        return str(v).replace(" ", "")
    return [f"-D{n}={text(v)}" for n, v in sizes.items()]


def split_states(tensors, optimizer):
    """(model's states, {optimizer's state: (weight, PyTorch's name)}).  A
    state without a weight is one for all."""
    shapes = {t["name"]: (t["shape"], t["type"]) for t in tensors
              if t["kind"] == "state"}
    own, kept = {}, {}
    for name in shapes:
        weight, _, end = name.rpartition(".")
        if end in optimizer.kept and (not weight or weight in shapes):
            kept[name] = weight, optimizer.kept[end]
        else:
            own[name] = shapes[name][0]
    return own, kept, shapes


def torch_step(net, optimizer, extra, before, kept, inputs, weights):
    """The loss and the states after one step, in f64."""
    p = {n: torch.tensor(v, requires_grad=n in weights)
         for n, v in before.items() if n not in kept}
    for_weights = [p[n] for n in p if n in weights]
    maker = optimizer.make(for_weights, **optimizer.how)
    shared = {kind: before[n] for n, (weight, kind) in kept.items()
              if not weight}
    for n in weights:
        maker.state[p[n]] = {k: torch.tensor(v) for k, v in shared.items()}
    for n, (weight, kind) in kept.items():
        if weight:
            maker.state[p[weight]][kind] = torch.tensor(before[n])
    loss = net.loss(nets.Params(p), **inputs, **extra)
    loss.backward()
    maker.step()
    after = {n: v.detach().numpy() for n, v in p.items()}
    for n, (weight, kind) in kept.items():
        some = p[weight] if weight else for_weights[0]
        after[n] = np.asarray(maker.state[some][kind])
    return loss.item(), after


def arguments_of(function):
    return function.__code__.co_varnames[:function.__code__.co_argcount]


def prepare(name, optimizer, folder):
    net = nets.NETS[name]
    file = os.path.join(MODELS, name.partition("-")[0] + ".tdl")
    options = ["--train", "--optimizer", optimizer.ours,
               *words(name, net.sizes)]
    shown = call(TDLC, "show", file, *options)
    own, kept, shapes = split_states(shown["tensor_list"], optimizer)
    torch.manual_seed(3)
    inputs = net.inputs()
    rng = np.random.default_rng(5)
    before = {n: draw_state(rng, n, dims) for n, dims in own.items()}
    before |= {n: draw_kept(rng, kind, shapes[n][0])
               for n, (_, kind) in kept.items()}
    # What f32 holds of it is what PyTorch begins with, too.
    fed = {n: v.astype("f4" if shapes[n][1] == "f32" else "i8")
           for n, v in before.items()}
    before = {n: v.astype("f8") for n, v in fed.items()}
    fed |= {n: v.numpy() for n, v in inputs.items()}
    fed["lr"] = np.array(optimizer.how["lr"], "f4")
    np.savez(os.path.join(folder, "in.npz"), **fed)
    weights = {weight for weight, _ in kept.values() if weight}
    extra = {n: v for n, v in net.sizes.items()
             if n in arguments_of(net.loss)}
    exact = {n: v.double() if v.is_floating_point() else v
             for n, v in inputs.items()}
    loss, after = torch_step(net, optimizer, extra, before, kept, exact,
                             weights)
    return Case(file, options, before, list(shapes), loss, after)


# ---- one plan ---------------------------------------------------------------

def differences(case, results):
    """The error of the loss; the worst of the tensors, and which it is."""
    worst = 0.0, ""
    for name in case.states:
        got, want = results[name].astype("f8"), case.after[name]
        assert got.shape == want.shape, (name, got.shape, want.shape)
        changed = np.linalg.norm(want - case.fed[name])
        allowed = STEP_TOLERANCE * changed \
            + KEPT_TOLERANCE * np.linalg.norm(want)
        error = np.linalg.norm(got - want) / max(allowed, 1e-30)
        worst = max(worst, (float(error), name))
    return abs(float(results["loss"]) / case.loss - 1), worst


def check(case, k, folder):
    """What a row of the table shows of one plan."""
    path, out = (os.path.join(folder, n) for n in ("plan", "out.npz"))
    began = time.monotonic()
    plan = call(TDLC, "plan", case.file, *case.options, "-k", str(k), "-o",
                path)
    planned = time.monotonic() - began
    run = call(TDLRUN, path, "--inputs", os.path.join(folder, "in.npz"),
               "--outputs", out, "--verify")
    check_plan(plan, k)
    check_run(run, plan)
    with np.load(out) as results:
        missing = {*case.states, "loss"} - {*results.files}
        assert not missing, f"no {missing} among the outputs"
        of_loss, (of_state, name) = differences(case, results)
    assert of_loss <= LOSS_TOLERANCE, \
        f"the loss is off by {of_loss}, relative to {case.loss}"
    assert of_state <= 1, f"{name} is off by {of_state} times the tolerance"
    return (f"{plan['operators']:5} {plan['byte_model']['total']:9} "
            f"{run['arena_bytes']:9} {planned:7.2f} {of_loss:8.1e} "
            f"{of_state:6.2f} {name}")


# ---- all of them ------------------------------------------------------------

def try_one(name, optimizer, devices):
    """(how many plans, how many of them failed)"""
    label = f"{name:12} {optimizer:6}"
    with tempfile.TemporaryDirectory() as folder:
        try:
            case = prepare(name, OPTIMIZERS[optimizer], folder)
        except Exception as e:
            print(f"FAIL: {label} {type(e).__name__}: {str(e)[:2000]}",
                  flush=True)
            return 1, 1
        failed = 0
        for k in devices:
            try:
                print(f"{label} {k} {check(case, k, folder)}", flush=True)
            except Exception as e:  # whatever it is, the next is tried
                failed += 1
                print(f"FAIL: {label} {k} {type(e).__name__}: "
                      f"{str(e)[:2000]}", flush=True)
    return len(devices), failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--devices", default=[1, 2, 4, 8],
                        type=lambda s: [int(k) for k in s.split(",")])
    parser.add_argument("--optimizers", default=list(OPTIMIZERS),
                        type=lambda s: s.split(","))
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    torch.set_num_threads(1)
    done = failed = 0
    print("network      how    k   ops     bytes     arena    plan     loss"
          "   step worst", flush=True)
    for i, name in enumerate(args.names or nets.NETS):
        some = args.optimizers[i % len(args.optimizers)]
        for optimizer in args.optimizers if args.all else [some]:
            plans, wrong = try_one(name, optimizer, args.devices)
            done, failed = done + plans, failed + wrong
    print(f"{done} plans, {failed} failed")
    sys.exit(1 if failed or not done else 0)


if __name__ == "__main__":
    main()
