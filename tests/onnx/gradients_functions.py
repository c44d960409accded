"""The data of gradients_cases.py, drawn, and the functions in PyTorch that are
longer than a line."""
import numpy as np
import torch
import torch.nn.functional as F

draw = np.random.default_rng(7)


def reseed(seed):
    global draw
    draw = np.random.default_rng(seed)


def f(*shape):
    return draw.standard_normal(shape, dtype=np.float32)


def halves(*shape):
    """Few numbers, so that many are equal, and many where a function has two
    slopes."""
    return (draw.integers(-3, 4, shape) / 2).astype(np.float32)


def counted(*shape):
    """0, 1, 2, and again."""
    return np.resize(np.arange(3, dtype=np.float32), shape)


def fractions(*shape):
    """Between 0 and 1."""
    return draw.random(shape, dtype=np.float32)


def positive(*shape):
    return fractions(*shape) + 0.5


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
