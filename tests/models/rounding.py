"""PyTorch in f64 as it might have been in a shorter type.

Every elementary operation that PyTorch makes, forwards and backwards, is
rounded to the type at random, up or down (Monte Carlo arithmetic, random
rounding: Parker, Pierce, Eggert, CiSE 2000).  A result that the type holds
stays what it is, so that what is computed exactly is so here: ties remain.
Of a sum of n terms it is the partial sums that are rounded, in an unknown
order; it is moved by some of the roundoff of the sum of the absolute values,
times n / 4: of equal terms all are rounded alike.  Numbers that fill the mantissa are taken as results of
rounding: another way to compute may have others, so that their difference is
not exact even if it is 0 here.  Functions
that PyTorch has in one piece, as a softmax and its derivative, are decomposed
into elementary ones, with their cancellations.
"""
import torch
from torch._decomp import get_decompositions
from torch.utils._python_dispatch import TorchDispatchMode

BITS = {"f32": 24, "bf16": 8, "f16": 11}
# the exponent of the smallest number
LEAST = {"f32": -149, "bf16": -133, "f16": -24}

aten = torch.ops.aten
# Linear in each of their tensors: of absolute values they are the bound.
SUMS = {aten.sum.default, aten.sum.dim_IntList, aten.mean.default,
        aten.mean.dim, aten.mm.default, aten.bmm.default, aten.dot.default,
        aten.mv.default, aten.cumsum.default, aten.convolution.default,
        aten.convolution_backward.default, aten.index_add.default,
        aten.index_put.default, aten.scatter_add.default,
        aten.embedding_dense_backward.default,
        aten.add.Tensor, aten.sub.Tensor, aten.rsub.Scalar}


def total_of_two(a, b, alpha=1):
    return abs(a) + abs(alpha * b)


# where a sum subtracts, what adds the absolute values
TOTALS = dict.fromkeys([aten.add.Tensor, aten.sub.Tensor, aten.rsub.Scalar],
                       total_of_two)
# In one piece, and of several operations that round.
PIECES = get_decompositions([
    aten._softmax, aten._softmax_backward_data, aten._log_softmax,
    aten._log_softmax_backward_data, aten.native_layer_norm,
    aten.native_layer_norm_backward, aten.native_group_norm,
    aten.native_group_norm_backward, aten.var.correction, aten.mse_loss,
    aten.mse_loss_backward, aten.logsumexp, aten.addmm, aten.nll_loss_backward,
    aten.gelu_backward, aten.sigmoid_backward, aten.tanh_backward])


def on_floats(f, x):
    """f() of all tensors of floats in what a function takes or gives."""
    if isinstance(x, torch.Tensor):
        return f(x) if x.is_floating_point() else x
    if isinstance(x, (list, tuple)):
        return type(x)(on_floats(f, y) for y in x)
    return x


class Rounding(TorchDispatchMode):
    """`scale`: that of the loss, by which derivatives are greater while they
    are computed."""

    def __init__(self, precision, scale=1.0):
        super().__init__()
        self.bits, self.least = BITS[precision], LEAST[precision]
        self.scale = scale

    def unit(self, x):
        """The distance of neighbours in the type, about x."""
        exponent = torch.frexp(x)[1] - self.bits
        smallest = 2.0**self.least / self.scale
        return torch.ldexp(torch.ones_like(x), exponent).clamp_min(smallest)

    def rounded(self, x, bound=None):
        """x as the type might have it; `bound` as far as it is a sum."""
        if x.dtype != torch.float64 or not x.numel():
            return x
        unit = self.unit(x)
        moved = x + unit * (2 * torch.rand_like(x) - 1)
        if bound is None:
            rough = x != (x / unit).round() * unit
        else:
            moved += 2.0**-self.bits * bound * (2 * torch.rand_like(x) - 1)
            rough = bound > 0
        moved = (moved / unit).round() * unit
        return torch.where(rough & x.isfinite(), moved, x)

    def read(self, x):
        """x as it is read where it is stored in f32: a weight, say, of which
        autograd is to know."""
        x = torch.as_tensor(x)
        if not x.is_floating_point():
            return x
        x = x.double()
        return x + (self.rounded(x.detach()) - x.detach())

    def is_few_bits(self, x):
        """Whether none of x can be the result of rounding: that fills the
        mantissa."""
        mantissa = torch.frexp(x)[0] * 2.0**(self.bits // 2)
        return bool((mantissa == mantissa.round()).all())

    def sum(self, func, x, args, kwargs):
        """What comes of a sum: with noise, unless it is exact."""
        few = [True]
        on_floats(lambda t: few.append(self.is_few_bits(t)), args)
        short = func(*on_floats(torch.Tensor.float, args), **kwargs)
        total = TOTALS.get(func, func)
        bound = total(*on_floats(torch.Tensor.abs, args), **kwargs)
        terms = total(*on_floats(torch.ones_like, args), **kwargs)
        if not isinstance(x, tuple):
            x, short, bound, terms = (x,), (short,), (bound,), (terms,)
        made = tuple(
            y if y is None or y.dtype != torch.float64 else self.rounded(
                y, b.abs() * (n.abs() / 4).clamp_min(1) * (~(s.double() == y)
                                               | (not all(few))))
            for y, s, b, n in zip(x, short, bound, terms))
        return made if len(made) > 1 else made[0]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in PIECES:
            with self:
                made = PIECES[func](*args, **kwargs)
            if made is not NotImplemented:
                return made
        made = func(*args, **kwargs)
        if any(r.alias_info for r in func._schema.returns):
            return made  # a view, or written in place
        if func in SUMS:
            return self.sum(func, made, args, kwargs)
        return on_floats(self.rounded, made)
