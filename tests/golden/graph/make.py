"""Makes the models of these tests: each has one fault."""
import os

from onnx import TensorProto, helper, parser

HERE = os.path.dirname(os.path.abspath(__file__))
RELU = "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"
ADD = "g (float[2,3] x) => (float[2,3] y) { y = Add(x, w) }"


def text(source):
    return parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\n' + source)


def with_weight(dims, data, kind=TensorProto.FLOAT):
    model = text(ADD)
    w = model.graph.initializer.add()
    w.name, w.data_type, w.raw_data = "w", kind, data
    w.dims.extend(dims)
    return model


def external(location):
    model = with_weight([2, 3], b"")
    w = model.graph.initializer[0]
    w.ClearField("raw_data")
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value=location)
    return model


def old():
    model = text(RELU)
    model.ir_version = 2
    return model


def graph(nodes, inputs, outputs):
    empty = helper.make_empty_tensor_value_info
    return helper.make_graph(nodes, "inner", [empty(n) for n in inputs],
                             [empty(n) for n in outputs])


def with_nodes(nodes, functions=()):
    model = text("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }")
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.functions.extend(functions)
    for f in functions:
        model.opset_import.append(helper.make_opsetid(f.domain, 1))
    return model


def loop(rounds):
    node = helper.make_node
    return with_nodes([
        node("Constant", [], ["n"], value_int=rounds),
        node("Loop", ["n", "", "x"], ["y"], "loop", body=graph(
            [node("Add", ["a", "x"], ["b"], "add")],
            ["i", "c", "a"], ["c", "b"]))])


def branch():
    node = helper.make_node
    return with_nodes([
        node("ReduceMax", ["x"], ["m"], keepdims=0),
        node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
        node("If", ["c"], ["y"], "branch",
             then_branch=graph([node("Relu", ["x"], ["z"])], [], ["z"]),
             else_branch=graph([node("Neg", ["x"], ["z"])], [], ["z"]))])


def function():
    node = helper.make_node
    ops = [helper.make_opsetid("own", 1)]
    return with_nodes(
        [node("first", ["x"], ["y"], "call", domain="own")],
        [helper.make_function(
            "own", name, ["a"], ["b"],
            [node(other, ["a"], ["b"], "inner", domain="own")], ops)
         for name, other in (("first", "second"), ("second", "first"))])


def models():
    yield "axis", text("g (float[3,4] x) => (float[6,4] y) "
                       "{ y = Concat <axis = -9> (x, x) }")
    yield "branch", branch()
    yield "function", function()
    yield "loop", loop(3)
    yield "loop_long", loop(2 ** 62)
    yield "sequence", with_nodes(
        [helper.make_node("SequenceConstruct", ["x", "x"], ["y"], "make")])
    yield "large", text("g (float[2147483648,1] x) => "
                        "(float[2147483648,2147483648] y) "
                        "{ t = Transpose(x) y = MatMul(x, t) }")
    yield "cycle", text("g (float[2] x) => (float[2] y) "
                        "{ a = Add(x, b) b = Neg(a) y = Relu(b) }")
    yield "data", with_weight([2, 3], bytes(20))
    yield "declared", text("g (float[2,3] x) => (float[3,2] y) "
                           "{ y = Relu(x) }")
    yield "declared_type", text("g (float[2,3] x) => (int64[2,3] y) "
                                "{ y = Relu(x) }")
    yield "external", external("../secret")
    yield "gather", text(
        "g (float[2,3] x) => (int64 y) { s = Shape(x) "
        "i = Constant<value_int = 2>() y = Gather(s, i) }")
    yield "missing", text("g (float[2] x) => (float[2] y) "
                          "{ a = Frob(x) b = Frob(a) y = Relu(b) }")
    yield "name", text("g (float[2] x) => (float[2] y) { y = Add(x, z) }")
    yield "node", text("g (float[2] x) => (float[2] y) "
                       "{ y = Relu<slope = 0.1>(x) }")
    yield "not_known", text("g (float[2,3] x, int64[1] s) => (float[6] y) "
                            "{ y = Reshape(x, s) }")
    yield "relu", text(RELU)
    yield "shape", with_weight([-2, 3], bytes(24))
    yield "symbolic", text("g (float[batch,3,width] x) => "
                           "(float[batch,3,width] y) { y = Relu(x) }")
    yield "type", with_weight([2, 3], bytes(24), TensorProto.COMPLEX64)
    yield "sum", with_weight([2, 3], bytes(24))
    yield "version", old()
    yield "word", text("g (float[2,3] x) => (float[2,5] y) "
                       "{ p = Constant<value_ints = [0,1,0,1]>() "
                       "y = Pad<mode = \"mirror\">(x, p) }")


if __name__ == "__main__":
    for name, model in models():
        with open(os.path.join(HERE, name + ".onnx"), "wb") as f:
            f.write(model.SerializeToString(deterministic=True))
    with open(os.path.join(HERE, "relu.onnx"), "rb") as f:
        cut = f.read()[:60]
    with open(os.path.join(HERE, "malformed.onnx"), "wb") as f:
        f.write(cut)
