"""Derived gradients against PyTorch's autograd, by the road of any operator.

The gradients of the library's operators are derived, each becomes a node of
one model, which is planned and run whole and partitioned; what comes out is
what autograd computes of the same function.

	gradients.py [--only PATTERN] [-v]
"""
import argparse
import fnmatch
import glob
import os
import re
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

from against import run

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")
OPDEFS = os.environ["TDL_OPDEFS"]
TOLERANCE = 2e-5  # of the greatest element

draw = np.random.default_rng(7)


def f(*shape):
    return draw.standard_normal(shape, dtype=np.float32)


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


# Operator, inputs, attributes, the same function in PyTorch.
CASES = [
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
    ("conv2d", *conv(2)), ("conv2d", *conv(2, stride=2, dilation=2, pad=2)),
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
    ("instance_norm", {"x": f(2, 4, 5, 6), "scale": f(4), "bias": f(4)}, {},
     lambda x, scale, bias: F.instance_norm(x, None, None, scale, bias)),
    ("group_norm", {"x": f(2, 6, 5), "scale": f(6), "bias": f(6)},
     {"groups": 3}, lambda x, scale, bias: F.group_norm(x, 3, scale, bias)),
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
    ("pad_reflect", {"x": f(3, 4)}, {"outer": [3], "before": 2, "after": 3},
     lambda x: F.pad(x, (2, 3), "reflect")),
    ("tile", {"x": f(3, 4)}, {"outer": [3], "n": 3}, lambda x: x.tile(1, 3)),
    ("lower_triangle", {"x": f(2, 4, 5)}, {"k": 1}, lambda x: x.tril(1)),
    ("gather_elements", {"x": f(3, 5), "ids": ids(5, 3, 4)}, {"outer": [3]},
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


def literal(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)


def split(text, separator):
    """At separators that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


class Derived:
    """The library's gradients: a module, and what each operator takes."""

    def __init__(self, folder):
        files = sorted(glob.glob(os.path.join(OPDEFS, "*.tdl")))
        self.path = os.path.join(folder, "gradients.tdl")
        run(TDLC, "compile", "--gradients", *files, "-o", self.path)
        self.heads = {}
        for path in [self.path] + files:
            with open(path, encoding="utf-8") as source:
                self.read_heads(source.read())

    def read_heads(self, text):
        """Parameters, attributes and results by operator, by name."""
        for kind, name, head in re.findall(
                r"^(op|grad) ([\w ]+)(\(.*?) =\n", text, re.S | re.M):
            if kind == "grad":
                name = name.replace(" ", "_grad_")
            given, results = re.fullmatch(r"\((.*)\)\s+->\s+(.*)", head,
                                          re.S).groups()
            params, *attrs = split(given, ";")
            self.heads[name] = (
                [self.name_of(t) for t in split(params, ",")],
                {a.split(":")[0] for a in split(",".join(attrs), ",")},
                [self.name_of(t) for t in split(results.strip("()"), ",")])

    @staticmethod
    def name_of(tensor):
        return tensor.removeprefix("broadcast ").partition("[")[0]


class Model:
    """Nodes of derived operators, each with inputs of its own."""

    def __init__(self, derived):
        self.derived = derived
        self.entries = [f'import "{os.path.basename(derived.path)}"']
        self.nodes, self.inputs, self.outputs = [], [], []
        self.fed, self.wanted = {}, {}

    def add(self, n, case):
        op, data, attrs, function = case
        tensors = {k: torch.tensor(v) for k, v in data.items()}
        smooth = [k for k, t in tensors.items() if t.is_floating_point()]
        for k in smooth:
            tensors[k].requires_grad_()
        y = function(*tensors.values())
        dy = torch.tensor(f(*y.shape))
        slopes = torch.autograd.grad(y, [tensors[k] for k in smooth], dy)
        given = dict(data)
        given["d" + self.derived.heads[op][2][0]] = dy.numpy()
        for k, slope in zip(smooth, slopes):
            self.add_node(f"{n}_{op}_{k}", f"{op}_grad_{k}", given, attrs,
                          slope.numpy())

    def add_node(self, name, op, given, attrs, want):
        params, has, _ = self.derived.heads[op]
        call = params + [f"{k} = {literal(v)}" for k, v in attrs.items()
                         if k in has]
        self.entries.append(
            f'onnx "test" "{name}" 1.. ({", ".join(params)}) {{\n'
            f'    return {op}({", ".join(call)})\n}}')
        for p in params:
            array = given[p]
            self.fed[f"{name}.{p}"] = array
            self.inputs.append(onnx.helper.make_tensor_value_info(
                f"{name}.{p}", onnx.helper.np_dtype_to_tensor_dtype(
                    array.dtype), array.shape))
        self.nodes.append(onnx.helper.make_node(
            name, [f"{name}.{p}" for p in params], [name], domain="test"))
        self.outputs.append(onnx.helper.make_tensor_value_info(
            name, onnx.TensorProto.FLOAT, want.shape))
        self.wanted[name] = want

    def save(self, folder):
        with open(os.path.join(folder, "model.tdl"), "w",
                  encoding="utf-8") as out:
            out.write("\n".join(self.entries) + "\n")
        graph = onnx.helper.make_graph(self.nodes, "gradients", self.inputs,
                                       self.outputs)
        onnx.save(onnx.helper.make_model(
            graph, ir_version=10, opset_imports=[
                onnx.helper.make_opsetid("test", 1),
                onnx.helper.make_opsetid("", 21)]),
            os.path.join(folder, "model.onnx"))
        np.savez(os.path.join(folder, "in.npz"), **self.fed)


def compare(model, folder, k, kernels, verbose):
    """The names of what differs."""
    def path(name):
        return os.path.join(folder, name)
    run(TDLC, "plan", path("model.onnx"), "--load", path("model.tdl"),
        "-k", str(k), "-o", path("plan"))
    run(TDLRUN, path("plan"), "--kernels", kernels, "--verify",
        "--inputs", path("in.npz"), "--outputs", path("out.npz"))
    bad, got = [], np.load(path("out.npz"))
    for name, want in model.wanted.items():
        scale = max(1, np.abs(want).max())
        error = np.abs(got[name] - want).max() / scale
        if verbose:
            print(f"{name}, k = {k}: {error:.1e}")
        if not error <= TOLERANCE:
            print(f"FAIL: {name}, k = {k}, {kernels}: off by {error:.1e}")
            bad.append(name)
    print(f"k = {k}, {kernels} kernels: {len(model.wanted)} gradients, "
          f"{len(bad)} wrong", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", metavar="PATTERN")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TDL_CACHE", folder)
        model = Model(Derived(folder))
        for n, case in enumerate(CASES):
            if fnmatch.fnmatchcase(case[0], args.only):
                model.add(n, case)
        model.save(folder)
        bad = compare(model, folder, 1, "generated", args.verbose)
        bad += compare(model, folder, 3, "interpreter", args.verbose)
    sys.exit(1 if bad or not model.wanted else 0)


if __name__ == "__main__":
    main()
