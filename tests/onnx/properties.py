# Tests: compiler/onnx compiler/analysis
"""Random nodes against ONNX Runtime: odd sizes, extents of 1, more devices
than anything has elements.

Each case is a node of an operator that the light networks use, with random
shapes and attributes, planned for several numbers of devices and run.

	properties.py [--seed S] [--count N] [--devices 1,2,3,5,12]
	              [--kernels interpreter|generated] [OPERATOR...]
"""
import argparse

import against
import numpy as np
from nodes import make
from nodes_cases import Constant
from programs import sample  # against knows where it is

OPERATORS = {}


def operator(function):
    """Registers a maker of (op, inputs, attributes, opset)."""
    OPERATORS[function.__name__] = function
    return function


class Chooser:
    """Random sizes and elements."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def size(self, most=6):
        """From 1, which is worth trying often."""
        return 1 if self.rng.random() < 0.2 else int(
            self.rng.integers(1, most + 1))

    def shape(self, least=1, most=4):
        return [self.size() for _ in range(self.rng.integers(least, most + 1))]

    def floats(self, *shape):
        return np.asarray(self.rng.standard_normal(shape), np.float32)

    def positive(self, *shape):
        return np.asarray(self.rng.uniform(0.1, 2, shape), np.float32)

    def one_of(self, *values):
        return values[self.rng.integers(len(values))]

    def coin(self):
        return bool(self.rng.integers(2))

    def ints(self, n, low, high):
        return [int(i) for i in self.rng.integers(low, high, n)]


# ---- windows ----------------------------------------------------------------


def window(c, n):
    """Spatial sizes and attributes in which at least one window fits."""
    kernel = c.ints(n, 1, 4)
    strides = c.ints(n, 1, 4)
    dilations = c.ints(n, 1, 3) if c.coin() else [1] * n
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, kernel)]
    size = [r + c.size(6) - 1 for r in reach]
    attrs = {"strides": strides, "dilations": dilations}
    how = c.one_of("NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    if how != "NOTSET":
        attrs["auto_pad"] = how
        # ONNX Runtime does not know windows that leave gaps
        attrs["strides"] = [min(s, k) for s, k in zip(strides, kernel)]
    elif c.coin():
        # ONNX Runtime wants pads less than the window
        attrs["pads"] = [int(c.rng.integers(0, k)) for k in kernel * 2]
    return kernel, size, attrs


def same_padding(attrs):
    return attrs.get("auto_pad", "NOTSET").startswith("SAME")


@operator
def Conv(c):
    n = c.one_of(1, 2, 2, 3)
    kernel, size, attrs = window(c, n)
    if same_padding(attrs):
        attrs["dilations"] = [1] * n  # which ONNX Runtime wants
    group = c.one_of(1, 1, 2, 3)
    inner, outer = c.size(3), c.size(3) * group
    if group > 1:
        attrs["group"] = group
    inputs = [c.floats(c.size(3), inner * group, *size),
              c.floats(outer, inner, *kernel)]
    if c.coin():
        inputs.append(c.floats(outer))
    return "Conv", inputs, attrs, c.one_of(9, 11, 17)


def pool(c, op, opset):
    n = c.one_of(1, 2, 2, 3)
    kernel, size, attrs = window(c, n)
    if same_padding(attrs) or opset < 19 and op == "AveragePool":
        del attrs["dilations"]
        size = [max(s, k) for s, k in zip(size, kernel)]
    if opset >= 10 and not same_padding(attrs):
        attrs["ceil_mode"] = int(c.coin())
    if op == "AveragePool":
        attrs["count_include_pad"] = int(c.coin())
    attrs["kernel_shape"] = kernel
    return op, [c.floats(c.size(3), c.size(3), *size)], attrs, opset


@operator
def MaxPool(c):
    return pool(c, "MaxPool", c.one_of(10, 12, 17))


@operator
def AveragePool(c):
    return pool(c, "AveragePool", c.one_of(11, 17))


@operator
def GlobalAveragePool(c):
    return "GlobalAveragePool", [c.floats(*c.shape(3, 5))], {}, 17


@operator
def ConvTranspose(c):
    n = c.one_of(1, 2, 2, 3)
    kernel, size, attrs = window(c, n)
    attrs.pop("auto_pad", None)  # which ONNX Runtime pads its own way
    attrs["strides"] = c.ints(n, 1, 4)
    if "pads" in attrs:
        attrs["pads"] = [0] * (2 * n)
    if c.coin():
        attrs["output_padding"] = [int(c.rng.integers(0, s))
                                   for s in attrs["strides"]]
    group = c.one_of(1, 1, 2, 3)
    inner, outer = c.size(3), c.size(3)
    if group > 1:
        attrs["group"] = group
    inputs = [c.floats(c.size(3), inner * group, *size),
              c.floats(inner * group, outer, *kernel)]
    if c.coin():
        inputs.append(c.floats(outer * group))
    return "ConvTranspose", inputs, attrs, 11


# ---- contractions and normalisation -----------------------------------------


@operator
def Gemm(c):
    m, k, n = c.size(), c.size(), c.size()
    attrs = {}
    a, b = [m, k], [k, n]
    if c.coin():
        a, attrs["transA"] = a[::-1], 1
    if c.coin():
        b, attrs["transB"] = b[::-1], 1
    for name in "alpha", "beta":
        if c.coin():
            attrs[name] = float(np.float32(c.rng.uniform(-2, 2)))
    inputs = [c.floats(*a), c.floats(*b)]
    if c.coin():
        inputs.append(c.floats(*c.one_of([n], [m, n], [m, 1], [1, n], [1],
                                         [])))
    return "Gemm", inputs, attrs, c.one_of(11, 13)


@operator
def MatMul(c):
    m, k, n = c.size(), c.size(), c.size()
    batch = c.shape(0, 2)
    a = broadcastable(c, batch)
    return "MatMul", [c.floats(*a, m, k), c.floats(*batch, k, n)], {}, 13


@operator
def BatchNormalization(c):
    x = c.floats(*c.shape(2, 5))
    stats = [c.floats(x.shape[1]) for _ in range(3)]
    stats.append(c.positive(x.shape[1]))
    attrs = {"epsilon": 0.01} if c.coin() else {}
    return "BatchNormalization", [x, *(
        Constant(s) if c.coin() else s for s in stats)], attrs, \
        c.one_of(9, 14, 15)


@operator
def LRN(c):
    return "LRN", [c.floats(*c.shape(4, 4))], {
        "size": c.one_of(1, 3, 5), "alpha": float(c.rng.uniform(0, 1)),
        "beta": 0.5, "bias": 1.5}, 13


@operator
def Softmax(c):
    x = c.floats(*c.shape(1, 4)) * 5
    return c.one_of("Softmax", "LogSoftmax"), [x], {
        "axis": int(c.rng.integers(-x.ndim, x.ndim))}, c.one_of(9, 11, 13, 17)


# ---- element by element -----------------------------------------------------


def broadcastable(c, shape):
    """A shape that broadcasts to it: shorter, ones among it."""
    kept = shape[int(c.rng.integers(0, len(shape) + 1)):]
    return [1 if c.rng.random() < 0.3 else n for n in kept]


@operator
def Binary(c):
    shape = c.shape(0, 4)
    a, b = broadcastable(c, shape), broadcastable(c, shape)
    return c.one_of("Add", "Mul", "Sub", "Div"), [
        c.floats(*a), c.positive(*b)], {}, \
        c.one_of(7, 13, 17)


@operator
def Many(c):
    shape = c.shape(0, 4)
    return c.one_of("Sum", "Max", "Min", "Mean"), [
        c.floats(*broadcastable(c, shape))
        for _ in range(c.rng.integers(1, 8))], {}, c.one_of(8, 13)


@operator
def Unary(c):
    return c.one_of("Relu", "Sigmoid", "Tanh", "Identity", "Dropout"), \
        [c.floats(*c.shape(0, 5))], {}, c.one_of(9, 13)


# ---- moving elements --------------------------------------------------------


@operator
def Concat(c):
    shape = c.shape(1, 4)
    axis = int(c.rng.integers(-len(shape), len(shape)))
    inputs = []
    for _ in range(c.rng.integers(1, 7)):
        shape[axis] = c.size()
        inputs.append(c.floats(*shape))
    return "Concat", inputs, {"axis": axis}, c.one_of(9, 11, 13)


@operator
def Reshape(c):
    """Factors of the extents are dealt out anew; some extents become 0, the
    same as before, and one -1, whatever is left."""
    shape = [c.one_of(1, 2, 3, 4, 6, 5) for _ in range(c.rng.integers(1, 5))]
    factors = [p for n in shape for p in
               {4: [2, 2], 6: [2, 3]}.get(n, [n])]
    target = [1] * int(c.rng.integers(1, 6))
    for f in factors:
        target[c.rng.integers(len(target))] *= f
    for i in range(min(len(target), len(shape))):
        if target[i] == shape[i] and c.coin():
            target[i] = 0
    if c.coin():
        target[c.rng.integers(len(target))] = -1
    return "Reshape", [c.floats(*shape), Constant(target)], {}, 13


@operator
def Transpose(c):
    x = c.floats(*c.shape(1, 5))
    perm = [int(i) for i in c.rng.permutation(x.ndim)]
    return "Transpose", [x], {"perm": perm} if c.coin() else {}, 13


@operator
def Unsqueeze(c):
    x = c.floats(*c.shape(0, 3))
    n = x.ndim + int(c.rng.integers(1, 3))
    axes = [int(i) for i in c.rng.permutation(n)[:n - x.ndim]]
    axes = [a - n if c.coin() else a for a in axes]
    return "Unsqueeze", [x, Constant(axes)], {}, 13


@operator
def Flatten(c):
    x = c.floats(*c.shape(1, 4))
    return "Flatten", [x], {
        "axis": int(c.rng.integers(-x.ndim, x.ndim + 1))}, 13


@operator
def Resize(c):
    """Two spatial dimensions, to sizes, which leave no doubt about scales."""
    x = c.floats(c.size(2), c.size(2), c.size(6), c.size(6))
    sizes = [*x.shape[:2], c.size(9), c.size(9)]
    attrs = {"mode": c.one_of("nearest", "linear", "cubic"),
             "coordinate_transformation_mode": c.one_of(
                 "half_pixel", "asymmetric", "align_corners")}
    if attrs["mode"] == "nearest":
        # exact halves are rounded by luck in floats
        attrs["coordinate_transformation_mode"] = "asymmetric"
        attrs["nearest_mode"] = "floor"
        sizes[2:] = [n * c.one_of(1, 2, 4) for n in x.shape[2:]]
    return "Resize", [x, None, None, Constant(sizes)], attrs, 13


@operator
def Positions(c):
    """Gathering and scattering along an axis, with negative indices."""
    x = c.floats(*c.shape(1, 3))
    axis = int(c.rng.integers(-x.ndim, x.ndim))
    n = x.shape[axis]
    shape = [min(m, c.size()) for m in x.shape]
    shape[axis] = c.size(n)
    unique = np.argsort(c.rng.random([n if i == axis % x.ndim else m
                                      for i, m in enumerate(shape)]), axis)
    ids = np.take(unique, range(shape[axis]), axis) - n * c.coin()
    if c.coin() and shape[:axis % x.ndim] == list(x.shape[:axis % x.ndim]):
        return "ScatterElements", [x, ids, c.floats(*shape)], {
            "axis": axis}, 16
    return "ScatterElements", [x, ids, c.floats(*shape)], {
        "axis": axis, "reduction": c.one_of("add", "mul")}, 16


@operator
def Rows(c):
    """Slices by several coordinates."""
    x = c.floats(*c.shape(2, 4))
    n = int(c.rng.integers(1, min(3, x.ndim) + 1))
    count = c.shape(1, 2)
    ids = np.stack([c.rng.integers(-m, m, count) for m in x.shape[:n]], -1)
    if c.coin():
        return "GatherND", [x, ids], {}, 13
    updates = c.floats(*count, *x.shape[n:])
    return "ScatterND", [x, ids, updates], {"reduction": "add"}, 16


@operator
def Quantize(c):
    x = c.floats(*c.shape(1, 4)) * 20
    axis = int(c.rng.integers(-x.ndim, x.ndim))
    dtype = c.one_of(np.int8, np.uint8)
    n = [x.shape[axis]] if c.coin() else []
    zero = np.asarray(c.rng.integers(0, 99, n), dtype)
    scale = c.positive(*n)
    if c.coin():
        return "DequantizeLinear", [x.astype(np.int8).astype(dtype), scale,
                                    zero], {"axis": axis}, 13
    return "QuantizeLinear", [x, scale, zero], {"axis": axis}, 13


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--devices", default="1,2,3,5,12")
    parser.add_argument("--kernels", default="interpreter")
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    args = parser.parse_args()

    def run_one(what):
        function, seed = what
        op, inputs, attrs, opset = function(Chooser(seed))
        fed = [x.array.tolist() if isinstance(x, Constant)
               else getattr(x, "shape", None) for x in inputs]
        try:
            against.check(*make(op, inputs, attrs, opset, 1),
                          devices=args.devices.split(","),
                          kernels=args.kernels, tolerance=1e-4)
        except Exception as e:
            raise AssertionError(f"{op} {opset} of {fed}, {attrs}: "
                                 f"{str(e).strip()}") from e

    against.try_all(sample([(f"{name}-{seed}", (function, seed))
                            for seed in range(args.seed,
                                              args.seed + args.count)
                            for name, function in OPERATORS.items()]),
                    args.operators, run_one)


if __name__ == "__main__":
    main()
