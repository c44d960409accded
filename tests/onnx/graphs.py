# Tests: compiler/onnx compiler/graph
"""The import of whole graphs: constants in all their forms, shape arithmetic,
symbolic sizes, branches, functions.  Against ONNX Runtime.

	graphs.py [PREFIX...]
"""
import os
import subprocess
import sys
import tempfile

import against
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

RNG = np.random.default_rng(5)
CASES = []


def case(f):
    CASES.append((f.__name__, f))
    return f


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def text(source, **known):
    """A model in ONNX's text format, with arrays as initializers."""
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\n' + source)
    model.graph.initializer.extend(
        numpy_helper.from_array(a, n) for n, a in known.items())
    return model


ADD = "g (float[3,4] x) => (float[3,4] y) { y = Add(x, w) }"


def with_weight(tensor):
    tensor.name = "w"
    model = text(ADD)
    model.graph.initializer.append(tensor)
    return model


@case
def initializer_that_is_an_input():
    model = text("g (float[3,4] x, float[4] w) => (float[3,4] y) "
                 "{ y = Add(x, w) }", w=floats(4))
    against.check(model, {"x": floats(3, 4)})


@case
def large_weights_stay_in_the_file():
    model = text("g (float[3,300] x) => (float[3,301] y) "
                 "{ y = MatMul(x, w) }", w=floats(300, 301))
    against.check(model, {"x": floats(3, 300)}, tolerance=1e-4)


@case
def typed_float_data():
    for n in 4, 2000:
        model = text(f"g (float[{n}] x) => (float[{n}] y) {{ y = Add(x, w) }}")
        model.graph.initializer.append(helper.make_tensor(
            "w", TensorProto.FLOAT, [n], floats(n)))
        against.check(model, {"x": floats(n)})


@case
def typed_double_data():
    model = text("g (double[4] x) => (double[4] y) { y = Add(x, w) }")
    model.graph.initializer.append(helper.make_tensor(
        "w", TensorProto.DOUBLE, [4], RNG.standard_normal(4)))
    against.check(model, {"x": RNG.standard_normal(4)})


@case
def typed_small_data():
    for kind, numpy, values in (
            ("float16", np.float16, [0.5, -2, 3, 60000]),
            ("int32", np.int32, [1, -2, 3, -4]),
            ("int8", np.int8, [1, -2, 3, -128]),
            ("uint8", np.uint8, [1, 2, 3, 255]),
            ("int64", np.int64, [1, -2, 2 ** 40, -4]),
            ("uint64", np.uint64, [1, 2, 2 ** 40, 4]),
            ("uint32", np.uint32, [1, 2, 2 ** 31, 4])):
        model = text(f"g (float[4] x) => (float[4] y) "
                     "{ c = Cast<to = 1>(w) y = Add(x, c) }")
        model.graph.initializer.append(helper.make_tensor(
            "w", helper.np_dtype_to_tensor_dtype(np.dtype(numpy)), [4],
            values))
        against.check(model, {"x": floats(4)}, tolerance=1e-3)


@case
def typed_bool_data():
    model = text("g (float[4] x, float[4] z) => (float[4] y) "
                 "{ y = Where(w, x, z) }")
    model.graph.initializer.append(helper.make_tensor(
        "w", TensorProto.BOOL, [4], [True, False, True, True]))
    against.check(model, {"x": floats(4), "z": floats(4)})


@case
def external_data():
    model = text("g (float[3,40] x) => (float[3,41] y) { c = MatMul(x, w) "
                 "y = Add(c, b) }", w=floats(40, 41), b=floats(41))
    fed = {"x": floats(3, 40)}
    expected = against.oracle(model, fed)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "weights"))
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path, save_as_external_data=True, size_threshold=0,
                  location="weights/all.data")
        against.check_file(path, fed, expected, tolerance=1e-4)


@case
def constants_of_all_kinds():
    against.check(text("""g (float[2] x) => (float[2] y, float[2] z) {
        a = Constant<value_float = 1.5>()
        b = Constant<value_floats = [1.0, 2.0]>()
        c = Constant<value = float[2] {3, 4}>()
        i = Constant<value_int = 3>()
        j = Constant<value_ints = [3, 4]>()
        k = Add(i, j)
        l = Cast<to = 1>(k)
        d = Mul(x, a) e = Add(d, b) f = Add(e, c) y = Add(f, l)
        z = Identity(y)
    }"""), {"x": floats(2)})


@case
def constant_of_shape():
    against.check(text("""g (float[2, 3] x) => (float[2, 3] y) {
        s = Shape(x)
        a = ConstantOfShape<value = float[1] {2.5}>(s)
        b = ConstantOfShape(s)
        c = Exp(b) d = Mul(a, c) y = Add(x, d)
    }"""), {"x": floats(2, 3)})


ARITHMETIC = """g (float[batch, 6, 4] x) => (float[batch, 4, n] y) {
    s = Shape(x)
    zero = Constant<value_int = 0>()
    b = Gather(s, zero)
    axes = Constant<value_ints = [0]>()
    b1 = Unsqueeze(b, axes)
    size = Size(x)
    four = Constant<value_int = 4>()
    area = Mul(b, four)
    n = Div(size, area)
    n1 = Unsqueeze(n, axes)
    f1 = Unsqueeze(four, axes)
    target = Concat<axis = 0>(b1, f1, n1)
    t = Transpose<perm = [0, 2, 1]>(x)
    y = Reshape(t, target)
}"""


@case
def shape_arithmetic():
    fed = {"x": floats(5, 6, 4)}
    against.check(text(ARITHMETIC), fed, options=("-D", "batch=5"))
    against.check(text(ARITHMETIC), fed, options=("--shape", "x=5x6x4"))


@case
def arithmetic_of_masks():
    against.check(text("""g (float[2, 4] x) => (float[2, 4] y) {
        s = Shape<start = 1>(x)
        start = Constant<value_int = 0>()
        step = Constant<value_int = 1>()
        e = Squeeze(s)
        r = Range(start, e, step)
        three = Constant<value_int = 3>()
        c = Less(r, three)
        minus = Constant<value_float = -100.0>()
        y = Where(c, x, minus)
    }"""), {"x": floats(2, 4)})


@case
def another_batch():
    source = """g (float[1, 3, 4] x) => (float[1, 12] y) {
        s = Constant<value_ints = [1, 12]>()
        r = Reshape(x, s)
        y = Relu(r)
    }"""
    fed = {"x": floats(5, 3, 4)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(text(source), path)
        want = np.maximum(fed["x"].reshape(5, 12), 0)
        against.check_file(path, fed, {"y": want},
                           options=("--shape", "x=5x3x4"))


@case
def branches_that_are_known():
    against.check(text("""g (float[2] x) => (float[2] y) {
        s = Size(x)
        two = Constant<value_int = 2>()
        c = Equal(s, two)
        y = If(c) <
            then_branch = a () => (float[2] t) { t = Neg(x) },
            else_branch = b () => (float[2] e) { e = Relu(x) }
        >
    }"""), {"x": floats(2)})


@case
def functions_of_the_model():
    model = parser.parse_model("""
    <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2] x) => (float[2] y) {
        h = own.f <alpha = 0.25> (x)
        y = own.f <alpha = 0.5> (h)
    }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    f <alpha> (a) => (c) {
        b = LeakyRelu <alpha: float = @alpha> (a)
        c = own.g (b)
    }
    <domain: "own", opset_import: ["" : 17]>
    g (a) => (b) { b = Neg(a) }
    """)
    against.check(model, {"x": floats(2)})


@case
def outputs_that_are_something_else():
    against.check(text("""g (float[2] x) => (float[2] y, float[2] z,
                                             float[2] v, float[2] u) {
        y = Relu(x) z = Identity(y) v = Identity(x) u = Identity(w)
    }""", w=floats(2)), {"x": floats(2)})


@case
def nodes_out_of_order():
    model = text("g (float[2] x) => (float[2] y) "
                 "{ a = Relu(x) b = Neg(a) y = Abs(b) }")
    nodes = list(model.graph.node)
    expected = against.oracle(model, {"x": np.array([1, -1], np.float32)})
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        against.check_file(path, {"x": np.array([1, -1], np.float32)},
                           expected)


@case
def names_that_are_missing():
    model = text("g (float[2] x) => (float[2] y) "
                 "{ a = Relu(x) y = Softmax(a) }")
    for node in model.graph.node:
        node.ClearField("name")
    against.check(model, {"x": floats(2)})


@case
def a_model_from_a_pipe():
    model = text(ADD, w=floats(3, 4))
    done = subprocess.run([against.TDLC, "show", "-"], capture_output=True,
                          input=model.SerializeToString())
    assert done.returncode == 0, done.stderr.decode()
    assert b"f32 [3, 4]" in done.stdout


@case
def missing_operators_are_counted():
    model = text("g (float[2] x) => (float[2] y) "
                 "{ a = Frob(x) b = Frob(a) c = Nicate(b) y = Relu(c) }")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        done = subprocess.run([against.TDLC, "show", path], text=True,
                              capture_output=True)
    assert done.returncode == 1
    assert done.stderr.count("[missing-operator]") == 2, done.stderr
    assert "'Frob' of opset 17, which the model uses 2 times" in done.stderr
    assert "opdefs/onnx" in done.stderr


if __name__ == "__main__":
    against.try_all(CASES, sys.argv[1:], lambda f: f())
