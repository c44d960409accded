"""Steps of a drawn model in PyTorch, and how exactly they are to be met.

The exact result is that in f64.  By how much a computation in a shorter type
may differ from it is measured, by element: the twin runs in f32, and in f64
with every operation rounded to the type at random (rounding.py).  A few times
that is allowed, at least as much as at half of a tensor's elements, and a few
units of roundoff of the greatest element.  So an element that rounding alone
decides, such as what Adam makes of a gradient that is 0 but for rounding, may
lie where rounding takes it, and the others of its tensor may not.
"""
import contextlib
import fnmatch
import math
from dataclasses import dataclass, field

import numpy as np
import torch

import described
from rounding import BITS, Rounding

ROUNDOFF = {t: 2.0**-n for t, n in BITS.items()}
FACTOR = 10  # times the differences that were measured
UNITS = 32  # times the roundoff of the greatest element
FEW, MORE = 2, (4, 40)  # runs with rounding; where something differs
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


# ---- steps -------------------------------------------------------------------

@dataclass
class Results:
    """By name: outputs of the last step, states after it, and the losses."""
    tensors: dict = field(default_factory=dict)
    losses: list = field(default_factory=list)
    kept: dict = field(default_factory=dict)  # of these, by weight, what
    #                                           optimizers keep
    slopes: dict = field(default_factory=dict)  # by weight, of each step

    def named(self):
        yield from ((n, comparable(n, x)) for n, x in self.tensors.items())
        for i, loss in enumerate(self.losses):
            yield f"loss of step {i}", loss


def comparable(name, x):
    """A mean of squares by its root: errors are then those of what was
    squared."""
    return x ** 0.5 if name.endswith(".square") else x


def derive(loss):
    if not loss.requires_grad:
        raise Unfit("nothing to train")
    loss.backward()


class Steps:
    """A model and its data, and how it is run."""

    def __init__(self, model, data, how):
        self.model, self.data, self.how = model, data, how
        self.inputs, self.states, self.trained = [], {}, []
        self.exact = self.run()
        self.has_slope = any(bool(g.any()) for s in self.exact.slopes.values()
                             for g in s)

    def twin(self, given, step, dtype):
        return described.Twin(self.model, self.data, given, dtype,
                              step if self.how["feed"] == "data" else 0,
                              self.how["train"])

    def start(self, dtype):
        """The states before the first step."""
        def tensor(x):
            x = torch.tensor(x)
            return x if x.dtype in (torch.int64, torch.bool) else x.to(dtype)
        return {n: tensor(x) for n, x in self.states.items()}

    def run(self, dtype=torch.float64, rounding=False):
        """All steps; in f64, or rounded as the precision asked for."""
        how = self.how
        states, results, optimizer = self.start(dtype), Results(), None
        forwards = backwards = contextlib.nullcontext()
        if rounding:
            forwards = Rounding(how["precision"])
            backwards = Rounding(how["precision"], F16_SCALE)
        for step in range(how["steps"]):
            given = dict(states)
            if step < len(self.inputs):
                given |= self.inputs[step]
            twin = self.twin(given, step, dtype)
            if not step and not self.states:
                self.remember(twin, given, states)
            if how["train"]:
                # leaves that the twin reads as they are
                twin.given |= states
                for n, x in states.items():
                    if n in self.params and not self.frozen(n):
                        x.requires_grad_(True)
            if rounding:
                twin.given = {n: forwards.read(x)
                              for n, x in twin.given.items()}
            with forwards:
                twin.run()
            if step == len(self.inputs):
                self.inputs.append({n: given[n] for n in twin.inputs})
            if how["train"]:
                with backwards:
                    derive(twin.outputs["loss"])
                optimizer = optimizer or self.optimizer(states)
                for n in self.trained:
                    results.slopes.setdefault(n, []).append(
                        states[n].grad.clone())
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
                    results.kept[f"{n}.{ours}"] = n

    # ---- how exactly -----------------------------------------------------------

    def rough(self, count, seed):
        """Runs as a computation with rounding might have been."""
        torch.manual_seed(seed)
        if seed == 0:
            yield self.run(torch.float32)
        for _ in range(count):
            yield self.run(rounding=True)

    def allowance(self):
        """Of each result, how much it may differ."""
        unit = ROUNDOFF[self.how["precision"]]
        self.least, self.measured = {}, {}
        for name, x in self.exact.named():
            if not x.isfinite().all():
                raise Unfit(f"{name} is not finite")
            scale = x.abs().max().item() if x.numel() else 0.0
            if name in self.states and self.states[name].size:
                scale = max(scale, float(abs(self.states[name]).max()))
            self.least[name] = UNITS * ROUNDOFF["f32"] * scale
            if unit != ROUNDOFF["f32"] and name not in self.states:
                self.least[name] = 4 * unit * scale
        self.widen(FEW, 0)

    def widen(self, count, seed):
        for rough in self.rough(count, seed):
            for of, exact in ((rough.named(), dict(self.exact.named())),
                              (slopes(rough), dict(slopes(self.exact)))):
                for name, x in of:
                    if name in exact:
                        self.measure(name, x, exact[name])

    def measure(self, name, x, exact):
        d = (x.double() - exact.double()).abs()
        d = torch.nan_to_num(d, math.inf)
        self.measured[name] = torch.maximum(d, self.measured.get(name, d))

    def allowed(self, name):
        """By element."""
        d = self.measured[name]
        if not d.numel():
            return d.numpy()
        d = FACTOR * torch.maximum(d, d.median())
        return d.clamp_min(self.least.get(name, 0.0)).numpy()

    def stays(self, name, want):
        """A state that no step changes, which need not be in a plan; what an
        optimizer keeps is 0 at first."""
        if name in self.exact.kept:
            return not want.any()
        return name in self.states and np.array_equal(self.states[name], want)

    def untrained(self, got):
        """Weights that the plan does not train, rightly: all of the gradient
        may be 0.  PyTorch lets such a weight decay."""
        flat = {n: True for n in self.trained}
        for name, slope in slopes(self.exact):
            flat[name[1]] &= bool(
                (slope.abs().numpy() <= self.allowed(name)).all())
        kept = {of for name, of in self.exact.kept.items() if name in got}
        return {n for n, is_flat in flat.items()
                if is_flat and n not in kept and np.array_equal(
                    got.get(n, self.states[n]), self.states[n])}

    def differences(self, results, losses):
        """What differs by more than is allowed: [name, error, allowed]."""
        got = dict(results) | {f"loss of step {i}": np.float64(
            math.nan if x is None else x) for i, x in enumerate(losses)}
        left = self.untrained(got)
        found = []
        for name, want in self.exact.named():
            want = want.numpy()
            if self.exact.kept.get(name, name) in left:
                continue
            if name not in got and self.stays(name, want):
                continue
            if name not in got:
                found.append((name, "missing", 0))
                continue
            if got[name].shape != want.shape:
                found.append((name, f"{got[name].shape}, not {want.shape}", 0))
                continue
            d = np.abs(comparable(name, got[name].astype("f8")) - want)
            over = ~(d <= self.allowed(name))
            if over.any():
                at = np.where(over, np.nan_to_num(d, nan=np.inf), -1).argmax()
                rest = name in self.states and name not in self.trained
                found.append((name + ", which PyTorch does not train," * rest,
                              float(d.flat[at]),
                              float(self.allowed(name).flat[at])))
        return found


def slopes(results):
    """The gradients of all weights in all steps, by step and name."""
    for n, steps in results.slopes.items():
        yield from (((i, n), g) for i, g in enumerate(steps))
