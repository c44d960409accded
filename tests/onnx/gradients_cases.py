"""What gradients.py compares: operators, and the same functions in PyTorch.

A case is an operator, its inputs in the order of the function's parameters,
its attributes, and the function.
"""
import numpy as np
import torch
import torch.nn.functional as F

draw = np.random.default_rng(7)


def f(*shape):
    return draw.standard_normal(shape, dtype=np.float32)


def halves(*shape):
    """Few numbers, so that many are equal, and many where a function has two
    slopes."""
    return (draw.integers(-3, 4, shape) / 2).astype(np.float32)


def counted(*shape):
    """0, 1, 2, and again."""
    return np.resize(np.arange(3, dtype=np.float32), shape)


def positive(*shape):
    return draw.random(shape, dtype=np.float32) + 0.5


def inside(*shape):
    """Between -0.9 and 0.9."""
    return (draw.random(shape, dtype=np.float32) - 0.5) * 1.8


def ids(high, *shape):
    return draw.integers(0, high, shape)


def unary(op, function, data=f, **attrs):
    return op, {"x": data(3, 5, 7)}, attrs, function


def binary(op, function, left=f, right=f):
    return op, {"a": left(4, 1, 5), "b": right(3, 1)}, {}, function


def conv(nd, groups=1, stride=1, pad=1, dilation=1, **names):
    size = (7, 6, 5)[:nd]
    x, w = f(2, 4, *size), f(6, 4 // groups, *(3, 2, 3)[:nd])
    attrs = {"strides": [stride] * nd, "pads": [pad] * (2 * nd),
             "dilations": [dilation] * nd, **names}
    function = (F.conv1d, F.conv2d, F.conv3d)[nd - 1]
    return {"x": x, "w": w}, attrs, lambda x, w: function(
        x, w, stride=stride, padding=pad, dilation=dilation, groups=groups)


def conv_transposed(nd, stride):
    x, w = f(2, 4, *(4, 5, 3)[:nd]), f(4, 3, *(3, 2, 2)[:nd])
    attrs = {"strides": [stride] * nd, "pads": [1] * (2 * nd)}
    function = (F.conv_transpose1d, F.conv_transpose2d,
                F.conv_transpose3d)[nd - 1]
    return {"x": x, "w": w}, attrs, lambda x, w: function(
        x, w, stride=stride, padding=1)


def rotary(x, c, s):
    m = c.shape[-1]
    c, s = c[:, None], s[:, None]
    a, b, rest = x[..., :m], x[..., m:2 * m], x[..., 2 * m:]
    return torch.cat([c * a - s * b, s * a + c * b, rest], -1)


def normalised(x, scale, bias=None, dims=(-1,), mean=True):
    m = x.mean(dims, keepdim=True) if mean else 0
    v = ((x - m) ** 2).mean(dims, keepdim=True)
    y = (x - m) * torch.rsqrt(v + 1e-5) * scale
    return y if bias is None else y + bias


def scatter_rows_add(x, at, u):
    return x.index_add(0, at, u)


def fixed_cases():
    return [
        unary("relu", F.relu), unary("leaky_relu", F.leaky_relu),
        unary("elu", F.elu), unary("selu", F.selu), unary("celu", F.celu),
        unary("gelu", F.gelu),
        unary("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")),
        unary("hard_sigmoid", lambda x: torch.clamp(0.2 * x + 0.5, 0, 1)),
        unary("hard_swish", F.hardswish), unary("swish", F.silu),
        unary("mish", F.mish), unary("softsign", F.softsign),
        unary("softplus", F.softplus), unary("sigmoid", torch.sigmoid),
        unary("clip", lambda x: torch.clamp(x, -0.5, 0.7), low=-0.5, high=0.7),
        unary("neg", torch.neg), unary("square", torch.square),
        unary("reciprocal", torch.reciprocal, positive),
        unary("exp", torch.exp), unary("log", torch.log, positive),
        unary("sqrt", torch.sqrt, positive), unary("tanh", torch.tanh),
        unary("sinh", torch.sinh), unary("cosh", torch.cosh),
        unary("sin", torch.sin), unary("cos", torch.cos),
        unary("tan", torch.tan, inside), unary("asin", torch.asin, inside),
        unary("acos", torch.acos, inside), unary("atan", torch.atan),
        unary("asinh", torch.asinh), unary("atanh", torch.atanh, inside),
        unary("acosh", lambda x: torch.acosh(x),
              lambda *s: positive(*s) + 1), unary("erf", torch.erf),
        unary("abs", torch.abs),
        binary("add", torch.add), binary("sub", torch.sub),
        binary("mul", torch.mul), binary("div", torch.div, right=positive),
        binary("power", torch.pow, left=positive),
        binary("maximum", torch.maximum), binary("minimum", torch.minimum),
        binary("prelu", lambda a, b: torch.where(a < 0, a * b, a)),
        binary("fmod", torch.fmod, right=positive),
        binary("mod_float", torch.remainder, right=positive),
        ("where", {"c": draw.random((3, 4)) < 0.5, "a": f(4), "b": f(2, 3, 4)},
         {}, torch.where),
        ("matmul", {"a": f(3, 1, 4, 5), "b": f(2, 5, 6)}, {}, torch.matmul),
        ("matmul_nt", {"a": f(4, 5), "b": f(6, 5)}, {}, lambda a, b: a @ b.T),
        ("matmul_tn", {"a": f(5, 4), "b": f(5, 6)}, {}, lambda a, b: a.T @ b),
        ("contraction", {"a": f(3, 4, 5), "b": f(5, 2, 4)},
         {"l": [3, 4, 5, 2], "first": [0, 1, 2], "second": [2, 3, 1],
          "kept": [3, 0]}, lambda a, b: torch.einsum("abc,cdb->da", a, b)),
        ("conv1d", {"data": f(2, 3, 9), "filters": f(3, 4, 3)}, {},
         lambda data, filters: F.conv1d(data, filters.transpose(0, 1))),
        ("conv1d_strided", *conv(1, stride=2)),
        ("conv2d", *conv(2)),
        ("conv2d", *conv(2, stride=2, dilation=2, pad=2)),
        ("conv3d", *conv(3, stride=3)),
        ("conv2d_grouped", *conv(2, groups=2, stride=2, group=2)),
        ("conv1d_grouped", *conv(1, groups=2, group=2)),
        ("conv_transpose1d", *conv_transposed(1, 2)),
        ("conv_transpose2d", *conv_transposed(2, 3)),
        ("conv_transpose3d", *conv_transposed(3, 1)),
        ("add_channels", {"x": f(2, 3, 4, 4), "b": f(3)}, {},
         lambda x, b: x + b[:, None, None]),
        ("max_pool2d", {"x": f(2, 3, 7, 8)},
         {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]},
         lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0))),
        ("max_pool1d", {"x": f(2, 3, 9)}, {"kernel": [3]},
         lambda x: F.max_pool1d(x, 3, 1)),
        ("average_pool2d", {"x": f(2, 3, 7, 8)},
         {"kernel": [3, 2], "strides": [2, 2]},
         lambda x: F.avg_pool2d(x, (3, 2), 2)),
        ("global_average_pool2d", {"x": f(2, 3, 4, 5)}, {},
         lambda x: x.mean((2, 3), keepdim=True)),
        ("softmax", {"x": f(3, 5, 7)}, {"axes": [1]},
         lambda x: F.softmax(x, 1)),
        ("log_softmax", {"x": f(3, 5, 7)}, {"axes": [-1]},
         lambda x: F.log_softmax(x, -1)),
        ("layer_norm", {"x": f(2, 5, 8), "scale": f(8), "bias": f(8)}, {},
         normalised),
        ("rms_norm", {"x": f(2, 5, 8), "scale": f(8)}, {},
         lambda x, scale: normalised(x, scale, mean=False)),
        ("instance_norm", {"x": f(2, 4, 5, 6), "scale": f(4), "bias": f(4)},
         {},
         lambda x, scale, bias: F.instance_norm(x, None, None, scale, bias)),
        ("group_norm", {"x": f(2, 6, 5), "scale": f(6), "bias": f(6)},
         {"groups": 3},
         lambda x, scale, bias: F.group_norm(x, 3, scale, bias)),
        ("batch_norm", {"x": f(2, 3, 4), "scale": f(3), "bias": f(3),
                        "mean": f(3), "var": positive(3)}, {},
         lambda x, scale, bias, mean, var: (x - mean[:, None])
         * (scale / torch.sqrt(var + 1e-5))[:, None] + bias[:, None]),
        ("embedding", {"ids": ids(6, 4, 5), "table": f(6, 3)}, {},
         lambda ids, table: table[ids]),
        ("gather", {"x": f(3, 5, 2), "ids": ids(5, 4)}, {"outer": [3]},
         lambda x, ids: x[:, ids]),
        ("scatter_rows_add", {"x": f(5, 3), "at": ids(5, 7), "u": f(7, 3)}, {},
         scatter_rows_add),
        ("attention_scores", {"q": f(2, 4, 3, 5), "k": f(2, 2, 6, 5)},
         {"repeats": 2}, lambda q, k: q @ k.repeat_interleave(2, 1).mT),
        ("attention_values", {"p": f(2, 4, 3, 6), "v": f(2, 2, 6, 5)},
         {"repeats": 2}, lambda p, v: p @ v.repeat_interleave(2, 1)),
        ("rotary", {"x": f(2, 3, 4, 8), "c": f(2, 4, 3), "s": f(2, 4, 3)}, {},
         rotary),
        ("masked_causal", {"s": f(2, 4, 4)}, {},
         lambda s: torch.where(torch.ones(4, 4).tril() > 0, s, -torch.inf)),
        ("reduce_sum", {"x": f(3, 4, 5)}, {"axes": [0, 2]},
         lambda x: x.sum((0, 2))),
        ("reduce_mean", {"x": f(3, 4, 5)}, {"axes": [1], "count": 4},
         lambda x: x.mean(1)),
        ("reduce_prod", {"x": f(3, 4, 5)}, {"axes": [1]}, lambda x: x.prod(1)),
        ("reduce_max", {"x": f(3, 4, 5)}, {"axes": [0, 2]},
         lambda x: x.amax((0, 2))),
        ("reduce_l1", {"x": f(3, 4)}, {"axes": [1]}, lambda x: x.abs().sum(1)),
        ("reduce_l2", {"x": f(3, 4)}, {"axes": [1]}, lambda x: x.norm(dim=1)),
        ("reduce_log_sum_exp", {"x": f(3, 4)}, {"axes": [0]},
         lambda x: x.logsumexp(0)),
        ("variance", {"x": f(3, 4, 5)}, {"axes": [1]},
         lambda x: x.var(1, correction=0)),
        ("cumsum", {"x": f(3, 6, 2)}, {"outer": [3]}, lambda x: x.cumsum(1)),
        ("cumprod", {"x": f(3, 6, 2)}, {"outer": [3]}, lambda x: x.cumprod(1)),
        ("reshape", {"x": f(3, 4, 5)}, {"shape": [6, 10]},
         lambda x: x.reshape(6, 10)),
        ("transpose", {"x": f(3, 4, 5)}, {"perm": [2, 0, 1]},
         lambda x: x.permute(2, 0, 1)),
        ("expand", {"x": f(4, 1)}, {"shape": [3, 4, 5]},
         lambda x: x.expand(3, 4, 5)),
        ("concat3", {"a": f(2, 3), "b": f(2, 1), "c": f(2, 4)}, {"outer": [2]},
         lambda a, b, c: torch.cat([a, b, c], 1)),
        ("slice_steps", {"x": f(3, 9, 2)},
         {"outer": [3], "start": 8, "step": -3, "count": 3},
         lambda x: x[:, [8, 5, 2]]),
        ("pad", {"x": f(3, 4)}, {"outer": [3], "before": 2, "after": 1},
         lambda x: F.pad(x, (2, 1))),
        ("pad_reflect", {"x": f(3, 4)},
         {"outer": [3], "before": 2, "after": 3},
         lambda x: F.pad(x, (2, 3), "reflect")),
        ("tile", {"x": f(3, 4)}, {"outer": [3], "n": 3},
         lambda x: x.tile(1, 3)),
        ("lower_triangle", {"x": f(2, 4, 5)}, {"k": 1}, lambda x: x.tril(1)),
        ("gather_elements", {"x": f(3, 5), "ids": ids(5, 3, 4)},
         {"outer": [3]},
         lambda x, ids: x.gather(1, ids)),
        ("depth_to_space", {"x": f(2, 8, 3, 2)}, {"size": 2},
         lambda x: x.reshape(2, 2, 2, 2, 3, 2).permute(0, 3, 4, 1, 5, 2)
         .reshape(2, 2, 6, 4)),
        ("space_to_depth_crd", {"x": f(2, 3, 4, 6)}, {"size": 2},
         lambda x: F.pixel_unshuffle(x, 2)),
        ("negative_log_likelihood", {"x": f(4, 5), "t": ids(5, 4)},
         {"ignore_index": -1},
         lambda x, t: F.nll_loss(x, t, reduction="none")),
    ]


def size(low=2, high=5):
    return int(draw.integers(low, high + 1))


def truths(*shape):
    return draw.random(shape) < 0.5


def cross(x, window):
    """Local response normalisation's sums over neighbouring channels."""
    left = (window - 1) // 2
    squares = F.pad(x * x, (0, 0, left, window - 1 - left))
    return squares.unfold(1, window, 1).sum(-1)


def lp_norm(x, dims, p):
    return (x.abs() ** p).sum(dims, keepdim=True) ** (1 / p)


def turned(x, c, s):
    """Pairs of neighbours, rotated; what is behind them stays."""
    m = c.shape[-1]
    c, s = c[:, None], s[:, None]
    a, b = x[..., :2 * m:2], x[..., 1:2 * m:2]
    both = torch.stack([c * a - s * b, s * a + c * b], -1).flatten(-2)
    return torch.cat([both, x[..., 2 * m:]], -1)


def conv_transposed_grouped(nd, stride, groups=2):
    x, w = f(2, 4, *(4, 5, 3)[:nd]), f(4, 3, *(3, 2, 2)[:nd])
    attrs = {"strides": [stride] * nd, "pads": [1] * (2 * nd),
             "group": groups}
    function = (F.conv_transpose1d, F.conv_transpose2d,
                F.conv_transpose3d)[nd - 1]
    return {"x": x, "w": w}, attrs, lambda x, w: function(
        x, w, stride=stride, padding=1, groups=groups)


def with_dims(nd, kernel=2, stride=2, high=7):
    """An image, and what a pooling operator is told."""
    x = f(size(1, 3), size(1, 3), *(size(4, high) for _ in range(nd)))
    return {"x": x}, {"kernel": [kernel] * nd, "strides": [stride] * nd}


POOLS = {"average": (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d),
         "max": (F.max_pool1d, F.max_pool2d, F.max_pool3d)}


def pool(kind, nd):
    data, attrs = with_dims(nd, kernel=3)
    return (f"{kind}_pool{nd}d", data, attrs,
            lambda x: POOLS[kind][nd - 1](x, 3, 2))


def padded_average(nd):
    data, attrs = with_dims(nd, kernel=3)
    counted = size(0, 1)
    return (f"average_pool{nd}d_padded", data,
            {**attrs, "pads": [1] * (2 * nd), "counted": [counted] * (2 * nd)},
            lambda x: POOLS["average"][nd - 1](
                x, 3, 2, 1, count_include_pad=counted > 0))


def lp_pool(nd):
    data, attrs = with_dims(nd)
    function = (F.lp_pool1d, F.lp_pool2d, F.lp_pool3d)[nd - 1]
    return (f"lp_pool{nd}d", {"x": np.abs(data["x"]) + 0.5},
            {**attrs, "p": 3.0}, lambda x: function(x, 3, 2, 2))


def over_all(kind, nd):
    data, _ = with_dims(nd)
    dims = tuple(range(2, 2 + nd))
    functions = {"average": lambda x: x.mean(dims, keepdim=True),
                 "max": lambda x: x.amax(dims, keepdim=True),
                 "lp": lambda x: lp_norm(x, dims, 3)}
    return (f"global_{kind}_pool{nd}d", data,
            {"p": 3.0} if kind == "lp" else {}, functions[kind])


def scattering(op, reduce, data=f):
    """Along the dimension in the middle."""
    a, m, k, c = size(1), size(3), size(3, 6), size(1)
    at = ids(m, a, k, c)
    return (f"scatter_{op}", {"x": data(a, m, c), "at": at,
                              "u": data(a, k, c)}, {"outer": [a]},
            lambda x, at, u: x.scatter_reduce(1, at, u, reduce))


def scattering_rows(op, reduce, data=f):
    m, k, r = size(3), size(3, 6), size(1)
    return (f"scatter_rows_{op}", {"x": data(m, r), "at": ids(m, k),
                                   "u": data(k, r)}, {},
            lambda x, at, u: x.scatter_reduce(
                0, at[:, None].expand(-1, r), u, reduce))


def distinct_rows():
    m, r = size(4, 6), size(1)
    at = draw.permutation(m)[:3]
    return ("scatter_rows", {"x": f(m, r), "at": at, "u": f(3, r)}, {},
            lambda x, at, u: x.index_copy(0, at, u))


def masked_scores(op, keep, **attrs):
    b, h, s, t = size(1, 3), size(1, 3), size(3), size(3)
    def function(x, *rest):
        i, j = torch.arange(s)[:, None], torch.arange(t)
        return torch.where(keep(i, j, s, *rest), x, -torch.inf)
    return op, {"s": f(b, h, s, t)}, attrs, function


def lengths(case, high):
    op, data, attrs, function = case
    b = len(data["s"])
    return (op, {**data, "n": draw.integers(1, high + 1, b)}, attrs,
            lambda s, n: function(s, n[:, None, None, None]))


def resized(linear):
    """Twice as long, by half pixels."""
    a, n, c = size(1), size(3, 6), size(1)
    def function(x):
        x = x.movedim(1, 2)
        y = F.interpolate(x, scale_factor=2, mode="linear") if linear \
            else F.interpolate(x, scale_factor=2, mode="nearest")
        return y.movedim(2, 1)
    # Position (2*o - 1) / 4 of the one, o / 2 of the other.
    how = {"a": 2, "b": -1, "d": 4} if linear else {"a": 1, "b": 0, "d": 2}
    return ("resize_linear" if linear else "resize_nearest",
            {"x": f(a, n, c)}, {"outer": [a], "count": 2 * n, **how}, function)


def norm_of_channels(x, scale, bias, mean, var):
    """Nothing comes back to x from the running statistics."""
    count = x.numel() / x.shape[1]
    spread = x.var((0, 2), correction=0) * count / max(count - 1, 1)
    return (F.batch_norm(x, None, None, scale, bias, True),
            0.9 * mean + 0.1 * x.mean((0, 2)).detach(),
            0.9 * var + 0.1 * spread.detach())


def gates(at, g, f):
    b, d, h = size(), size(1, 3), size()
    shapes = {"x": (b, d, 4, h), "s": (b, 3, h)}
    bend = {"Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "": lambda x: x}[f]
    at = min(at, d - 1)
    return ("gate", {k: globals()["f"](*v) for k, v in shapes.items()},
            {"at": at, "g": g, "row": 1, "f": f},
            lambda x, s: bend(x[:, at, g] + s[:, 1]))


def more_cases():
    b, c, h, s, t, d = (size() for _ in range(6))
    v = size(3, 7)
    return [
        unary("shrink", lambda x: F.hardshrink(x)),
        unary("thresholded_relu", lambda x: torch.where(x > 1, x, 0)),
        unary("affine", lambda x: 2 * x + 3, alpha=2.0, beta=3.0),
        unary("scale", lambda x: 2.5 * x, alpha=2.5),
        unary("scaled_tanh", lambda x: 1.5 * torch.tanh(0.5 * x), alpha=1.5,
              beta=0.5),
        unary("softcap", lambda x: 3 * torch.tanh(x / 3), cap=3.0),
        unary("scale_by_root", lambda x: x / 5 ** 0.5, n=5),
        unary("inverse_deviation", lambda x: torch.rsqrt(x + 1e-5), positive),
        ("div_trunc", {"a": positive(c, 1, d), "b": positive(s, 1)}, {},
         torch.div),
        ("mod", {"a": f(c, d), "b": positive(d)}, {}, torch.remainder),
        ("add3", {"a": f(c, 1), "b": f(d), "c": f(b, 1, d)}, {},
         lambda a, b, c: a + b + c),
        ("add4", {"a": f(c, 1), "b": f(d), "c": f(b, 1, d), "e": f(1)}, {},
         lambda a, b, c, e: a + b + c + e),
        ("weighted_add", {"a": f(c, 1), "b": f(d)},
         {"alpha": 0.5, "beta": -2.0}, lambda a, b: 0.5 * a - 2 * b),
        ("clip_tensors", {"x": f(c, d), "low": f(d) - 1, "high": f(1) + 1},
         {}, lambda x, low, high: torch.minimum(torch.maximum(x, low), high)),
        ("cell", {k: f(b, d) for k in ("f", "old", "i", "new")}, {},
         lambda f, old, i, new: f * old + i * new),
        ("mixed", {k: f(b, d) for k in ("z", "old", "new")}, {},
         lambda z, old, new: z * old + (1 - z) * new),
        ("mul_tanh", {"a": f(b, d), "b": f(b, d)}, {},
         lambda a, b: a * torch.tanh(b)),
        ("held", {"m": truths(b), "new": f(b, d), "old": f(b, d)}, {},
         lambda m, new, old: torch.where(m[:, None], new, old)),
        ("silenced", {"m": truths(b), "x": f(b, d)}, {},
         lambda m, x: torch.where(m[:, None], x, 0)),
        ("faded", {"s": f(b, c, d), "g": f(b, c, 1)}, {},
         lambda s, g: s * torch.exp(g)),
        ("correction", {"v": f(b, c, d), "r": f(b, c, d),
                        "beta": f(b, c, 1)}, {},
         lambda v, r, beta: beta * (v - r)),
        gates(1, 2, "Sigmoid"), gates(0, 3, "Tanh"), gates(2, 0, ""),
        ("peephole_gate", {"x": f(b, 2, 4, d), "s": f(b, 4, d),
                           "p": f(2, 3, d), "c": f(b, d)}, {"at": 1, "g": 2},
         lambda x, s, p, c: x[:, 1, 2] + s[:, 2] + p[1, 2] * c),
        ("reset_candidate", {"x": f(b, 2, 3, d), "s": f(b, 3, d),
                             "bias": f(2, 2, 3, d), "r": f(b, d)},
         {"at": 1, "g": 2}, lambda x, s, bias, r:
         x[:, 1, 2] + r * (s[:, 2] + bias[1, 1, 2])),
        ("gate_inputs", {"x": f(t, b, c), "w": f(2, 3, d, c)}, {},
         lambda x, w: torch.einsum("tbi,dghi->tbdgh", x, w)),
        ("gate_bias", {"x": f(t, b, 2, 3, d), "bias": f(2, 2, 3, d)},
         {"n": 2}, lambda x, bias: x + bias[:, 0]
         + F.pad(bias[:, 1, :2], (0, 0, 0, 1))),
        ("gate_state", {"s": f(b, c), "r": f(2, 4, d, c)},
         {"at": 1, "first": 1, "n": 2},
         lambda s, r: torch.einsum("bk,ghk->bgh", s, r[1, 1:3])),
        # contractions
        ("matmul_tt", {"a": f(c, b), "b": f(d, c)}, {},
         lambda a, b: a.T @ b.T),
        ("matmul_vector", {"a": f(b, c, d), "b": f(d)}, {}, torch.matmul),
        ("vector_matmul", {"a": f(c), "b": f(b, c, d)}, {}, torch.matmul),
        ("dot", {"a": f(v), "b": f(v)}, {}, torch.dot),
        ("product_nt", {"x": f(b, c, d), "w": f(v, d)}, {}, F.linear),
        ("outer_product", {"a": f(b, c), "b": f(c, d)},
         {"l": [b, c, d], "first": [0, 1], "second": [1, 2],
          "kept": [2, 0, 1]},
         lambda a, b: torch.einsum("xy,yz->zxy", a, b)),
        ("partial_trace", {"x": f(b, c, d)},
         {"l": [b, c, d], "from": [0, 1, 2], "kept": [2, 0]},
         lambda x: torch.einsum("xyz->zx", x)),
        ("diagonal", {"x": f(b, c, d)},
         {"l": [c, d, b], "from": [2, 0, 1], "kept": [0, 1, 2]},
         lambda x: torch.einsum("xyz->yzx", x)),
        ("squared_distances", {"a": f(b, d), "b": f(c, d)}, {},
         lambda a, b: ((a[:, None] - b) ** 2).sum(-1)),
        ("recalled", {"s": f(b, h, c, v), "k": f(b, h, c)}, {},
         lambda s, k: torch.einsum("bhkv,bhk->bhv", s, k)),
        ("remembered", {"s": f(b, h, c, v), "k": f(b, h, c),
                        "u": f(b, h, v)}, {},
         lambda s, k, u: s + k[..., None] * u[..., None, :]),
        ("answered", {"s": f(b, h, c, v), "q": f(b, 2 * h, c)},
         {"repeats": 2}, lambda s, q: torch.einsum(
             "bhkv,bhk->bhv", s.repeat_interleave(2, 1), q)),
        ("det", {"x": f(b, 3, 3)}, {}, torch.det),
        ("inverse", {"x": f(b, 3, 3) + 3 * np.eye(3, dtype=np.float32)}, {},
         torch.inverse),
        # convolutions and pooling
        ("conv3d_grouped", *conv(3, groups=2, group=2)),
        *((f"conv_transpose{n}d_grouped", *conv_transposed_grouped(n, 2))
          for n in (1, 2, 3)),
        *(pool(kind, n) for kind in POOLS for n in (1, 2, 3)),
        *(padded_average(n) for n in (1, 2, 3)),
        lp_pool(1), lp_pool(2), lp_pool(3),
        *(over_all(kind, n) for kind in ("average", "max", "lp")
          for n in (1, 2, 3)),
        ("fold", {"x": f(c, 3, t)},
         {"a": [c], "b": [], "size": 2 * (t - 1) + 3 - 2, "stride": 2,
          "before": 1, "dilation": 1},
         lambda x: F.fold(x.reshape(1, -1, t), (1, 2 * t - 1), (1, 3),
                          padding=(0, 1), stride=(1, 2))[0, :, 0]),
        # normalisation
        ("batch_norm_training", {"x": f(b, c, d), "scale": f(c),
                                 "bias": f(c), "mean": f(c),
                                 "var": positive(c)}, {}, norm_of_channels),
        ("batch_norm_elements", {"x": f(b, c, d), "scale": f(c, d),
                                 "bias": f(c, d), "mean": f(c, d),
                                 "var": positive(c, d)}, {},
         lambda x, scale, bias, mean, var:
         (x - mean) * torch.rsqrt(var + 1e-5) * scale + bias),
        ("layer_norm", {"x": f(b, c, v), "scale": f(c, v), "bias": f(c, v)},
         {}, lambda x, s, bias: F.layer_norm(x, x.shape[1:], s, bias)),
        ("layer_norm_unbiased", {"x": f(b, c, v), "scale": f(v)}, {},
         lambda x, s: F.layer_norm(x, (x.shape[-1],), s)),
        ("rms_norm", {"x": f(b, c, v), "scale": f(v)}, {},
         lambda x, s: F.rms_norm(x, (x.shape[-1],), s, 1e-5)),
        ("group_norm", {"x": f(b, 2 * c, d), "scale": f(2 * c),
                        "bias": f(2 * c)}, {"groups": c},
         lambda x, s, bias: F.group_norm(x, c, s, bias)),
        ("mean_variance_norm", {"x": f(b, c, v)}, {"axes": [0, 2]},
         lambda x: (x - x.mean((0, 2), keepdim=True))
         / x.std((0, 2), keepdim=True, correction=0)),
        ("l1_norm", {"x": f(b, c, d)}, {"axis": 1},
         lambda x: F.normalize(x, 1, 1)),
        ("l2_norm", {"x": f(b, c, d)}, {"axis": -1},
         lambda x: F.normalize(x, 2, -1)),
        ("lrn", {"x": f(b, 6, d)}, {"size": 3, "alpha": 0.3},
         lambda x: x / (1 + 0.3 / 3 * cross(x, 3)) ** 0.75),
        ("softmax", {"x": f(b, c, d)}, {"axes": [0, 2]},
         lambda x: F.softmax(x.movedim(1, 0).reshape(c, -1), 1)
         .reshape(c, b, d).movedim(0, 1)),
        ("masked_softmax", {"x": f(b, c, v)}, {},
         lambda x: F.softmax(x, -1)),
        ("softmax_with_sink", {"x": f(b, h, s, t), "sink": f(h)}, {},
         lambda x, sink: F.softmax(torch.cat(
             [x, sink[:, None, None].expand(b, h, s, 1)], -1), -1)[..., :-1]),
        ("normalised_taps", {"w": positive(c, t)}, {},
         lambda w: w / w.sum(1, keepdim=True)),
        # losses
        ("softmax_cross_entropy", {"x": f(b, c, v), "t": ids(v, b, c)}, {},
         lambda x, t: F.cross_entropy(x.flatten(0, 1), t.flatten())),
        ("softmax_cross_entropy", {"x": f(7, v), "t": ids(v, 7)},
         {"ignore_index": 1, "label_smoothing": 0.1},
         lambda x, t: F.cross_entropy(x, t, ignore_index=1,
                                      label_smoothing=0.1)),
        ("mse", {"a": f(b, c), "b": f(b, c)}, {}, F.mse_loss),
        ("mean_absolute_error", {"a": f(b, c), "b": f(b, c)}, {}, F.l1_loss),
        ("sigmoid_cross_entropy",
         {"x": f(b, c), "t": draw.random((b, c), dtype=np.float32)}, {},
         F.binary_cross_entropy_with_logits),
        ("weighted_log_likelihood", {"x": f(b, v, d), "t": ids(v, b, d),
                                     "w": positive(v)}, {"ignore_index": 1},
         lambda x, t, w: torch.where(
             t == 1, 0, -x.gather(1, t[:, None])[:, 0] * w[t])),
        ("weights_of_classes", {"t": ids(v, b, d), "w": f(v)},
         {"ignore_index": -1}, lambda t, w: w[t]),
        # attention
        ("rope", {"x": f(b, h, s, 2 * d + 1), "c": f(s, d), "s": f(s, d)},
         {}, lambda x, c, s: rotary(x, c[None], s[None])),
        ("rotary_interleaved", {"x": f(b, h, s, 2 * d + 1), "c": f(b, s, d),
                                "s": f(b, s, d)}, {}, turned),
        masked_scores("masked_window",
                      lambda i, j, s: (j >= i - 1) & (j <= i + 2),
                      left=1, right=2),
        lengths(masked_scores("masked_padding",
                              lambda i, j, s, n: (j < n).expand(-1, -1, s,
                                                                -1)), 3),
        ("masked", {"s": f(b, 1, t), "mask": truths(h, t)}, {},
         lambda s, mask: torch.where(mask, s, -torch.inf)),
        ("padding_bias", {"s": f(b, h, s, t), "n": ids(t, b)},
         {"value": -3.0}, lambda s, n: s - 3.0 * (
             torch.arange(t) >= n[:, None, None, None])),
        # moving elements
        ("slice", {"x": f(b, 7, d)}, {"outer": [b], "start": 2, "count": 4},
         lambda x: x[:, 2:6]),
        ("slice_steps", {"x": f(b, 7, d)},
         {"outer": [b], "start": 1, "step": 2, "count": 3},
         lambda x: x[:, 1:7:2]),
        ("pick", {"x": f(b, 4, d)}, {"outer": [b], "at": 2},
         lambda x: x[:, 2]),
        ("concat2", {"a": f(b, s, d), "b": f(b, t, d)}, {"outer": [b]},
         lambda a, b: torch.cat([a, b], 1)),
        ("concat4", {k: f(b, size(1), d) for k in "abce"}, {"outer": [b]},
         lambda *x: torch.cat(x, 1)),
        ("stack2", {k: f(b, d) for k in "ab"}, {"outer": [b]},
         lambda *x: torch.stack(x, 1)),
        ("stack4", {k: f(b, d) for k in "abce"}, {"outer": [b]},
         lambda *x: torch.stack(x, 1)),
        ("pad_like", {"x": f(b, s)}, {"outer": [b], "after": 2},
         lambda x: F.pad(x, (0, 2))),
        ("pad_int", {"x": f(b, s)}, {"outer": [b], "before": 1, "after": 2},
         lambda x: F.pad(x, (1, 2))),
        ("pad_edge", {"x": f(b, s)}, {"outer": [b], "before": 3, "after": 1},
         lambda x: F.pad(x, (3, 1), "replicate")),
        ("pad_wrap", {"x": f(b, s)}, {"outer": [b], "before": 1, "after": 2},
         lambda x: F.pad(x, (1, 2), "circular")),
        ("repeat_each", {"x": f(b, s, d)},
         {"outer": [b], "n": 3, "count": 3 * s},
         lambda x: x.repeat_interleave(3, 1)),
        ("upper_triangle", {"x": f(b, s, t)}, {"k": -1},
         lambda x: x.triu(-1)),
        ("depth_to_space_crd", {"x": f(b, 8, 3, 2)}, {"size": 2},
         lambda x: F.pixel_shuffle(x, 2)),
        ("space_to_depth", {"x": f(b, 2, 4, 6)}, {"size": 2},
         lambda x: F.pixel_unshuffle(x, 2).reshape(b, 2, 4, 2, 3)
         .transpose(1, 2).reshape(b, 8, 2, 3)),
        ("one_hot", {"ids": ids(4, b, c), "values": f(2)},
         {"outer": [b, c], "depth": 4},
         lambda ids, values: values[F.one_hot(ids, 4)]),
        ("gather_rows", {"x": f(b, v, d), "at": ids(v, b, s)}, {"b": [b]},
         lambda x, at: x.gather(1, at[..., None].expand(-1, -1, d))),
        ("top", {"x": f(b, v, d)}, {"outer": [b], "count": 2},
         lambda x: x.topk(2, 1)[0]),
        ("weighted_gather", {"x": f(b, c, v), "at": ids(v, b, s, 3),
                             "w": f(b, s, 3)}, {"b": [b]},
         lambda x, at, w: (x.gather(2, at.flatten(1)[:, None]
                                    .expand(-1, c, -1)).reshape(b, c, s, 3)
                           * w[:, None]).sum(-1)),
        distinct_rows(),
        scattering("add", "sum"), scattering("mul", "prod", positive),
        scattering("max", "amax"), scattering("min", "amin"),
        scattering_rows("mul", "prod", positive),
        scattering_rows("max", "amax"), scattering_rows("min", "amin"),
        ("cache_write", {"x": f(b, 7, d), "u": f(b, 2, d),
                         "first": ids(6, b)}, {"o": []},
         lambda x, u, first: x.scatter(
             1, (first[:, None] + torch.arange(2))[..., None]
             .expand(-1, -1, d), u)),
        ("reverse_sequence", {"x": f(b, 5, d), "n": ids(6, b)}, {},
         lambda x, n: torch.stack([torch.cat([y[:m].flip(0), y[m:]])
                                   for y, m in zip(x, n)])),
        ("reverse_sequence_time_first", {"x": f(5, b, d), "n": ids(6, b)},
         {}, lambda x, n: torch.stack(
             [torch.cat([x[:m, i].flip(0), x[m:, i]])
              for i, m in enumerate(n)], 1)),
        resized(True), resized(False),
        ("frames", {"x": f(b, 9, 1)}, {"size": 3, "step": 2},
         lambda x: x[..., 0].unfold(1, 3, 2)[..., None]),
        ("windowed", {"x": f(b, c, s, 1), "w": f(s)}, {},
         lambda x, w: x * w[:, None]),
        ("dft", {"x": f(b, 6, 2)}, {"outer": [b], "length": 6, "count": 6},
         lambda x: torch.view_as_real(torch.fft.fft(
             torch.view_as_complex(x)))),
        ("dft_real", {"x": f(b, 6, 1)},
         {"outer": [b], "length": 6, "count": 4},
         lambda x: torch.view_as_real(torch.fft.rfft(x[..., 0]))),
        ("affine_grid2d", {"theta": f(b, 2, 3)},
         {"height": s, "width": t, "align": False,
          "elements": "f32"},
         lambda theta: F.affine_grid(theta, (b, 1, s, t),
                                     align_corners=False)),
        ("affine_grid3d", {"theta": f(b, 3, 4)},
         {"depth": c, "height": s, "width": t, "align": True,
          "elements": "f32"},
         lambda theta: F.affine_grid(theta, (b, 1, c, s, t),
                                     align_corners=True)),
        # reductions
        ("reduce_min", {"x": f(b, c, d)}, {"axes": [1]},
         lambda x: x.amin(1)),
        ("reduce_sum_square", {"x": f(b, c, d)}, {"axes": [0, 1]},
         lambda x: (x * x).sum((0, 1))),
        ("reduce_log_sum", {"x": positive(b, c)}, {"axes": [1]},
         lambda x: x.sum(1).log()),
        ("cumsum", {"x": f(b, 5, d)},
         {"outer": [b], "exclusive": True, "reverse": True},
         lambda x: x.flip(1).cumsum(1).flip(1) - x),
        ("cumsum_blocks", {"x": f(b, 7, d)}, {"outer": [b], "block": 3},
         lambda x: x.cumsum(1)),
    ]


def tied_windows(nd, **names):
    size = (5, 6, 4)[:nd]
    return {"x": halves(2, 2, *size)}, {"kernel": [3] * nd,
                                        "strides": [2] * nd,
                                        "pads": [1] * (2 * nd), **names}


def over_channel(nd):
    """What a window as large as the channel has: the first of the greatest."""
    size = (5, 3, 4)[:nd]
    return (f"global_max_pool{nd}d", {"x": halves(3, 2, *size)}, {},
            lambda x: POOLS["max"][nd - 1](x, size))


def bounded(x, low, high):
    return torch.clamp(x, low.expand_as(x), high.expand_as(x))


def tied_cases():
    """Where elements are equal, and at the points of two slopes."""
    return [
        unary("relu", F.relu, halves),
        unary("leaky_relu", F.leaky_relu, halves),
        unary("thresholded_relu", lambda x: F.threshold(x, 0.5, 0), halves,
              alpha=0.5),
        unary("elu", lambda x: F.elu(x, 1.5), halves, alpha=1.5),
        unary("selu", F.selu, halves),
        unary("celu", lambda x: F.celu(x, 0.5), halves, alpha=0.5),
        unary("hard_sigmoid", F.hardsigmoid, lambda *s: 2 * halves(*s),
              alpha=1 / 6, beta=0.5),
        unary("hard_swish", F.hardswish, lambda *s: 2 * halves(*s)),
        unary("softsign", F.softsign, halves),
        unary("shrink", F.softshrink, halves, lambd=0.5, bias=0.5),
        unary("shrink", lambda x: F.hardshrink(x, 1.0), halves, lambd=1.0,
              bias=0.0),
        unary("clip", lambda x: torch.clamp(x, -0.5, 1), halves, low=-0.5,
              high=1.0),
        ("clip_tensors", {"x": halves(4, 6), "low": halves(6),
                          "high": halves(4, 1)}, {}, bounded),
        unary("abs", torch.abs, halves),
        binary("power", torch.pow, counted, counted),
        binary("maximum", torch.maximum, halves, halves),
        binary("minimum", torch.minimum, halves, halves),
        ("prelu", {"a": halves(3, 4, 5), "b": f(4, 1)}, {},
         lambda a, b: F.prelu(a, b[:, 0])),
        ("mean_absolute_error", {"a": halves(3, 5), "b": halves(3, 5)}, {},
         F.l1_loss),
        ("reduce_max", {"x": halves(3, 4, 5)}, {"axes": [0, 2]},
         lambda x: x.amax((0, 2))),
        ("reduce_min", {"x": halves(3, 8)}, {"axes": [1]},
         lambda x: x.amin(1)),
        ("reduce_l1", {"x": halves(3, 4)}, {"axes": [1]},
         lambda x: x.abs().sum(1)),
        ("reduce_l2", {"x": halves(30, 2)}, {"axes": [1]},
         lambda x: torch.linalg.vector_norm(x, dim=1)),
        ("reduce_prod", {"x": halves(9, 5)}, {"axes": [1]},
         lambda x: x.prod(1)),
        ("reduce_log_sum_exp", {"x": halves(3, 4)}, {"axes": [0]},
         lambda x: x.logsumexp(0)),
        ("cumprod", {"x": halves(3, 6, 2)}, {"outer": [3]},
         lambda x: x.cumprod(1)),
        *[(f"max_pool{nd}d", *tied_windows(nd),
           lambda x, nd=nd: POOLS["max"][nd - 1](x, 3, 2, 1))
          for nd in (1, 2, 3)],
        ("max_pool2d", *tied_windows(2, dilations=[2, 1]),
         lambda x: F.max_pool2d(x, 3, 2, 1, (2, 1))),
        *[over_channel(nd) for nd in (1, 2, 3)],
        scattering("max", "amax", halves), scattering("min", "amin", halves),
        scattering_rows("max", "amax", halves),
        scattering_rows("min", "amin", halves),
    ]


def cases(seed):
    """All, with other data and where they have no shapes of their own other
    shapes for each seed."""
    global draw
    draw = np.random.default_rng(seed)
    return fixed_cases() + more_cases() + tied_cases()
