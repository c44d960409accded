"""PyTorch's operators on DTensors: which of them DTensor divides, in both
directions, and what stands in place of others.
"""
import math
import operator
import re

import torch
from torch.distributed.tensor import DTensor, Replicate, Shard

# What DTensor has a rule for, in place of what it has none for or one that is no
# good: a block of a tensor need not lie as the whole would.
_INSTEAD = {
    torch.ops.aten.view.default: torch.ops.aten.reshape.default,
    torch.ops.aten._unsafe_view.default: torch.ops.aten.reshape.default,
    torch.ops.aten.unsafe_split.Tensor: torch.ops.aten.split.Tensor,
    torch.ops.aten.unsafe_split_with_sizes.default:
    torch.ops.aten.split_with_sizes.default,
    torch.ops.aten.unsafe_chunk.default: torch.ops.aten.chunk.default}
# What DTensor has rules for in both directions, besides what acts on each element;
# of others it may run the forward pass, and then not the backward pass.
_DIVIDED = """_log_softmax _softmax _to_copy _unsafe_view add addmm alias amax
amin baddbmm bmm cat chunk clone contiguous cross_entropy_loss detach dropout
embedding expand flatten gelu layer_norm linear log_softmax matmul mean mm
native_layer_norm new_full new_ones new_zeros nll_loss permute reshape
scaled_dot_product_attention select slice softmax split split_with_sizes
squeeze stack sum t to transpose type_as unflatten unsqueeze view
view_as""".split()
# Those of others that compute each sample, along the first dimension of their
# first argument and of their results, by itself; and each channel, too; and each
# row along a dimension that is an argument.
_OF_SAMPLES = ["group_norm"]
_OF_CHANNELS = """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d""".split()
_OF_ROWS = "cumsum sort topk".split()
_SHORT = torch.bfloat16, torch.float16


def _name(target):
    return target._schema.name.removeprefix("aten::")


def in_place_of(target):
    """What runs an operator on DTensors of any placements; None where nothing
    does."""
    if not isinstance(target, torch._ops.OpOverload):
        return target if target is operator.getitem else None
    target = _INSTEAD.get(target, target)
    if target in _AS_SUMS:
        return _AS_SUMS[target]
    if torch.Tag.pointwise in target.tags or _name(target) in _DIVIDED:
        return target
    return None


def arguments(n):
    """A node's arguments by their names."""
    names = [x.name for x in n.target._schema.arguments]
    return {**dict(zip(names, n.args)), **n.kwargs}


def by_itself(n, x):
    """The dimensions of x, a node's first argument, and of its results along
    which its operator computes each part by itself."""
    if not isinstance(n.target, torch._ops.OpOverload):
        return []
    name = _name(n.target)
    if name in _OF_ROWS:
        own = arguments(n).get("dim", -1) % x.ndim
        return [d for d in range(x.ndim) if d != own]
    dims = re.search(r"(\d)d$", name)
    if dims and x.ndim != int(dims[1]) + 2:
        return []  # one sample
    return [0, 1] if name in _OF_CHANNELS else \
        [0] if name in _OF_SAMPLES else []


# ---- sums -------------------------------------------------------------------

def laid_out(x, placements):
    """x with these placements.  A gradient of which processes have parts is added
    up before anything else is done with it: where x is divided each process gets
    its block, from the outermost axis on, and where x has parts itself the sum
    has these placements."""
    placements = tuple(placements)
    if placements == x.placements:
        return x
    y = x.redistribute(placements=placements)
    to = [q if p.is_partial() else p for p, q in zip(x.placements, placements)]

    def add_up(g):
        for axis, kind in enumerate(to):
            if g.placements[axis].is_partial():
                g = g.redistribute(placements=(
                    *g.placements[:axis], kind, *g.placements[axis + 1:]))
        return g
    if y.requires_grad:
        y.register_hook(add_up)
    return y


def _added_up(x):
    """A sum of which each process may have a part, in all of them."""
    if not isinstance(x, DTensor):
        return x
    return laid_out(x, [Replicate() if p.is_partial() else p
                        for p in x.placements])


def _is_cut(x, dims):
    """Whether a tensor is divided along one of these dimensions."""
    return isinstance(x, DTensor) and any(
        p.is_shard() and p.dim in dims for p in x.placements)


def stored_sum(x, placements):
    """A sum in the placements of its result, or added up where there are none."""
    if placements is None or any(p.is_partial() for p in placements):
        return _added_up(x)
    return laid_out(x, placements)


def _by_weight(of):
    """A loss of targets, whose mean is their sum divided by their weights' sum.
    DTensor takes the mean of the blocks' means, which is not the same where
    blocks have targets of different weight."""
    def loss(x, target, weight=None, reduction=1, ignore_index=-100, *more,
             **named):
        rest = (ignore_index, *more)
        if reduction != 1:
            return of(x, target, weight, reduction, *rest, **named)
        total = of(x, target, weight, 2, *rest, **named)
        if target.is_floating_point():
            return total / (x.numel() // x.shape[min(1, x.ndim - 1)])
        return total / _weight_of(target, weight, ignore_index)
    return loss


def _weight_of(target, weight, ignore_index):
    """How many targets count, or the sum of the weights of their classes."""
    counts = target != ignore_index
    if weight is None:
        return counts.sum()
    each = torch.ops.aten.embedding(weight.unsqueeze(1), target * counts)
    return (each.squeeze(-1) * counts).sum()


def _squares(x, y, reduction=1):
    """mse_loss, whose mean is a sum by the number of its elements.  That of
    halves is larger than f16 has numbers where there are many."""
    each = (x - y).square()
    if reduction == 0:
        return each
    total = each.sum(dtype=torch.float32 if each.dtype in _SHORT else None)
    return (total / (each.numel() if reduction == 1 else 1)).to(each.dtype)


def _centred(x, dims):
    """x without its mean along dimensions; the mean; the mean of the squares of
    the first."""
    n = math.prod(x.shape[d] for d in dims)
    mean = _added_up(x.sum(dims, keepdim=True)) / n
    x = x - mean
    return x, mean, _added_up((x * x).sum(dims, keepdim=True)) / n


def _scaled(x, weight, bias):
    """Either may be None."""
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _layer_norm(x, shape, weight=None, bias=None, eps=1e-5, *more):
    dims = list(range(x.ndim - len(shape), x.ndim))
    if not _is_cut(x, dims):
        return torch.ops.aten.layer_norm.default(x, shape, weight, bias, eps,
                                                 *more)
    return _layer_norm_by_sums(x, dims, weight, bias, eps)


def _layer_norm_by_sums(x, dims, weight, bias, eps):
    y, _, var = _centred(x.float() if x.dtype in _SHORT else x, dims)
    return _scaled(y * (var + eps).rsqrt(), weight, bias).to(x.dtype)


def _batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    """What _native_batch_norm_legit_functional gives: the result, what it was
    normalised by, and the next running statistics, if there are any.  DTensor
    divides sums by samples and by channels."""
    along = [1, -1, *[1] * (x.ndim - 2)]
    y = x.float() if x.dtype in _SHORT else x
    if training:
        n = x.numel() // x.shape[1]
        y, own_mean, own_var = _centred(
            y, [d for d in range(x.ndim) if d != 1])
        if mean is not None:
            now = own_mean.detach(), own_var.detach() * (n / max(n - 1, 1))
            mean, var = (old + momentum * (new.reshape(-1) - old)
                         for old, new in zip((mean, var), now))
    else:
        own_mean, own_var = mean.reshape(along), var.reshape(along)
        y = y - own_mean
    scale = (own_var + eps).rsqrt()
    y = _scaled(y * scale, *(p if p is None else p.reshape(along)
                             for p in (weight, bias)))
    return (y.to(x.dtype), own_mean.reshape(-1), scale.reshape(-1), mean, var)


def _batch_norm_alone(*args):
    """batch_norm, whose last argument is about cuDNN."""
    return _batch_norm(*args[:8])[0]


def _batch_norm_running(x, weight, bias, mean, var, momentum, eps):
    """_native_batch_norm_legit_no_training, by running statistics."""
    return _batch_norm(x, weight, bias, mean, var, False, momentum, eps)[:3]


# What is computed by sums, of which each process has a part.
_AS_SUMS = {
    **{of: _by_weight(of) for of in (
        torch.ops.aten.cross_entropy_loss.default,
        torch.ops.aten.nll_loss.default)},
    torch.ops.aten.mse_loss.default: _squares,
    torch.ops.aten.layer_norm.default: _layer_norm,
    torch.ops.aten.batch_norm.default: _batch_norm_alone,
    torch.ops.aten._native_batch_norm_legit_functional.default: _batch_norm,
    torch.ops.aten._native_batch_norm_legit_no_training.default:
    _batch_norm_running}
