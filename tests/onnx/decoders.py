"""Decoders as exporters write them: caches of keys and values come in as
past_*, and go out, longer by the new tokens, as present_*.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper

DTYPES = {"i64": TensorProto.INT64, "i32": TensorProto.INT32,
          "bool": TensorProto.BOOL}


class Graph:
    """Nodes and weights of a model that is being made."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.n = [], [], 0

    def __call__(self, op, *inputs, result=None, **attributes):
        """A node's result."""
        self.n += 1
        result = result or f"{op.lower()}_{self.n}"
        self.nodes.append(helper.make_node(op, inputs, [result],
                                           **attributes))
        return result

    def constant(self, name, value):
        self.weights.append(onnx.numpy_helper.from_array(
            np.asarray(value), name))
        return name

    def weight(self, name, *dims, scale=0.3):
        return self.constant(name, (self.rng.standard_normal(dims) * scale)
                             .astype(np.float32))


def norm(g, x, name, width):
    scale = g.constant(f"{name}.scale", np.float32(
        1 + 0.1 * g.rng.standard_normal(width)))
    return g("LayerNormalization", x, scale, g.weight(f"{name}.bias", width),
             axis=-1)


def heads_of(g, x, heads, width):
    split = g("Reshape", x, g.constant(f"split_{g.n}", np.int64(
        [0, 0, heads, width // heads])))
    return g("Transpose", split, perm=[0, 2, 1, 3])


def attention(g, x, layer, heads, width, bias, turned):
    """The new entries of a cache are behind the past ones.  One that is turned
    has its entries before its heads."""
    q, k, v = (heads_of(g, g("MatMul", x, g.weight(f"{layer}.{n}", width,
                                                   width)), heads, width)
               for n in "qkv")
    if turned:
        past = g("Transpose", f"past_key_{layer}", perm=[0, 2, 1, 3])
        k = g("Concat", past, k, axis=2)
        g("Transpose", k, result=f"present_key_{layer}", perm=[0, 2, 1, 3])
    else:
        k = g("Concat", f"past_key_{layer}", k, axis=2,
              result=f"present_key_{layer}")
    v = g("Concat", f"past_value_{layer}", v, result=f"present_value_{layer}",
          axis=2)
    scores = g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g("Mul", scores, g.constant(f"scale_{layer}", np.float32(
        (width // heads) ** -0.5)))
    y = g("MatMul", g("Softmax", g("Add", scores, bias), axis=-1), v)
    y = g("Reshape", g("Transpose", y, perm=[0, 2, 1, 3]),
          g.constant(f"join_{layer}", np.int64([0, 0, width])))
    return g("MatMul", y, g.weight(f"{layer}.out", width, width))


def bias_of(g, mask, four, past="past_value_0"):
    """What is added to scores: nothing for entries that are seen."""
    if not four:
        # an entry is seen by itself and by those behind it
        size = g("Shape", past, start=2, end=3)
        new = g("Shape", "input_ids", start=1, end=2)
        one, zero = (g.constant(f"number_{v}", np.int64(v)) for v in (1, 0))
        total = g("Squeeze", g("Add", size, new))
        row = g("Range", g("Squeeze", size), total, one)
        column = g("Range", zero, total, one)
        seen = g("LessOrEqual", g("Unsqueeze", column, g.constant(
            "axis_0", np.int64([0]))), g("Unsqueeze", row, g.constant(
                "axis_1", np.int64([1]))))
        mask = g("Unsqueeze", g("Cast", mask, to=TensorProto.BOOL),
                 g.constant("axes_12", np.int64([1, 2])))
        mask = g("And", mask, seen)
    else:
        mask = g("Cast", mask, to=TensorProto.BOOL)
    return g("Where", mask, g.constant("seen", np.float32(0)),
             g.constant("unseen", np.float32(-1e9)))


def gpt(path, layers=2, heads=4, width=32, words=61, places=64, seed=1,
        mask="i64", four=False, turned=False):
    """Learned positions, norms before, as GPT-2.  The mask says which entries
    are there, of all rows; with `four` it has [rows, 1, new, all]."""
    g = Graph(seed)
    x = g("Add", g("Gather", g.weight("words", words, width), "input_ids"),
          g("Gather", g.weight("places", places, width), "position_ids"))
    bias = bias_of(g, "attention_mask", four)
    for i in range(layers):
        x = g("Add", x, attention(g, norm(g, x, f"{i}.n1", width), i, heads,
                                  width, bias, turned))
        y = g("MatMul", norm(g, x, f"{i}.n2", width),
              g.weight(f"{i}.up", width, 4 * width))
        y = g("Mul", y, g("Sigmoid", y))
        x = g("Add", x, g("MatMul", y, g.weight(f"{i}.down", 4 * width,
                                                width)))
    g("MatMul", norm(g, x, "last", width), g.weight("head", width, words),
      result="logits")
    size = width // heads

    def dims(name):
        return (lambda entries: [entries, heads, size]) \
            if turned and name == "key" else \
            lambda entries: [heads, entries, size]
    save(g, path, mask, four, words, [
        (f"past_{n}_{i}", f"present_{n}_{i}", dims(n))
        for i in range(layers) for n in ("key", "value")])


def rms_norm(g, x, name, width):
    scale = g.constant(f"{name}.scale", np.float32(
        1 + 0.1 * g.rng.standard_normal(width)))
    mean = g("ReduceMean", g("Mul", x, x), g.constant(
        f"{name}.axes", np.int64([-1])))
    size = g("Sqrt", g("Add", mean, g.constant(f"{name}.least",
                                               np.float32(1e-5))))
    return g("Mul", g("Div", x, size), scale)


def rotated(g, x, cos, sin):
    """Rotary embeddings: the halves of a head, turned by angles."""
    a, b = f"first_{g.n}", f"second_{g.n}"
    g.nodes.append(helper.make_node("Split", [x], [a, b], axis=-1,
                                    num_outputs=2))
    return g("Concat", g("Sub", g("Mul", a, cos), g("Mul", b, sin)),
             g("Add", g("Mul", b, cos), g("Mul", a, sin)), axis=-1)


def grouped_attention(g, x, layer, sizes, bias, angles):
    """Groups of heads that share keys and values: a cache has those alone."""
    heads, shared, size = sizes
    width = heads * size
    q, k, v = (heads_of(g, g("MatMul", x, g.weight(f"{layer}.{name}", width,
                                                   n * size)), n, n * size)
               for name, n in (("q", heads), ("k", shared), ("v", shared)))
    q, k = rotated(g, q, *angles), rotated(g, k, *angles)
    all_of = []
    for name, new in ("key", k), ("value", v):
        kept = g("Concat", f"past_key_values.{layer}.{name}", new, axis=2,
                 result=f"present.{layer}.{name}")
        many = g("Expand", g("Unsqueeze", kept, g.constant(
            f"axis_{g.n}", np.int64([2]))), g.constant(
                f"times_{g.n}", np.int64([1, 1, heads // shared, 1, 1])))
        all_of.append(g("Reshape", many, g.constant(
            f"heads_{g.n}", np.int64([0, heads, -1, size]))))
    k, v = all_of
    scores = g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])),
               g.constant(f"{layer}.scale", np.float32(size ** -0.5)))
    y = g("MatMul", g("Softmax", g("Add", scores, bias), axis=-1), v)
    y = g("Reshape", g("Transpose", y, perm=[0, 2, 1, 3]),
          g.constant(f"{layer}.join", np.int64([0, 0, width])))
    return g("MatMul", y, g.weight(f"{layer}.out", width, width))


def llama(path, layers=2, heads=6, shared=2, size=4, words=61, places=64,
          seed=1, mask="i64", four=False):
    """Turned keys, gated layers, caches of fewer heads and with the names that
    exporters of Hugging Face's networks give them."""
    g, width = Graph(seed), heads * size
    x = g("Gather", g.weight("words", words, width, scale=1), "input_ids")
    turns = np.outer(np.arange(places),
                     100.0 ** -np.linspace(0, 1, size // 2))
    angles = [g("Unsqueeze", g("Gather", g.constant(
        name, f(turns).astype(np.float32)), "position_ids"),
                g.constant(f"{name}.axis", np.int64([1])))
              for name, f in (("cos", np.cos), ("sin", np.sin))]
    bias = bias_of(g, "attention_mask", four, "past_key_values.0.value")
    for i in range(layers):
        x = g("Add", x, grouped_attention(
            g, rms_norm(g, x, f"{i}.n1", width), i, (heads, shared, size),
            bias, angles))
        y = rms_norm(g, x, f"{i}.n2", width)
        y, up = (g("MatMul", y, g.weight(f"{i}.{name}", width, 2 * width))
                 for name in ("gate", "up"))
        y = g("Mul", g("Mul", y, g("Sigmoid", y)), up)
        x = g("Add", x, g("MatMul", y, g.weight(f"{i}.down", 2 * width,
                                                width)))
    g("MatMul", rms_norm(g, x, "last", width), g.weight("head", width, words),
      result="logits")
    save(g, path, mask, four, words, [
        (f"past_key_values.{i}.{name}", f"present.{i}.{name}",
         lambda entries: [shared, entries, size])
        for i in range(layers) for name in ("key", "value")])


def save(g, path, mask, four, words, caches):
    """caches: names of what comes in and goes out, and the dimensions behind
    the rows, by the number of entries."""
    def value(name, kind, *dims):
        return helper.make_tensor_value_info(name, kind, dims)
    many = ["batch", 1, "new", "all"] if four else ["batch", "all"]
    inputs = [value("input_ids", TensorProto.INT64, "batch", "new"),
              value("attention_mask", DTYPES[mask], *many),
              value("position_ids", TensorProto.INT64, "batch", "new")]
    inputs += [value(past, TensorProto.FLOAT, "batch", *dims("past"))
               for past, _, dims in caches]
    outputs = [value("logits", TensorProto.FLOAT, "batch", "new", words)]
    outputs += [value(present, TensorProto.FLOAT, "batch", *dims("all"))
                for _, present, dims in caches]
    graph = helper.make_graph(g.nodes, "decoder", inputs, outputs, g.weights)
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21)]), path)
