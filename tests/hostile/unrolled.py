# Tests: compiler/model dsl
"""Small models that ask for much: loops, functions that call functions,
sequences, equations."""
import sys

from harness import Judge, TDLC

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
except ImportError as e:
    print(f"SKIP: {e}")
    sys.exit(77)

BIG = 1 << 62
HUGE = 1_000_000


def node(op, inputs, outputs, name="", **attrs):
    return helper.make_node(op, inputs, outputs, name, **attrs)


def number(name, value):
    return numpy_helper.from_array(np.array(value), name)


def empty(names):
    return [helper.make_empty_tensor_value_info(n) for n in names]


def inner(nodes, inputs, outputs, known=()):
    return helper.make_graph(nodes, "inner", empty(inputs), empty(outputs),
                             list(known))


def model(nodes, known=(), functions=(), shape=(3, 4)):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(
            "x", TensorProto.FLOAT, shape)], empty(["y"]), list(known))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9,
                             functions=list(functions)).SerializeToString()


def loop(nodes, rounds=9999, known=(), start="x", result="b", more=()):
    body = inner(nodes, ["i", "c", "a"], ["c", result], known)
    last = [] if start == "x" else [
        node("ConcatFromSequence", ["s"], ["y"], axis=0)]
    return model([*more, node("Loop", ["n", "", start],
                              ["y" if start == "x" else "s"], body=body),
                  *last], [number("n", rounds)])


RELU = node("Relu", ["a"], ["b"])


def nested(depth):
    """Loops in loops, 100 rounds each."""
    body = inner([RELU], ["i", "c", "a"], ["c", "b"])
    for _ in range(depth):
        body = inner([node("Loop", ["n", "", "a"], ["b"], body=body)],
                     ["i", "c", "a"], ["c", "b"])
    return model([node("Loop", ["n", "", "x"], ["y"], body=body)],
                 [number("n", 100)])


def function(name, calls):
    nodes = [node(f, ["a" if i == 0 else f"t{i}"],
                  ["b" if i == len(calls) - 1 else f"t{i + 1}"],
                  domain="own" if f != "Relu" else "")
             for i, f in enumerate(calls)]
    return helper.make_function(
        "own", name, ["a"], ["b"], nodes,
        [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])


def call(functions):
    return model([node(functions[0].name, ["x"], ["y"], domain="own")],
                 functions=functions)


def branch(size):
    """A branch that is never taken, of many nodes."""
    chain = [node("Relu", [f"q{i}"], [f"q{i + 1}"]) for i in range(size)]
    chain[0].input[0] = "a"
    return node("If", ["no"], ["b"],
                then_branch=inner(chain, [], [f"q{size}"]),
                else_branch=inner([node("Relu", ["a"], ["e"])], [], ["e"]))


def einsum(equation, operands=1):
    return model([node("Einsum", ["x"] * operands, ["y"],
                       equation=equation)])


BYTES = helper.make_tensor("t", TensorProto.INT8, [HUGE], [1] * HUGE)

CASES = {
    "a loop of 2^62 rounds": loop([RELU], BIG),
    "a loop of 2^62 rounds of nothing": loop([], BIG, result="a"),
    "a state that doubles": loop([node("Concat", ["a", "a"], ["b"], axis=0)]),
    "a sequence that grows": loop(
        [node("SequenceInsert", ["a", "x"], ["b"])], start="e",
        more=[node("SequenceEmpty", [], ["e"])]),
    "constants in a loop": loop(
        [node("Constant", [], ["k"], value=BYTES), RELU]),
    "weights in a loop": loop([RELU], known=[BYTES]),
    "attributes in a loop": loop(
        [node("Constant", [], ["k"], value_floats=[1.0] * HUGE), RELU]),
    "names in a loop": loop([node("Relu", ["a"], ["b"], "n" * HUGE)]),
    "a large branch in a loop": loop(
        [branch(20000)], known=[number("no", False)]),
    "loops in loops": nested(8),
    "graphs 20 deep": nested(20),
    "a function that calls itself": call([function("f", ["f"])]),
    "functions in a circle": call([function("f", ["g", "Relu"]),
                                   function("g", ["f"])]),
    "functions that double": call(
        [function(f"f{i}", [f"f{i + 1}"] * 2) for i in range(40)]
        + [function("f40", ["Relu"])]),
    "an equation of 60,000 letters": einsum("a" * 60000),
    "an equation of 2,000 operands": einsum(",".join(["ij"] * 2000), 2000),
    "an equation without operands": einsum(",,,", 4),
    "an equation with two arrows": einsum("ij->i->j"),
    "a scan of 2^40 rounds": model(
        [node("Scan", ["x"], ["y"], num_scan_inputs=1,
              body=inner([], ["a"], ["a"]))], shape=(1 << 40, 0)),
    "a scan of fewer inputs than it says": model(
        [node("Scan", ["x"], ["y"], num_scan_inputs=9,
              body=inner([], ["a"], ["a"]))]),
    "a recurrent network of 100,000 steps": model(
        [node("GRU", ["x", "w", "r"], ["y"], hidden_size=1)],
        [number("w", np.zeros((1, 3, 1), np.float32)),
         number("r", np.zeros((1, 3, 1), np.float32))], shape=(100000, 1, 1)),
    "an activation that there is not": model(
        [node("RNN", ["x", "w", "r"], ["y"], hidden_size=1,
              activations=["Twist"])],
        [number("w", np.zeros((1, 1, 1), np.float32)),
         number("r", np.zeros((1, 1, 1), np.float32))], shape=(2, 1, 1)),
}


def main():
    judge = Judge()
    for name, data in CASES.items():
        path = judge.write("case.onnx", data)
        judge.run(name, [TDLC, "plan", path, "-k", "2", "-o",
                         judge.out + "/p"])
    judge.finish()


if __name__ == "__main__":
    main()
