"""Steps of a drawn model in PyTorch, and how exactly they are to be met.

The exact result is that in f64.  By how much a computation in a shorter type
may differ from it is measured: the twin runs in f32 from inputs that are moved
by their last bit, and in f64 with every result, and every derivative, moved by
the roundoff of the type, at random (Monte Carlo arithmetic: Parker, Pierce,
Eggert, CiSE 2000).  A few times that is allowed, and a few units of roundoff
of the greatest element.
"""
import fnmatch
import math
from dataclasses import dataclass, field

import numpy as np
import torch

import described

ROUNDOFF = {"f32": 2.0**-24, "bf16": 2.0**-9, "f16": 2.0**-12}
FACTOR = 10  # times the differences that were measured
UNITS = 32  # times the roundoff of the greatest element
FEW, MANY = 2, 40  # runs with noise; where something differs
F16_SCALE = 256.0


class Unfit(Exception):
    """Nothing is to be compared: what PyTorch makes of it is not finite."""


# ---- optimizers --------------------------------------------------------------

class Lion(torch.optim.Optimizer):
    """Chen et al., 2023, as LION has it."""

    def __init__(self, weights, lr, weight_decay):
        super().__init__(weights, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                m = self.state[w].setdefault("mean", torch.zeros_like(w))
                along = torch.sign(0.9 * m + 0.1 * w.grad)
                w -= group["lr"] * (along + group["weight_decay"] * w)
                m.mul_(0.99).add_(0.01 * w.grad)


LION = """
op lion(w[..d], g[..d], mean[..d], lr[]: f64;
        default_lr: float = 0.001, weight_decay: float = 0.0)
    -> (next_w[..d], next_mean[..d]) =
    lambda ..d:
        w[..d]
        - cast(lr[], w)
          * (sign(0.9 * mean[..d] + 0.1 * g[..d]) + weight_decay * w[..d])
    lambda ..d: 0.99 * mean[..d] + 0.01 * g[..d]
"""
ADAM = {"mean": "exp_avg", "square": "exp_avg_sq"}
# PyTorch's class, and its names of what a weight has
OPTIMIZERS = {"sgd": (torch.optim.SGD, {"velocity": "momentum_buffer"}),
              "adam": (torch.optim.Adam, ADAM),
              "adamw": (torch.optim.AdamW, ADAM),
              "lion": (Lion, {"mean": "mean"})}


def options_of(how):
    """The optimizer's attributes in PyTorch's words."""
    given = dict(how["attributes"])
    if "beta1" in given:
        given["betas"] = given.pop("beta1"), given.pop("beta2")
    return given | {"lr": how["lr"]}


def learning_rate(how, step):
    """As docs/training.md has it."""
    n, warmup = how["steps"], how["warmup"]
    if step < warmup:
        return how["lr"] * (step + 1) / warmup
    done = (step - warmup) / (n - warmup)
    return how["lr"] * {"constant": 1, "linear": 1 - done, "cosine":
                        (1 + math.cos(math.pi * done)) / 2}[how["schedule"]]


# ---- noise -------------------------------------------------------------------

class Moved(torch.autograd.Function):
    """What it is given, and its derivative, moved by some of the roundoff."""

    @staticmethod
    def forward(ctx, x, unit):
        ctx.unit = unit
        return x * (1 + unit * (2 * torch.rand_like(x) - 1))

    @staticmethod
    def backward(ctx, g):
        return g * (1 + ctx.unit * (2 * torch.rand_like(g) - 1)), None


def moving(unit):
    def move(x):
        if not x.is_floating_point():
            return x
        return Moved.apply(x, unit)
    return move


def same(x):
    return x


# ---- steps -------------------------------------------------------------------

@dataclass
class Results:
    """By name: outputs of the last step, states after it, and the losses."""
    tensors: dict = field(default_factory=dict)
    losses: list = field(default_factory=list)
    kept: set = field(default_factory=set)  # of these, what optimizers keep

    def named(self):
        yield from self.tensors.items()
        for i, loss in enumerate(self.losses):
            yield f"loss of step {i}", loss


class Steps:
    """A model and its data, and how it is run."""

    def __init__(self, model, data, how):
        self.model, self.data, self.how = model, data, how
        self.inputs, self.states, self.trained = [], {}, []
        self.slopes = 0     # steps with a derivative that is not 0
        self.exact = self.run()
        self.has_slope = self.slopes > 0

    def twin(self, given, step, dtype, noise):
        return described.Twin(self.model, self.data, given, dtype,
                              step if self.how["feed"] == "data" else 0,
                              self.how["train"], noise)

    def start(self, dtype, moved):
        """The states before the first step."""
        def tensor(x):
            x = torch.tensor(x)
            x = x if x.dtype in (torch.int64, torch.bool) else x.to(dtype)
            return moving(moved)(x) if moved else x
        return {n: tensor(x) for n, x in self.states.items()}

    def run(self, dtype=torch.float64, unit=0.0, moved=0.0):
        """`unit`: by how much results are moved; `moved`: weights and
        inputs."""
        how, noise = self.how, moving(unit) if unit else same
        states, results = self.start(dtype, moved), Results()
        optimizer = None
        for step in range(how["steps"]):
            given = dict(states)
            if step < len(self.inputs):
                given |= {n: moving(moved)(torch.tensor(x)) if moved else x
                          for n, x in self.inputs[step].items()}
            twin = self.twin(given, step, dtype, noise)
            if not step and not self.states:
                self.remember(twin, given, states)
            if how["train"]:
                # leaves that the twin reads as they are
                twin.given |= states
                for n, x in states.items():
                    if n in self.params and not self.frozen(n):
                        x.requires_grad_(True)
            twin.run()
            if step == len(self.inputs):
                self.inputs.append({n: given[n] for n in twin.inputs})
            if how["train"]:
                if not twin.outputs["loss"].requires_grad:
                    raise Unfit("nothing to train")
                twin.outputs["loss"].backward()
                self.slopes += any(
                    states[n].grad is not None and bool(states[n].grad.any())
                    for n in self.params)
                if optimizer is None:
                    optimizer = self.optimizer(states)
                self.update(optimizer, states, step)
            states |= {n: x.to(dtype) for n, x in twin.next.items()}
            results.losses.append(twin.outputs["loss"].detach())
        results.tensors = {n: x.detach() for n, x in
                           [*states.items(), *twin.outputs.items()]}
        self.kept(optimizer, states, results)
        return results

    def remember(self, twin, given, states):
        """What the first run drew."""
        twin.run()
        self.params = list(twin.params)
        for n in [*twin.params, *twin.states]:
            self.states[n] = given[n]
            states[n] = torch.tensor(given[n])
        given |= states

    def frozen(self, name):
        return any(fnmatch.fnmatchcase(name, g) for g in self.how["freeze"])

    # ---- the optimizer --------------------------------------------------------

    def optimizer(self, states):
        weights = [states[n] for n in self.params
                   if states[n].grad is not None]
        self.trained = [n for n in self.params if states[n].grad is not None]
        if not weights:
            raise Unfit("nothing to train")
        return OPTIMIZERS[self.how["optimizer"]][0](weights,
                                                    **options_of(self.how))

    def update(self, optimizer, states, step):
        weights = [states[n] for n in self.trained]
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(self.how, step)
        if self.how["clip"]:
            torch.nn.utils.clip_grad_norm_(weights, self.how["clip"])
        optimizer.step()
        for w in weights:
            w.grad = None

    def kept(self, optimizer, states, results):
        """Adds what the optimizer keeps, by its names in a plan."""
        if optimizer is None:
            return
        names = OPTIMIZERS[self.how["optimizer"]][1]
        for n in self.trained:
            state = optimizer.state[states[n]]
            for ours, theirs in names.items():
                if state.get(theirs) is not None:
                    results.tensors[f"{n}.{ours}"] = state[theirs].detach()
                    results.kept.add(f"{n}.{ours}")

    # ---- how exactly -----------------------------------------------------------

    def rough(self, count, seed):
        """Runs as a computation with rounding might have been."""
        unit = ROUNDOFF[self.how["precision"]]
        torch.manual_seed(seed)
        if seed == 0:
            yield self.run(torch.float32, 0.0, ROUNDOFF["f32"])
        for _ in range(count):
            yield self.run(torch.float64, 2 * unit, unit)

    def allowance(self):
        """Of each result, how much it may differ."""
        unit = ROUNDOFF[self.how["precision"]]
        self.allowed = {}
        for name, x in self.exact.named():
            if not x.isfinite().all():
                raise Unfit(f"{name} is not finite")
            scale = x.abs().max().item() if x.numel() else 0.0
            if name in self.states and self.states[name].size:
                scale = max(scale, float(abs(self.states[name]).max()))
            self.allowed[name] = UNITS * ROUNDOFF["f32"] * scale
            if unit != ROUNDOFF["f32"] and name not in self.states:
                self.allowed[name] = 4 * unit * scale
        self.widen(FEW, 0)

    def widen(self, count, seed):
        for rough in self.rough(count, seed):
            for name, x in rough.named():
                if name not in self.allowed:
                    continue
                want = dict(self.exact.named())[name]
                d = (x.double() - want.double()).abs()
                if d.numel():
                    d = FACTOR * torch.nan_to_num(d, math.inf).max().item()
                    self.allowed[name] = max(self.allowed[name], d)

    def stays(self, name, want):
        """A state that no step changes, which need not be in a plan; what an
        optimizer keeps is 0 at first."""
        if name in self.exact.kept:
            return not want.any()
        return name in self.states and np.array_equal(self.states[name], want)

    def differences(self, results, losses):
        """What differs by more than is allowed: [name, error, allowed]."""
        got = dict(results) | {f"loss of step {i}": np.float64(
            math.nan if x is None else x) for i, x in enumerate(losses)}
        found = []
        for name, want in self.exact.named():
            want = want.numpy()
            if name not in got and self.stays(name, want):
                continue
            if name not in got:
                found.append((name, "missing", 0))
                continue
            if got[name].shape != want.shape:
                found.append((name, f"{got[name].shape}, not {want.shape}", 0))
                continue
            d = np.abs(got[name].astype("f8") - want)
            error = float(d.max()) if d.size else 0.0
            if not error <= self.allowed[name]:
                rest = name in self.states and name not in self.trained
                found.append((name + ", which PyTorch does not train," * rest,
                              error, self.allowed[name]))
        return found
