# Tests: libtdl
"""Plans of PyTorch modules, run on DTensors by processes with gloo: each step's
loss and the weights at the end are those of the module on one process; with data
parallelism the bytes are the plan's; weights go to tdlrun and back unchanged.

	parallel.py [--all] [--processes N...] [--planners NAME...] [--] [NAME...]

Without --all, or CHECK_ALL=yes, networks, planners and numbers of processes take
turns.
"""
import argparse
import itertools
import multiprocessing
import os
import re
import socket
import tempfile
import warnings

import package

package.needs("numpy", "torch", "tdl.torch")
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import networks  # noqa: E402
import tdl  # noqa: E402
import tdl.torch as tdl_torch  # noqa: E402
from tdl import dtensors, export  # noqa: E402
from programs import ALL, TDLC, TDLRUN, call, expect, finish  # noqa: E402
from programs import run, sample  # noqa: E402

STEPS = 20 if ALL else 3
# How far losses and weights may be from those in f64: as many times as far as one
# process in f32 is by then, and of a loss and the norm of a weight's change.
# Rounding may grow: from step 8 on each step of hf-gpt2 triples it, and 20 steps
# in f32 end 3e-5 of the loss away.
NOISE = 8
TOLERANCE = 2e-6
WEIGHT_TOLERANCE = 3e-5
RATE = 0.05


# ---- networks ---------------------------------------------------------------

NETS = networks.NETS
# Operators that DTensor has no rule for, where a plan divides them otherwise than
# by blocks that are all they need.  Those of ALONE compute each sample by itself,
# so that data parallelism gathers nothing.
ALONE = {"grouped"}
GATHERED = {"grouped": {"group_norm"}}
# Of bytes: what the plan divides of constants, which all processes have here; what
# it counts of statistics, or DTensors of a loss, that the other does not.
APART = {"llama": 0.02, "hf-vit": 0.02, "cnn": 0.002, "grouped": 0.002,
         "resnet": 0.02, "unet": 0.001}
MOST_TIMES = 6  # a plan's bytes, where layouts of gradients are DTensor's
PLANNERS = "tofu", "data-parallel", "auto"
PROCESSES = (2, 4, 8) if ALL else (2, 4)


def network(name):
    torch.manual_seed(7)
    module = NETS[name]()
    return module, module.inputs()


# ---- a process --------------------------------------------------------------

def begin(rank, count, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                      RANK=str(rank), WORLD_SIZE=str(count),
                      GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=count)


def worker(rank, count, port, folder, name):
    begin(rank, count, port)
    module, inputs = network(name)
    plan = tdl_torch.load(os.path.join(folder, "plan"))
    parallel = plan.to_dtensor(module, plan.device_mesh())
    optimizer = torch.optim.SGD(parallel.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        with tdl_torch.CountBytes() as counted:
            loss = parallel(*inputs)
            loss.backward()
        optimizer.step()
        losses.append(loss.full_tensor().item())
    received = torch.tensor([float(counted.total)])
    torch.distributed.all_reduce(received)
    weights = {n: p.full_tensor().detach()
               for n, p in parallel.named_parameters()}
    if rank == 0:
        torch.save({"losses": losses, "received": received.item(),
                    "weights": weights, "gathered": parallel.gathered},
                   os.path.join(folder, "result"))
    torch.distributed.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def run_workers(what, count, task, *args):
    """Runs task(rank, count, port, *args) in each of so many processes.  They are
    forks of one that has imported what the script imports, and nothing else."""
    port = free_port()
    forks = multiprocessing.get_context("forkserver")
    all_of_them = [forks.Process(target=task, args=(rank, count, port, *args))
                   for rank in range(count)]
    for p in all_of_them:
        p.start()
    for p in all_of_them:
        p.join(600)
    codes = [p.exitcode for p in all_of_them]  # None: it still runs
    for p in all_of_them:
        p.kill()
    assert codes == [0] * count, f"processes of {what} ended with {codes}"


# ---- checks -----------------------------------------------------------------

def alone(name, kind=torch.float32):
    """The losses and weights of the module itself in f32 or f64, with attention
    as products and a softmax, as DTensors have it here."""
    module, inputs = network(name)
    module = module.to(kind)
    inputs = [x.to(kind) if x.is_floating_point() else x for x in inputs]
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        with sdpa_kernel(SDPBackend.MATH):
            loss = module(*inputs)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {n: p.detach().double()
                    for n, p in module.named_parameters()}


def check_results(what, name, result, begin):
    """Losses and weights of processes against those of one in f32 and f64."""
    losses, weights = alone(name)
    exact, exact_weights = alone(name, torch.float64)
    off = 0
    for i, (loss, one, want) in enumerate(zip(result["losses"], losses, exact)):
        off = max(off, abs(one - want))
        error = abs(loss - want)
        expect(f"{what}: loss {i} differs by {error:.1e}, in f32 by {off:.1e}",
               error <= NOISE * off + TOLERANCE * abs(want))
    expect(f"{what}: the loss falls", losses[-1] < losses[0])
    for n, want in exact_weights.items():
        change = (want - begin[n]).norm()
        off = (weights[n] - want).norm()
        error = (result["weights"][n] - want).norm()
        expect(f"{what}: {n} differs by {error:.1e} of {change:.1e}, in f32 by "
               f"{off:.1e}", error <= NOISE * off + WEIGHT_TOLERANCE * change +
               1e-7 * want.norm() + 1e-8)


# A loss is divided by the number of its targets: of both, 12 bytes, there is a
# sum over all processes.
LOSS = 12


def axis_by_axis(mesh):
    """The bytes of a sum over all processes where it is made along one axis of
    a mesh after the other, as DTensor does, relative to one over all at once."""
    k = np.prod(mesh)
    return sum((n - 1) / n for n in mesh if n > 1) / ((k - 1) / k)


def check(name, count, planner, folder):
    what = f"{name}, {count} processes, {planner}"
    module, inputs = network(name)
    begin = {n: p.detach().clone() for n, p in module.named_parameters()}
    plan = tdl.plan(module, inputs, count, train=True, algorithm=planner)
    plan.save(os.path.join(folder, "plan"))
    again = tdl_torch.load(os.path.join(folder, "plan"))
    expect(f"{what}: a plan that is read has the report of its search",
           again.report() == plan.report() and
           again.communication_bytes == plan.communication_bytes)
    run_workers(name, count, worker, folder, name)
    result = torch.load(os.path.join(folder, "result"))
    check_results(what, name, result, begin)
    moved, planned = result["received"], plan.communication_bytes
    print(f"{what}: {moved:.0f} bytes, {planned} of the plan, of tdlrun's "
          f"{plan.report()['communication_bytes']}; gathered: "
          f"{sorted(result['gathered'])}", flush=True)
    gathered = {re.sub(r"_\d+$", "", n) for n in result["gathered"]}
    known = set() if name in ALONE and planner == "data-parallel" else \
        GATHERED.get(name, set())
    expect(f"{what}: gathered are {result['gathered']}", gathered <= known)
    if planner == "data-parallel" and not gathered:
        # What a token of a class is repeated to is summed up twice.
        most = (planned + 2 * LOSS * (count - 1)) * axis_by_axis(plan.mesh)
        rest = 0.5 + APART.get(name, 0) * most
        expect(f"{what}: bytes {moved} and {most}", abs(moved - most) <= rest)
    elif not gathered:
        expect(f"{what}: bytes {moved} for {planned}",
               moved <= MOST_TIMES * planned)
    return plan


def check_weights(folder):
    """PyTorch to tdlrun, a step there, and back: the step of PyTorch."""
    module, inputs = network("mlp")
    plan = tdl.plan(module, inputs, 2, train=True, optimizer="sgd")
    file = os.path.join(folder, "step.plan")
    plan.write(file)
    for kind in "npz", "safetensors":
        path = os.path.join(folder, f"weights.{kind}")
        plan.save_state_dict(module.state_dict(), path)
        same = plan.state_dict(path)
        expect(f"{kind}: weights come back unchanged",
               same.keys() == module.state_dict().keys() and
               all(torch.equal(same[n], x)
                   for n, x in module.state_dict().items()))
    x, label = (t.numpy() for t in inputs)
    names = [t["name"] for t in plan.plan.tables()["tensors"]
             if t["role"] == "input"]
    np.savez(os.path.join(folder, "in.npz"), x=x, label=label,
             **({"lr": np.float64(RATE)} if "lr" in names else {}))
    run(TDLRUN, file, "--parameters", os.path.join(folder, "weights.npz"),
        "--inputs", os.path.join(folder, "in.npz"), "--outputs",
        os.path.join(folder, "out.npz"))
    after = plan.state_dict(os.path.join(folder, "out.npz"))
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    module(*inputs).backward()
    optimizer.step()
    for n, w in module.state_dict().items():
        expect(f"{n} after a step of tdlrun",
               torch.allclose(after[n], w, rtol=1e-5, atol=1e-6))
    module.load_state_dict(after)
    mesh_error = None
    try:
        plan.to_dtensor(module, type("Mesh", (), {"mesh": torch.zeros(3, 1)}))
    except ValueError as e:
        mesh_error = str(e)
    expect("a mesh of another shape is refused",
           mesh_error and "device_mesh" in mesh_error)
    stages_error = None
    try:
        tdl.plan(module, inputs, 2, train=True, stages=2, micro_batches=2,
                 batch_dim=["x=0", "label=0"])
    except ValueError as e:
        stages_error = str(e)
    expect("stages are refused", stages_error and "mesh" in stages_error)


class Parts(nn.Module):
    """What of a module is trained and what is not: a weight of two layers, one
    that is frozen, a buffer, a constant, one number, one that nothing reads,
    statistics of the batch and running ones."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(16, 8)
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(2))
        self.inner = nn.Linear(8, 8)
        self.statistics = nn.BatchNorm1d(8)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)
        self.register_buffer("table", torch.randn(8, 8))
        self.constant = torch.randn(8, 8)
        self.register_buffer("shares", torch.linspace(0.5, 4, 16))
        self.sharpness = nn.Parameter(torch.tensor(2.0))
        self.unused = nn.Parameter(torch.randn(3))
        self.head = nn.Linear(8, 16, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x, label):
        y = self.statistics(self.norms[0](self.words(x))) @ self.table
        y = self.norms[1](self.frozen(self.inner(y)) @ self.constant)
        return F.cross_entropy(self.head(y) * self.sharpness, label,
                               self.shares, ignore_index=3)


def check_parts(folder):
    """A step of tdlrun changes what a step of PyTorch does, but the running
    variance, of which ONNX divides by n and PyTorch by n - 1, and the weights are
    all that the module has; they evaluate."""
    torch.manual_seed(3)
    module = Parts()
    inputs = torch.randint(0, 16, (8,)), torch.tensor([3, 0, 9, 3, 1, 15, 7, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", tdl.TdlWarning)
        plan = tdl.plan(module, inputs, 2, train=True, optimizer=f"sgd,lr={RATE}")
    file, fed, out, weights = (os.path.join(folder, f) for f in (
        "parts.plan", "in.npz", "out.npz", "weights.npz"))
    plan.write(file)
    plan.save(os.path.join(folder, "parts"))
    plan = tdl_torch.load(os.path.join(folder, "parts"))
    np.savez(fed, x=inputs[0].numpy(), label=inputs[1].numpy())
    plan.save_state_dict(module.state_dict(), weights)
    run(TDLRUN, file, "--parameters", weights, "--inputs", fed, "--outputs",
        out)
    after = plan.state_dict(out)
    module(*inputs).backward()
    torch.optim.SGD((p for p in module.parameters() if p.requires_grad),
                    lr=RATE).step()
    for n, w in module.state_dict().items():
        if n.endswith("running_var"):
            w = 0.9 + (w - 0.9) * 7 / 8
        expect(f"parts: {n} after a step of tdlrun",
               n.endswith("num_batches_tracked") or
               torch.allclose(after[n], w, rtol=1e-5, atol=1e-6))
    module.load_state_dict(after)
    judge = tdl.plan(module.eval(), inputs, 2, evaluate=True)
    judge.write(file)
    run(TDLRUN, file, "--parameters", out, "--inputs", fed, "--outputs", weights)
    with np.load(weights) as found:
        want = module(*inputs).item()
        loss = found[judge.program.graph_signature.user_outputs[0]]
        expect(f"parts: the loss {loss}, PyTorch's {want}",
               abs(loss - want) < 1e-5 * want)
    module.train()
    expect("parts: a weight of two layers is placed by both names",
           plan.placements("words.weight") == plan.placements("head.weight")
           is not None)
    trained = tdl.plan(module, inputs, 2, train=True, train_only="norms.*",
                       freeze="*.bias")
    names = {t["name"] for t in trained.plan.tables()["tensors"]
             if t["role"] == "state"}
    expect(f"parts: of two patterns {names}",
           {n for n in names if not n.startswith("statistics.running_")} ==
           {"norms.0.weight", "norms.1.weight"})
    check_chosen(module, inputs)


def check_chosen(module, inputs):
    """What patterns choose: parameters alone that the graph has and that require
    a gradient, by any of their names."""
    program = export.export(module, inputs, {}, True)

    def chosen(**options):
        try:
            found = export.weights(module, program, options, False)
        except ValueError as e:
            return str(e)
        expect(f"parts: {options} leaves {found}", not found["freeze"])
        return set(found["train_only"])
    tied = ({"words.weight"}, {"head.weight"})
    every = chosen()
    expect(f"parts: of no patterns {every}",
           len(every) == 10 and chosen(train_only=[]) == every)
    for name in "words.*", "head.*":
        expect(f"parts: of {name} {chosen(train_only=name)}",
               chosen(train_only=name) in tied)
        expect(f"parts: without {name} {chosen(freeze=name)}",
               every - chosen(freeze=name) in tied)
        fault = chosen(train_only="words.*", freeze=["*.bias", name])
        expect(f"parts: nothing is left: {fault}", "freeze" in fault)
    for name in "frozen.*", "unused", "nothing":
        fault = chosen(train_only=[name, "inner.*"])
        expect(f"parts: {name} is refused: {fault}", f"'{name}'" in fault)
    for p in module.parameters():
        p.requires_grad_(p is module.unused)
    expect("parts: nothing to train of the graph is refused",
           "gradient" in chosen())
    fault = None
    try:
        tdl.plan(module.requires_grad_(False), inputs, 2, train=True)
    except ValueError as e:
        fault = str(e)
    expect("parts: nothing to train is refused", fault and "gradient" in fault)


class Shared(nn.Module):
    """Two parameters with the same memory."""

    def __init__(self):
        super().__init__()
        self.a, self.b = (nn.Linear(64, 64, bias=False) for _ in range(2))
        self.b.weight.data = self.a.weight.data

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))).square().mean()


def check_shared():
    """Parameters that the plan has both are placed each in its own way."""
    plan = tdl.plan(Shared(), (torch.randn(4, 64),), 2, train=True)
    places = [plan.placements(n) for n in ("a.weight", "b.weight")]
    cuts = {t["name"]: t["cuts"] for t in plan.plan.tables()["tensors"]}
    expect(f"shared: {places}", None not in places and
           (places[0] == places[1]) == (cuts["a.weight"] == cuts["b.weight"]))


class Branch(nn.Module):
    """What no export follows: a branch on data."""

    def forward(self, x):
        return x if x.sum() > 0 else -x


def check_refused():
    """The message has PyTorch's own reason."""
    fault = None
    try:
        tdl.plan(Branch(), (torch.ones(4),), 2)
    except ValueError as e:
        fault = str(e)
    expect(f"a branch on data: {fault}", fault and "data-dependent" in fault)


class Smoothed(networks.Mlp):
    def forward(self, x, label):
        return F.cross_entropy(self.body(x), label, label_smoothing=0.1)


def check_smoothed():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", tdl.TdlWarning)
        tdl.plan(Smoothed(), Smoothed.inputs(), 2, train=True)
    expect("smoothed labels are left out without a warning",
           any("label smoothing" in str(w.message) for w in found))


def check_sums():
    """What stands in place of an operator gives what it gives, and gradients."""
    aten = torch.ops.aten
    torch.manual_seed(5)

    def same(what, target, args, nresults=5):
        found = []
        for f in target, dtensors.in_place_of(target):
            x, *rest = args
            x = x.clone().requires_grad_()
            results = f(x, *(y.clone() if isinstance(y, torch.Tensor) else y
                             for y in rest))
            results = results if isinstance(results, tuple) else (results,)
            (results[0].float() * torch.linspace(1, 2, results[0].numel())
             .reshape(results[0].shape)).sum().backward()
            found.append([x.grad, *results[:nresults]])
        near = 1e-5 if args[0].dtype == torch.float32 else 2e-2
        expect(f"{what} by sums", all(
            torch.allclose(x.float(), y.float(), rtol=near, atol=near)
            for x, y in zip(*found)))
    for shape, kind, rest in itertools.product(
            [(6, 3), (4, 3, 5, 2)], [torch.float32, torch.bfloat16],
            [(None, None), (torch.rand(3), torch.rand(3))]):
        x, own = torch.randn(shape).to(kind) + 1, (torch.rand(3), torch.rand(3))
        what = f"batch_norm of {shape}, {kind}, {rest[0] is not None}"
        same(what, aten._native_batch_norm_legit_functional.default,
             (x, *rest, *own, True, 0.1, 1e-3))
        for training in True, False:
            same(f"{what}, {training}", aten.batch_norm.default,
                 (x, *rest, *own, training, 0.1, 1e-3, False))
        same(f"{what}, running",
             aten._native_batch_norm_legit_no_training.default,
             (x, *rest, *own, 0.1, 1e-3), 1)
    x, y = torch.randn(2, 4, 3)
    for rest in (None, None), tuple(torch.rand(2, 4, 3)):
        whole = F.layer_norm(x, [4, 3], *rest, 1e-3)
        sums = dtensors._layer_norm_by_sums(x, [0, 1], *rest, 1e-3)
        expect("layer_norm by sums", torch.allclose(sums, whole, atol=1e-6))
    for reduction in range(3):
        same(f"mse_loss, {reduction}", aten.mse_loss.default, (x, y, reduction))
    same("mse_loss", aten.mse_loss.default, (x, y))
    for kind in torch.bfloat16, torch.float16:
        many = (2 * torch.randn(2, 300, 300)).to(kind)
        same(f"mse_loss of many {kind}", aten.mse_loss.default, tuple(many))


class Judged(nn.Module):
    """Whether each sample's class is the likeliest."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x, label):
        return (self.body(x).argmax(-1) == label).float()


def check_accuracy(folder):
    """tdlrun trains, and finds the accuracy that PyTorch finds for the weights
    of the checkpoint; saved by PyTorch these are the same, to the bit, and so
    is the accuracy."""
    def path(name):
        return os.path.join(folder, name)

    module, inputs = network("mlp")
    judge = Judged(module.body)
    step = tdl.plan(module, inputs, 2, train=True, optimizer="adam,lr=0.01")
    step.write(path("step.plan"))
    tdl.plan(judge, inputs, 2, evaluate=True).write(path("judge.plan"))
    rng = np.random.default_rng(3)
    x = rng.standard_normal((88, 24)).astype(np.float32)
    label = (x @ rng.standard_normal((24, 8))).argmax(1)
    np.savez(path("data.npz"), x=x, label=label)
    np.savez(path("test.npz"), x=x[:40], label=label[:40])
    done = call(TDLRUN, path("step.plan"), "--data", path("data.npz"),
                "--epochs", "6", "--checkpoint", path("run"), "--evaluate",
                path("judge.plan"), "--evaluate-data", path("test.npz"))
    found, = done["evaluations"][-1]["means"].values()
    module.load_state_dict(step.state_dict(path("run")))
    with torch.no_grad():
        want = judge(torch.tensor(x[:40]),
                     torch.tensor(label[:40])).mean().item()
    expect(f"accuracy {found}, PyTorch's {want}", abs(found - want) < 1e-6)
    expect(f"accuracy {found}: nothing was learnt", found > 0.3)
    step.save_state_dict(module.state_dict(), path("again.npz"))
    newest = max(os.listdir(path("run")), key=lambda n: int(n[5:-4]))
    with np.load(path("again.npz")) as again, \
            np.load(os.path.join(path("run"), newest)) as first:
        expect("weights that come back differ",
               len(again.files) == len(module.state_dict()) and all(
                   again[n].tobytes() == first[n].tobytes()
                   for n in again.files))
    alone = call(TDLRUN, path("judge.plan"), "--parameters",
                 path("again.npz"), "--data", path("test.npz"))
    expect("another accuracy of the weights that come back",
           list(alone["evaluation"].values()) == [found])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--all", action="store_true", default=ALL)
    p.add_argument("--processes", type=int, nargs="+", default=PROCESSES)
    p.add_argument("--planners", nargs="+", default=PLANNERS)
    a = p.parse_args()
    every = a.names or [n for n in NETS if ALL or not n.startswith("hf-")]
    cases = list(itertools.product(every, a.processes, a.planners))
    if not a.all:
        # Each network, planner and number of processes.
        turns = [(name, PROCESSES[i % 2], PLANNERS[(i + 1) % 3])
                 for i, name in enumerate(every)]
        cases = sample(turns, 2)
    for name, count, planner in cases:
        with tempfile.TemporaryDirectory() as folder:
            check(name, count, planner, folder)
    with tempfile.TemporaryDirectory() as folder:
        check_weights(folder)
        check_parts(folder)
        check_shared()
        check_refused()
        check_smoothed()
        check_sums()
        check_accuracy(folder)
    finish()


if __name__ == "__main__":
    main()
