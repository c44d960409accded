"""The library's operators in PyTorch: the attributes have TDL's names.

Where PyTorch has the operator it is the judge; else what the operator's line
of documentation says is written with PyTorch's elementary functions.
"""
import math

import torch
from torch.nn import functional as F

from lambdas import softplus


def flat(f):
    """The gradient is 0 wherever there is one."""
    return lambda *x, **how: f(*x, **how).detach()


TWINS = {
    # element by element
    "relu": torch.relu, "leaky_relu": lambda x, alpha: F.leaky_relu(x, alpha),
    "thresholded_relu": lambda x, alpha: F.threshold(x, alpha, 0),
    "elu": F.elu, "selu": F.selu, "celu": F.celu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "hard_sigmoid": lambda x, alpha, beta: torch.clamp(alpha * x + beta, 0, 1),
    "hard_swish": F.hardswish, "mish": F.mish, "softsign": F.softsign,
    "swish": lambda x, alpha: x * torch.sigmoid(alpha * x),
    "shrink": lambda x, lambd, bias: torch.where(
        x < -lambd, x + bias, torch.where(x > lambd, x - bias, 0)),
    "clip": lambda x, low, high: torch.clamp(x, low, high),
    "neg": torch.neg, "reciprocal": torch.reciprocal, "square": torch.square,
    "exp": torch.exp, "log": torch.log, "sqrt": torch.sqrt,
    "tanh": torch.tanh, "sinh": torch.sinh, "cosh": torch.cosh,
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin,
    "acos": torch.acos, "atan": torch.atan, "asinh": torch.asinh,
    "acosh": torch.acosh, "atanh": torch.atanh, "erf": torch.erf,
    "sigmoid": torch.sigmoid, "softplus": softplus, "abs": torch.abs,
    "sign": flat(torch.sign), "floor": flat(torch.floor),
    "ceil": flat(torch.ceil), "round": flat(torch.round),
    "logical_not": torch.logical_not, "add": torch.add, "sub": torch.sub,
    "mul": torch.mul, "div": torch.div, "power": torch.pow,
    "maximum": torch.maximum, "minimum": torch.minimum,
    "fmod": torch.fmod,
    "mod_float": torch.remainder,
    "prelu": lambda a, b: torch.where(a > 0, a, a * b),
    "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge, "equal": torch.eq, "not_equal": torch.ne,
    "logical_and": torch.logical_and, "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "add3": lambda a, b, c: a + b + c,
    "add4": lambda a, b, c, e: a + b + c + e,
    "weighted_add": lambda a, b, alpha, beta: alpha * a + beta * b,
    "convert": lambda x, to: x.to(to),
    "scale": lambda x, alpha: alpha * x, "where": torch.where,
    "clip_tensors": lambda x, low, high: torch.clamp(
        *torch.broadcast_tensors(x, low, high)),
    "stop_gradient": lambda x: x.detach(),
    "softcap": lambda x, cap: cap * torch.tanh(x / cap),
    "scale_by_root": lambda x, n: x / math.sqrt(n),
    "inverse_deviation": lambda x, epsilon: torch.rsqrt(x + epsilon),
    # contractions
    "matmul": torch.matmul, "matmul_nt": lambda a, b: a @ b.T,
    "matmul_tn": lambda a, b: a.T @ b, "matmul_tt": lambda a, b: a.T @ b.T,
    "vector_matmul": lambda a, b: torch.einsum("k,...kj->...j", a, b),
    "matmul_vector": lambda a, b: torch.einsum("...ik,k->...i", a, b),
    "dot": torch.dot,
    "product_nt": lambda x, w: x @ w.T,
    "squared_distances": lambda a, b:
        ((a[:, None] - b[None]) ** 2).sum(2),
    "attention_scores": lambda q, k, repeats: torch.einsum(
        "bhid,bhjd->bhij", q, k.repeat_interleave(repeats, 1)),
    "attention_values": lambda p, v, repeats: torch.einsum(
        "bhij,bhjd->bhid", p, v.repeat_interleave(repeats, 1)),
    "embedding": lambda ids, table: F.embedding(ids, table),
    "add_channels": lambda x, b: x + b.reshape(-1, *[1] * (x.ndim - 2)),
}


def twin(f):
    TWINS[f.__name__] = f
    return f


# ---- convolutions and pooling ------------------------------------------------

def padded(x, pads, value=0.0):
    """ONNX's pads: all before, then all behind."""
    n = len(pads) // 2
    words = [p for i in reversed(range(n)) for p in (pads[i], pads[n + i])]
    return F.pad(x, words, value=value)


CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d,
              3: F.conv_transpose3d}


def convolution(x, w, strides, pads, dilations, group=1):
    if not w.shape[1]:
        raise ValueError("PyTorch makes no channels out of none")
    return CONVOLUTIONS[x.ndim - 2](padded(x, pads), w, None, strides, 0,
                                    dilations, group)


def transposed(x, w, strides, dilations, extra, pads, group=1):
    y = TRANSPOSED[x.ndim - 2](x, w, None, strides, 0, 0, group, dilations)
    n = len(strides)
    return padded(y, [-p for p in pads[:n]]
                  + [e - p for e, p in zip(extra, pads[n:])])


def windows(x, kernel, strides, dilations):
    """A dimension behind all others for each of the windows' dimensions."""
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations)):
        x = x.unfold(2 + i, d * (k - 1) + 1, s)[..., ::d]
    return x


def max_pool(x, kernel, strides, pads, dilations):
    return windows(padded(x, pads, -math.inf), kernel, strides,
                   dilations).flatten(x.ndim).max(-1)[0]


def average_pool(x, kernel, strides, dilations):
    return windows(x, kernel, strides, dilations).flatten(x.ndim).mean(-1)


def lp_pool(x, kernel, strides, pads, p):
    w = windows(padded(x, pads), kernel, strides, [1] * len(kernel))
    return (w.abs() ** p).flatten(x.ndim).sum(-1) ** (1 / p)


TWINS |= {"conv1d_strided": convolution, "conv2d": convolution,
          "conv3d": convolution, "conv1d_grouped": convolution,
          "conv2d_grouped": convolution, "conv_transpose1d": transposed,
          "conv_transpose2d": transposed,
          "conv_transpose2d_grouped": transposed,
          "conv1d": lambda x, w: convolution(x, w.transpose(0, 1), [1],
                                             [0, 0], [1]),
          "max_pool1d": max_pool, "max_pool2d": max_pool,
          "max_pool3d": max_pool, "average_pool1d": average_pool,
          "average_pool2d": average_pool, "lp_pool2d": lp_pool,
          "global_average_pool2d": lambda x: x.mean((2, 3), True),
          "global_max_pool2d": lambda x: F.max_pool2d(x, x.shape[2:])}


# ---- norms -------------------------------------------------------------------

def channels(v, x):
    return v.reshape(-1, *[1] * (x.ndim - 2))


def batch_norm(x, scale, bias, mean, var, epsilon=1e-5):
    return (x - channels(mean, x)) * channels(
        scale / torch.sqrt(var + epsilon), x) + channels(bias, x)


def batch_norm_training(x, scale, bias, mean, var, epsilon=1e-5,
                        momentum=0.1):
    axes = [0, *range(2, x.ndim)]
    m = x.mean(axes)
    v = ((x - channels(m, x)) ** 2).mean(axes)
    y = batch_norm(x, scale, bias, m, v, epsilon)
    n = x.numel() / x.shape[1]
    return (y, mean + momentum * (m - mean),
            var + momentum * (v * n / max(n - 1, 1) - var))


@twin
def layer_norm(x, scale, bias, epsilon=1e-5):
    return F.layer_norm(x, scale.shape, scale, bias, epsilon)


@twin
def rms_norm(x, scale, epsilon=1e-5):
    axes = list(range(x.ndim - scale.ndim, x.ndim))
    return x * torch.rsqrt((x * x).mean(axes, True) + epsilon) * scale


@twin
def instance_norm(x, scale, bias, epsilon=1e-5):
    return group_norm(x, scale, bias, x.shape[1], epsilon)


@twin
def group_norm(x, scale, bias, groups, epsilon=1e-5):
    return F.group_norm(x, groups, scale, bias, epsilon)


@twin
def mean_variance_norm(x, axes, epsilon=1e-9):
    m = x.mean(axes, True)
    return (x - m) / (torch.sqrt(((x - m) ** 2).mean(axes, True)) + epsilon)


@twin
def lrn(x, size, alpha, beta, bias):
    before = (size - 1) // 2
    squares = padded((x * x).transpose(1, -1), [before, size - 1 - before])
    total = squares.unfold(-1, size, 1).sum(-1).transpose(1, -1)
    return x / (bias + alpha / size * total) ** beta


@twin
def l2_norm(x, axis):
    return x / torch.sqrt((x * x).sum(axis, True))


@twin
def l1_norm(x, axis):
    return x / x.abs().sum(axis, True)


def over(f):
    """One of PyTorch's functions of one axis for several, which are the
    last."""
    def of(x, axes):
        axes = [a % x.ndim for a in axes]
        kept = [a for a in range(x.ndim) if a not in axes]
        y = x.permute(kept + axes)
        z = f(y.flatten(len(kept)), -1).reshape(y.shape)
        back = [(kept + axes).index(a) for a in range(x.ndim)]
        return z.permute(back)
    return of


TWINS |= {"softmax": over(torch.softmax),
          "log_softmax": over(torch.log_softmax),
          "variance": lambda x, axes: x.var(axes, correction=0)}


# ---- attention ---------------------------------------------------------------

@twin
def masked(s, mask):
    return torch.where(mask, s, -math.inf)


@twin
def masked_causal(s, offset):
    i = torch.arange(s.shape[-2])[:, None] + offset
    return torch.where(torch.arange(s.shape[-1]) <= i, s, -math.inf)


@twin
def masked_window(s, offset, left, right):
    i = torch.arange(s.shape[-2])[:, None] + offset
    j = torch.arange(s.shape[-1])
    return torch.where((j >= i - left) & (j <= i + right), s, -math.inf)


@twin
def masked_padding(s, n):
    j = torch.arange(s.shape[-1])
    return torch.where(j < n[:, None, None, None], s, -math.inf)


@twin
def masked_softmax(x):
    some = (x > -math.inf).any(-1, True)
    return torch.where(some, torch.softmax(torch.where(some, x, 0), -1), 0)


@twin
def rope(x, c, s):
    m = c.shape[-1]
    a, b = x[..., :m], x[..., m:2 * m]
    return torch.cat([c * a - s * b, s * a + c * b, x[..., 2 * m:]], -1)


# ---- reductions --------------------------------------------------------------

def reducing(f):
    return lambda x, axes: f(x, [a % x.ndim for a in axes])


@reducing
def multiplied(x, axes):
    for a in sorted(axes, reverse=True):
        x = x.prod(a)
    return x


def along(f, neutral):
    """Sums or products of all elements up to each."""
    def of(x, outer, exclusive, reverse):
        axis = len(outer)
        x = x.flip(axis) if reverse else x
        y = f(x, axis)
        if exclusive:
            y = y.narrow(axis, 0, x.shape[axis] - 1)
            first = torch.full_like(x.narrow(axis, 0, 1), neutral)
            y = torch.cat([first, y], axis)
        return y.flip(axis) if reverse else y
    return of


TWINS |= {
    "reduce_sum": reducing(torch.sum), "reduce_prod": multiplied,
    "reduce_mean": reducing(torch.mean),
    "reduce_max": reducing(torch.amax), "reduce_min": reducing(torch.amin),
    "reduce_l1": reducing(lambda x, a: x.abs().sum(a)),
    "reduce_sum_square": reducing(lambda x, a: (x * x).sum(a)),
    "reduce_l2": reducing(lambda x, a: torch.sqrt((x * x).sum(a))),
    "reduce_log_sum_exp": reducing(torch.logsumexp),
    "argmax": lambda x, axis: x.argmax(axis),
    "argmin": lambda x, axis: x.argmin(axis),
    "cumsum": along(torch.cumsum, 0), "cumprod": along(torch.cumprod, 1),
}


# ---- moving elements ---------------------------------------------------------

def taken(x, axis, at):
    """Elements along an axis by a list of indices."""
    return x.index_select(axis, torch.as_tensor(at, dtype=torch.int64))


def on_axis(f):
    """f(positions, n) says which elements of the n there are come."""
    def of(x, outer, **how):
        n = x.shape[len(outer)]
        return taken(x, len(outer), f(n, **how))
    return of


def mirrored(i, n):
    return n - 1 - abs(n - 1 - abs(i))


@twin
def pad(x, outer, before, after, value):
    words = [0, 0] * (x.ndim - len(outer) - 1) + [before, after]
    return F.pad(x, words, value=value)


@twin
def gather(x, ids, outer):
    n = x.shape[len(outer)]
    at = torch.where(ids < 0, ids + n, ids)
    y = x.index_select(len(outer), at.flatten())
    return y.reshape([*x.shape[:len(outer)], *ids.shape,
                      *x.shape[len(outer) + 1:]])


@twin
def gather_elements(x, ids, outer):
    return torch.gather(x, len(outer), ids)


@twin
def scatter_rows(x, at, u):
    rows = torch.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1))
    for k, m in enumerate(at.tolist()):
        x = torch.where(rows == m, u[k], x)
    return x


@twin
def scatter_rows_add(x, at, u):
    return x.index_add(0, at, u)


@twin
def one_hot(ids, values, outer, depth):
    hot = F.one_hot(ids, depth).movedim(-1, len(outer))
    return torch.where(hot == 1, values[1], values[0])


def triangle(keep):
    def of(x, k):
        i = torch.arange(x.shape[-2])[:, None]
        return torch.where(keep(torch.arange(x.shape[-1]) - i, k), x, 0)
    return of


# PyTorch's own have the shape of x where that is empty.

def shuffled(x, size):
    n, c, h, w = x.shape
    c //= size * size
    x = x.reshape(n, c, size, size, h, w).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(n, c, h * size, w * size)


def unshuffled(x, size):
    n, c, h, w = x.shape
    h, w = h // size, w // size
    x = x.reshape(n, c, h, size, w, size).permute(0, 1, 3, 5, 2, 4)
    return x.reshape(n, c * size * size, h, w)


TWINS |= {
    "reshape": lambda x, shape: x.reshape(shape),
    "transpose": lambda x, perm: x.permute(perm),
    "expand": lambda x, shape: x.expand(shape),
    "concat2": lambda a, b, outer: torch.cat([a, b], len(outer)),
    "concat3": lambda a, b, c, outer: torch.cat([a, b, c], len(outer)),
    "stack2": lambda a, b, outer: torch.stack([a, b], len(outer)),
    "slice": on_axis(lambda n, start, count: range(start, start + count)),
    "slice_steps": on_axis(lambda n, start, step, count:
                           [start + step * i for i in range(count)]),
    "pick": lambda x, outer, at: x.select(len(outer), at),
    "pad_edge": on_axis(lambda n, before, after: [
        min(max(i, 0), n - 1) for i in range(-before, n + after)]),
    "pad_reflect": on_axis(lambda n, before, after: [
        mirrored(i, n) for i in range(-before, n + after)]),
    "pad_wrap": on_axis(lambda m, before, after: [
        i % m for i in range(-before, m + after)]),
    "tile": lambda x, outer, n: torch.cat([x] * n, len(outer)),
    "repeat_each": lambda x, outer, n, count: taken(
        x, len(outer), [i // n for i in range(count)]),
    "upper_triangle": triangle(lambda d, k: d >= k),
    "lower_triangle": triangle(lambda d, k: d <= k),
    "depth_to_space_crd": shuffled,
    "space_to_depth_crd": unshuffled,
}


# ---- losses ------------------------------------------------------------------

@twin
def softmax_cross_entropy(x, t, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(x.flatten(0, -2), t.flatten(),
                           ignore_index=ignore_index,
                           label_smoothing=label_smoothing)


def even(f):
    """Nothing is broadcast."""
    def of(a, b):
        if a.shape != b.shape:
            raise ValueError(f"{a.shape} and {b.shape}")
        return f(a, b)
    return of


TWINS |= {
    "mse": even(F.mse_loss), "mean_absolute_error": even(F.l1_loss),
    "sigmoid_cross_entropy": lambda x, t: (softplus(x) - t * x).mean(),
    "negative_log_likelihood": lambda x, t, ignore_index: F.nll_loss(
        x, t, ignore_index=ignore_index, reduction="none"),
}
