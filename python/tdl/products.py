"""Sums of products on DTensors: matrix products, einsum, convolutions.

Each dimension of an operand has a label, as in an einsum.  An axis of the mesh
divides one label: operands that have it are divided there, others are whole, and
each process computes with its blocks.  A result that has the label is divided,
too; of any other each process has a part of a sum.  This moves nothing, forward
or backward.  DTensor's own rules for these operators flatten all dimensions but
the last, and gather what is divided along one that is not the first.
"""
from dataclasses import dataclass, field
from typing import Callable

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from .dtensors import laid_out, stored_sum

_aten = torch.ops.aten


@dataclass
class Product:
    """An operator on DTensors.  No axis divides a dimension whose label is
    None, as that of one element that is repeated beside others' dimension."""

    operands: list
    labels: list        # of each operand, by dimension
    result: tuple       # labels
    call: Callable      # of operands, and of the bias where there is one
    bias: object = None     # along the label "n"
    full: bool = False  # no block may be empty
    along: list = field(init=False)  # by axis of the mesh: its label, or None

    def __post_init__(self):
        self.mesh = self.operands[0].device_mesh
        self.labels = [
            tuple(None if n == 1 and self._size(label) != 1 else label
                  for n, label in zip(x.shape, of))
            for x, of in zip(self.operands, self.labels)]
        self.along = [self._best(a) for a in range(self.mesh.ndim)]
        if self.full:
            self._keep_full()

    def _best(self, axis):
        """The label that it divides: with the least of operands to gather."""
        cut = [(of[p.dim], x.numel()) for x, of in
               zip(self.operands, self.labels)
               for p in [x.placements[axis]] if p.is_shard()]
        return min((label for label, _ in cut), default=None, key=lambda best: (
            sum(n for label, n in cut if best is None or label != best),
            best is None))

    def _keep_full(self):
        """No axis divides a label so that a process has nothing."""
        for label in set(self.along) - {None}:
            sizes = {self._size(label)}
            for n, one in zip(self.mesh.shape, self.along):
                if one == label:
                    sizes = {max(0, min(chunk, size - i * chunk))
                             for size in sizes for chunk in [-(-size // n)]
                             for i in range(n)}
            if 0 in sizes:
                self.along = [None if one == label else one
                              for one in self.along]

    def _size(self, label):
        sizes = {x.shape[of.index(label)] for x, of in
                 zip(self.operands, self.labels) if label in of}
        return max(sizes - {1}, default=1)

    def _divided(self, labels):
        """The placements of what has these labels."""
        return tuple(Replicate() if a is None or a not in labels
                     else Shard(labels.index(a)) for a in self.along)

    def gathers(self):
        """Whether an operand is divided along a dimension that no axis
        divides."""
        return any(p.is_shard() and of[p.dim] is None
                   for x, of in zip(self.operands, self.labels)
                   for p in x.placements)

    def run(self, stored):
        """The result.  If it is a sum and has a bias, it is in these placements,
        unless they are None, before the bias is added."""
        summed = [a is not None and a not in self.result for a in self.along]
        blocks = [self._block(x, of)
                  for x, of in zip(self.operands, self.labels)]
        if self.bias is not None:
            blocks.append(None if any(summed)
                          else self._block(self.bias, ("n",)))
        y = self.call(*blocks)
        shape = torch.Size(n if label is None or label not in self.along
                           else self._size(label)
                           for label, n in zip(self.result, y.shape))
        y = DTensor.from_local(
            y, self.mesh, [Partial() if s else p for s, p in
                           zip(summed, self._divided(self.result))],
            run_check=False, shape=shape,
            stride=torch.empty(shape, device="meta").stride())
        if self.bias is None or not any(summed):
            return y
        behind = len(self.result) - 1 - self.result.index("n")
        return stored_sum(y, stored) + self.bias.reshape(-1, *[1] * behind)

    def _block(self, x, labels):
        """Its gradient is a part of a sum where it is whole and others are
        divided."""
        placements = self._divided(labels)
        return laid_out(x, placements).to_local(grad_placements=[
            Partial() if a is not None and p.is_replicate() else p
            for a, p in zip(self.along, placements)])


# ---- operators --------------------------------------------------------------

def _linear(x, weight, bias=None):
    if weight.ndim == 1 or bias is not None and bias.shape != weight.shape[:1]:
        return None
    batch = tuple(range(x.ndim - 1))
    return Product([x, weight], [(*batch, "k"), ("n", "k")], (*batch, "n"),
                   _aten.linear.default, bias)


def _mm(a, b):
    return Product([a, b], ["mk", "kn"], "mn", _aten.mm.default)


def _addmm(bias, a, b, beta=1, alpha=1):
    if bias.shape != b.shape[1:] or beta != 1 or alpha != 1:
        return None
    return Product([a, b], ["mk", "kn"], "mn", lambda x, y, z: x @ y
                   if z is None else _aten.addmm.default(z, x, y), bias)


def _bmm(a, b):
    return Product([a, b], ["bmk", "bkn"], "bmn", _aten.bmm.default)


def _matmul(a, b):
    nbatch = max(a.ndim, b.ndim, 2) - 2

    def batch(x):
        return range(nbatch + 2 - max(x.ndim, 2), nbatch)
    rows, columns = "m" * (a.ndim > 1), "n" * (b.ndim > 1)
    return Product([a, b], [(*batch(a), *rows, "k"), (*batch(b), "k", *columns)],
                   (*range(nbatch), *rows, *columns), _aten.matmul.default)


def _einsum(equation, operands, path=None):
    terms, arrow, result = equation.replace(" ", "").partition("->")
    terms = terms.split(",")
    if not arrow or "." in equation or \
            any(len(set(t)) < len(t) for t in terms):
        return None
    return Product(operands, terms, result, lambda *blocks: torch.einsum(
        equation, *blocks))


def _convolution(target):
    """Its rule.  A group of channels has no label."""
    def product(x, weight, bias, *rest):
        named = dict(zip((a.name for a in target._schema.arguments[3:]), rest))
        turned = named.get("transposed", "transpose" in target._schema.name)
        batch = ["b"] * (x.ndim == weight.ndim)
        channels = "cn" if named["groups"] == 1 else (None, None)
        places = [None] * (weight.ndim - 2)
        c, n = channels
        of_weight = (c, n) if turned else (n, c)
        return Product([x, weight],
                       [(*batch, c, *places), (*of_weight, *places)],
                       (*batch, n, *places),
                       lambda x, w, b=None: target(x, w, b, *rest),
                       bias, full=True)
    return product


_RULES = {
    _aten.linear.default: _linear, _aten.mm.default: _mm,
    _aten.addmm.default: _addmm, _aten.bmm.default: _bmm,
    _aten.matmul.default: _matmul, _aten.einsum.default: _einsum,
    **{op: _convolution(op) for op in (
        _aten.convolution.default, _aten.conv1d.default, _aten.conv2d.default,
        _aten.conv3d.default, _aten.conv1d.padding, _aten.conv2d.padding,
        _aten.conv3d.padding, _aten.conv_transpose1d.default,
        _aten.conv_transpose2d.input, _aten.conv_transpose3d.input)}}


def product(target, args, kwargs):
    """The product that an operator is; None where it is none of which blocks
    suffice."""
    if target not in _RULES:
        return None
    all_of_them = list(args) + [
        kwargs.get(a.name, a.default_value)
        for a in target._schema.arguments[len(args):]]
    found = _RULES[target](*all_of_them)
    if found is None or any(type(p) not in (Shard, Replicate, Partial)
                            for x in found.operands for p in x.placements):
        return None
    return found
