"""PyTorch's operators on DTensors: which of them DTensor divides, in both
directions, and what stands in place of others.
"""
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
# of others it may run the forward pass, and then not the backward pass.  That of
# einsum makes views by the strides of the whole, which blocks need not have.
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
_OF_SAMPLES = "conv1d conv2d conv3d convolution group_norm".split()
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

def _added_up(x):
    """A sum of which each process has a part, added up.  So is its gradient,
    before it becomes as large as what was summed."""
    if not isinstance(x, DTensor):
        return x
    placements = [Replicate() if p.is_partial() else p for p in x.placements]
    x = x.redistribute(placements=placements)
    if x.requires_grad:
        x.register_hook(lambda g: g.redistribute(placements=placements))
    return x


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
    """mse_loss, whose mean is a sum by the number of its elements."""
    each = (x - y).square()
    if reduction == 0:
        return each
    return each.sum() / (each.numel() if reduction == 1 else 1)


def _batch_norm(x, weight, bias, mean, var, training, momentum, eps):
    """What _native_batch_norm_legit_functional gives: the result, what it was
    normalised by, and the next running statistics, if there are any.  DTensor
    divides sums by samples and by channels."""
    along = [1, -1, *[1] * (x.ndim - 2)]
    y = x.float() if x.dtype in _SHORT else x
    if training:
        dims = [d for d in range(x.ndim) if d != 1]
        n = x.numel() // x.shape[1]
        own_mean = _added_up(y.sum(dims, keepdim=True)) / n
        y = y - own_mean
        own_var = _added_up((y * y).sum(dims, keepdim=True)) / n
        if mean is not None:
            now = own_mean.detach(), own_var.detach() * (n / max(n - 1, 1))
            mean, var = (old + momentum * (new.reshape(-1) - old)
                         for old, new in zip((mean, var), now))
    else:
        own_mean, own_var = mean.reshape(along), var.reshape(along)
        y = y - own_mean
    scale = (own_var + eps).rsqrt()
    y = y * scale
    if weight is not None:
        y = y * weight.reshape(along)
    if bias is not None:
        y = y + bias.reshape(along)
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
    torch.ops.aten.batch_norm.default: _batch_norm_alone,
    torch.ops.aten._native_batch_norm_legit_functional.default: _batch_norm,
    torch.ops.aten._native_batch_norm_legit_no_training.default:
    _batch_norm_running}
