# Tests: compiler/onnx
"""Graphs inside nodes, functions of a model, sequences: constructs that exist
only while planning.  Against ONNX Runtime.

	inner.py [PREFIX...]
"""
import os
import random
import sys
import tempfile

import against
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser
from programs import sample  # against knows where it is

RNG = np.random.default_rng(7)
CASES = []


def case(f):
    CASES.append((f.__name__, f))
    return f


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs, outputs, **attrs)


def number(name, value, dtype=np.int64):
    return numpy_helper.from_array(np.array(value, dtype), name)


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def body(nodes, inputs, outputs, known=()):
    return helper.make_graph(nodes, "inner", inputs, outputs, list(known))


def model_of(nodes, fed, outputs, known=(), opset=17):
    graph = helper.make_graph(
        nodes, "model", [tensor(n, x.shape) for n, x in fed.items()],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        list(known))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


# ---- Scan -------------------------------------------------------------------


def scan(draw, opset):
    """Rows of 3 elements; a weight of the graph around is added to what each
    round gives."""
    states, scanned, given = (draw.randint(1, 3) for _ in range(3))
    rounds = draw.randint(1, 5)
    axes = [draw.choice([0, 1, -1]) for _ in range(scanned)]
    out_axes = [draw.choice([0, 1, -1]) for _ in range(given)]
    nodes = []
    for i in range(states):
        nodes += [node("Add", [f"s{i}", f"x{i % scanned}"], [f"a{i}"]),
                  node("Tanh", [f"a{i}"], [f"t{i}"])]
    for i in range(given):
        nodes += [node("Mul", [f"s{i % states}", f"x{i % scanned}"],
                       [f"m{i}"]),
                  node("Add", [f"m{i}", "w"], [f"r{i}"])]
    inner = body(nodes, [tensor(f"s{i}", [3]) for i in range(states)]
                 + [tensor(f"x{i}", [3]) for i in range(scanned)],
                 [tensor(f"t{i}", [3]) for i in range(states)]
                 + [tensor(f"r{i}", [3]) for i in range(given)])
    fed = {f"S{i}": floats(3) for i in range(states)}
    for i, axis in enumerate(axes):
        fed[f"X{i}"] = floats(rounds, 3) if axis == 0 else floats(3, rounds)
    names = [f"Y{i}" for i in range(states + given)]
    scan_node = node(
        "Scan", list(fed), names, body=inner, num_scan_inputs=scanned,
        scan_input_axes=axes, scan_output_axes=out_axes,
        scan_input_directions=[draw.randint(0, 1) for _ in axes],
        scan_output_directions=[draw.randint(0, 1) for _ in out_axes])
    return model_of([scan_node], fed, names, [
        numpy_helper.from_array(floats(3), "w")], opset), fed


@case
def scans():
    draw = random.Random(1)
    for i in range(16):
        against.check(*scan(draw, draw.choice([9, 11, 16, 21])))


@case
def scan_with_a_batch():
    inner = body([node("Add", ["s", "x"], ["t"]), node("Neg", ["t"], ["r"])],
                 [tensor("s", [3]), tensor("x", [3])],
                 [tensor("t", [3]), tensor("r", [3])])
    fed = {"S": floats(2, 3), "X": floats(2, 5, 3)}
    for direction in 0, 1:
        against.check(model_of(
            [node("Scan", ["", "S", "X"], ["Y", "Z"], body=inner,
                  num_scan_inputs=1, directions=[direction])],
            fed, ["Y", "Z"], opset=8), fed)


# ---- Loop -------------------------------------------------------------------


def loop(draw, opset):
    """The condition holds for `limit` rounds; each doubles what is even, and
    adds to what is odd, by a branch."""
    rounds, limit = draw.randint(0, 5), draw.randint(1, 5)
    starts = draw.choice([None, True, False])
    branch = node("If", ["even"], ["b"],
                  then_branch=body([node("Add", ["a", "a"], ["d"])], [],
                                   [tensor("d", None)]),
                  else_branch=body([node("Add", ["a", "w"], ["e"])], [],
                                   [tensor("e", None)]))
    inner = body(
        [node("Mod", ["i", "two"], ["m"]), node("Equal", ["m", "zero"],
                                                ["even"]),
         branch, node("Concat", ["l", "b"], ["k"], axis=0),
         node("Add", ["i", "one"], ["j"]), node("Less", ["j", "limit"], ["o"]),
         node("ReduceSum", ["k"], ["r"], keepdims=0),
         node("Cast", ["i"], ["f"], to=TensorProto.FLOAT)],
        [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL),
         tensor("a", [3]), tensor("l", [None])],
        [tensor("o", [], TensorProto.BOOL), tensor("b", [3]),
         tensor("k", [None]), tensor("b", [3]), tensor("r", []),
         tensor("f", [])],
        [number("two", 2), number("zero", 0), number("one", 1),
         number("limit", limit)])
    fed = {"A": floats(3), "L": floats(1)}
    known = [number("M", rounds), numpy_helper.from_array(floats(3), "w")]
    if starts is not None:
        known.append(number("C", starts, bool))
    names = ["Y", "Z", "P", "Q", "R"]
    return model_of([node("Loop", ["M" if rounds < 5 else "",
                                   "" if starts is None else "C", "A", "L"],
                          names, body=inner)], fed, names, known, opset), fed


@case
def loops():
    draw = random.Random(2)
    for i in range(24):
        against.check(*loop(draw, draw.choice([13, 16, 21])))


@case
def loop_in_a_loop():
    inside = body([node("Add", ["p", "q"], ["z"]), node("Mul", ["z", "w"],
                                                        ["y"])],
                  [tensor("n", [], TensorProto.INT64),
                   tensor("d", [], TensorProto.BOOL), tensor("q", [2])],
                  [tensor("d", [], TensorProto.BOOL), tensor("y", [2])])
    outside = body([node("Add", ["i", "one"], ["t"]),
                    node("Loop", ["t", "", "p"], ["r"], body=inside)],
                   [tensor("i", [], TensorProto.INT64),
                    tensor("c", [], TensorProto.BOOL), tensor("p", [2])],
                   [tensor("c", [], TensorProto.BOOL), tensor("r", [2]),
                    tensor("r", [2])])
    fed = {"x": floats(2)}
    against.check(model_of(
        [node("Loop", ["M", "", "x"], ["y", "z"], body=outside)], fed,
        ["y", "z"], [number("M", 3), number("one", 1),
                     numpy_helper.from_array(floats(2), "w")]), fed,
        tolerance=1e-4)


# ---- functions --------------------------------------------------------------


@case
def functions_with_opsets_and_defaults():
    model = parser.parse_model("""
    <ir_version: 9, opset_import: ["" : 17, "own" : 1]>
    g (float[2, 3, 4] x) => (float[2, 3, 4] y) {
        a = own.old (x)
        b = own.leak (a)
        c = own.leak <slope = 0.5> (b)
        d = own.outer <power = 0.25> (c)
        y = own.outer (d)
    }
    <domain: "own", opset_import: ["" : 11]>
    old (a) => (b) { b = Softmax (a) }
    <domain: "own", opset_import: ["" : 17]>
    leak <slope: float = 0.125> (a) => (c) {
        n = Neg (a)
        c = LeakyRelu <alpha: float = @slope> (n)
    }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    outer <power: float = 2.0> (a) => (c) {
        c = own.leak <slope: float = @power> (a)
    }
    """)
    # ONNX Runtime takes the model's opset in functions, too.
    x = floats(2, 3, 4)
    y = np.exp(x) / np.exp(x).sum((1, 2), keepdims=True)
    for slope in 0.125, 0.5, 0.25, 2.0:
        y = np.where(-y < 0, -y * np.float32(slope), -y)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        against.check_file(path, {"x": x}, {"y": y})


@case
def function_with_a_branch_and_what_is_left_out():
    model = parser.parse_model("""
    <ir_version: 9, opset_import: ["" : 17, "own" : 1]>
    g (float[2, 3] x) => (float[2, 3] y) {
        a = own.f (x)
        b = own.f (a, , a)
        y = own.f <rows: int = 5> (b, x)
    }
    <domain: "own", opset_import: ["" : 17]>
    f <rows: int = 2> (a, low, high) => (c) {
        s = Shape <start: int = 0, end: int = 1> (a)
        zero = Constant <value_ints = [0]> ()
        n = Constant <value_int: int = @rows> ()
        first = Squeeze (s, zero)
        same = Equal (first, n)
        c = If (same) <
            then_branch = t () => (float[2, 3] p) { p = Sigmoid (a) },
            else_branch = e () => (float[2, 3] q) { q = Neg (a) }
        >
    }
    """)
    against.check(model, {"x": floats(2, 3)})


# ---- sequences --------------------------------------------------------------


@case
def sequences():
    fed = {"x": floats(5, 4)}
    nodes = [
        node("SplitToSequence", ["x", "two"], ["s"], axis=0),
        node("SplitToSequence", ["x"], ["rows"], axis=0, keepdims=0),
        node("SplitToSequence", ["x", "parts"], ["p"], axis=1),
        node("SequenceAt", ["s", "last"], ["tail"]),
        node("SequenceInsert", ["rows", "row", "one"], ["more"]),
        node("SequenceErase", ["more", "zero"], ["fewer"]),
        node("SequenceErase", ["fewer"], ["fewest"]),
        node("ConcatFromSequence", ["fewest"], ["a"], axis=1, new_axis=1),
        node("ConcatFromSequence", ["p"], ["b"], axis=-1),
        node("SequenceLength", ["fewest"], ["n"]),
        node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
        node("SequenceEmpty", [], ["none"]),
        node("SequenceInsert", ["none", "tail"], ["single"]),
        node("SequenceConstruct", ["tail", "tail"], ["twice"]),
        node("ConcatFromSequence", ["twice"], ["c"], axis=0),
        node("ConcatFromSequence", ["single"], ["d"], axis=0)]
    known = [number("two", 2), number("parts", [1, 3]), number("last", -1),
             number("one", 1), number("zero", 0),
             numpy_helper.from_array(floats(4), "row")]
    against.check(model_of(nodes, fed, ["a", "b", "f", "c", "d"], known), fed)


@case
def sequence_in_a_loop():
    inner = body(
        [node("Gather", ["x", "i"], ["row"]),
         node("SequenceInsert", ["s", "row"], ["t"])],
        [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL),
         helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)],
        [tensor("c", [], TensorProto.BOOL),
         helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT,
                                                None)])
    fed = {"x": floats(5, 4)}
    against.check(model_of(
        [node("SequenceEmpty", [], ["e"]),
         node("Loop", ["M", "", "e"], ["all"], body=inner),
         node("ConcatFromSequence", ["all"], ["y"], axis=0, new_axis=1)],
        fed, ["y"], [number("M", 3)]), fed)


@case
def sequence_map():
    inner = body([node("Add", ["r", "b"], ["u"]), node("Mul", ["u", "q"],
                                                       ["v"])],
                 [tensor("r", [4]), tensor("q", [4])],
                 [tensor("u", [4]), tensor("v", [4])])
    fed = {"x": floats(3, 4), "b": floats(4)}
    against.check(model_of(
        [node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=0),
         node("SequenceMap", ["s", "b"], ["t", "w"], body=inner),
         node("ConcatFromSequence", ["t"], ["y"], axis=0, new_axis=1),
         node("ConcatFromSequence", ["w"], ["z"], axis=0)],
        fed, ["y", "z"]), fed)


if __name__ == "__main__":
    against.try_all(sample(CASES), sys.argv[1:], lambda f: f())
