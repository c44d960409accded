"""Gradient accumulation as PyTorch has it: a backward pass for each micro-batch.

Of a loss that is a mean a micro-batch gives the sum over its own samples,
divided by how many terms the whole batch has: so the losses add up to that of
the whole batch, however many of a micro-batch's labels count.
"""
from contextlib import contextmanager

import torch
import torch.nn.functional as F

MEANS = "cross_entropy", "mse_loss"


def count_terms(y, ignore_index=-100, **_):
    """The terms of a mean over the targets y."""
    return y.numel() if y.is_floating_point() \
        else int((y != ignore_index).sum())


@contextmanager
def means(make):
    """make(F's function) stands for each function that gives a mean."""
    kept = {name: getattr(F, name) for name in MEANS}
    try:
        for name, f in kept.items():
            setattr(F, name, make(f))
        yield
    finally:
        for name, f in kept.items():
            setattr(F, name, f)


def split(inputs, batch, turns):
    """The inputs of each micro-batch; their sizes differ by one at most.  The
    batch is the first dimension that is as long."""
    bounds = [t * batch // turns for t in range(turns + 1)]
    return [{name: v.narrow(v.shape.index(batch), lo, hi - lo)
             for name, v in inputs.items()}
            for lo, hi in zip(bounds, bounds[1:])]


def accumulate(loss_of, parts):
    """Adds up the gradients of loss_of(part) over the parts; returns the loss of
    all of them.  Each part calls for the same means in the same order."""
    terms = []

    def count(mean):
        def counted(x, y, **how):
            seen.append(count_terms(y, **how))
            return mean(x, y, **how)
        return counted

    def divide(mean):
        def divided(x, y, **how):
            return mean(x, y, reduction="sum", **how) / next(left)
        return divided

    for part in parts:
        seen = []
        with means(count), torch.no_grad():
            loss_of(part, False)
        terms.append(seen)
    total = [sum(n) for n in zip(*terms)]
    result = 0.0
    for part in parts:
        left = iter(total)
        with means(divide):
            loss = loss_of(part, True)
        loss.backward()
        result += loss.item()
    return result
