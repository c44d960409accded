# Tests: compiler/onnx
"""Broken and hostile ONNX models."""
import os
import random

from harness import Judge, TDLC, sample
from wire import (INT64, attribute_int, attribute_ints, block, blocks, floats,
                  graph, int64s, model, nest, node, number, tensor, value,
                  varint)

DEEP = 100_000
BIG = 1 << 62


def relu(dims=(2, 3), extra=b"", **kwargs):
    """A sound model; the arguments make it unsound."""
    return model(graph([node("Relu", ["x"], ["y"])], [], [value("x", dims)],
                       [value("y", dims)], extra), **kwargs)


def one(op, inputs, attributes=(), initializers=(), shapes=None, **kwargs):
    """A model of one node, its inputs fed but for the initializers."""
    known = [t for t, _ in initializers]
    fed = [value(x, (shapes or {}).get(x, (2, 4, 8, 8))) for x in inputs
           if x not in known]
    return model(graph([node(op, inputs, ["y"], attributes)],
                       [t for _, t in initializers], fed,
                       [value("y", ())]), **kwargs)


def with_constant(t, name="w"):
    return model(graph([node("Add", ["x", name], ["y"])], [t],
                       [value("x", (2,))], [value("y", (2,))]))


def conv(**ints):
    attributes = [attribute_ints(k, v) if isinstance(v, list)
                  else attribute_int(k, v) for k, v in ints.items()]
    return one("Conv", ["x", "w"], attributes, shapes={"w": (4, 4, 3, 3)})


def reshape(*to):
    return one("Reshape", ["x", "to"],
               initializers=[("to", tensor("to", [len(to)], int64s(*to),
                                           INT64))])


def external(**entries):
    return with_constant(tensor("w", [2], external=entries))


def wiring(nodes, outputs=("y",)):
    return model(graph(nodes, [], [value("x", (2,))],
                       [value(y, (2,)) for y in outputs]))


SOUND = relu()

CASES = {
    # ---- no ONNX at all
    "empty": b"",
    "text": b"this is no model\n" * 100,
    "binary": random.Random(5).randbytes(100_000),
    "zeros": bytes(100_000),
    "ones": b"\xff" * 100_000,
    "no graph": number(1, 8),
    "empty graph": model(graph()),
    # ---- the encoding
    "length beyond the file": number(1, 8) + varint(7 << 3 | 2) + varint(BIG),
    "length of 2 GB": number(1, 8) + varint(7 << 3 | 2) + varint(1 << 31),
    "length of 2^64 - 1": number(1, 8) + varint(7 << 3 | 2) + varint(-1),
    "inner length beyond": number(1, 8) + block(7, varint(1 << 3 | 2)
                                                + varint(1000)),
    "long varint": number(1, 8) + varint(7 << 3) + b"\x80" * 100,
    "long tag": b"\x80" * 100,
    "wire type 7": number(1, 8) + varint(7 << 3 | 7) + bytes(10),
    "field 0": b"\x02\x00" * 100 + SOUND,
    "wrong wire type": number(7, 3) + number(8, 5),
    "groups": number(1, 8) + varint(100 << 3 | 3) * DEEP,
    "deep graphs": nest([7] + [1, 5, 6] * DEEP, node("Relu", ["x"], ["y"])),
    "deep types": nest([7, 11, 2] + [4, 1] * DEEP, number(1, 1)),
    "deep optionals": nest([7, 11, 2] + [9, 1] * DEEP, number(1, 1)),
    "deep functions": nest([25, 7] + [5, 6, 1] * DEEP, block(4, "Relu")),
    "deep unknown fields": nest([7] + [99] * DEEP, b""),
    "4 million empty nodes": number(1, 8) + block(7, b"\x0a\x00" * 4_000_000),
    "4 million empty tensors": number(1, 8) + block(7, b"\x2a\x00" * 4_000_000),
    "4 million empty inputs": number(1, 8) + block(7, b"\x5a\x00" * 4_000_000),
    "4 million names": number(1, 8) + block(7, block(
        1, b"\x0a\x00" * 4_000_000)),
    "8 million dims": with_constant(block(1, b"\x01" * 8_000_000)
                                    + number(2, 1) + block(8, "w")),
    "4 million numbers": relu(extra=b"\x98\x06\x00" * 4_000_000),
    # ---- tensors
    "dims that overflow": with_constant(tensor("w", [BIG, BIG], bytes(8))),
    "dims that wrap to 2": with_constant(
        tensor("w", [1 << 32, 1 << 32, 2], bytes(8))),
    "bytes that overflow": with_constant(tensor("w", [BIG], bytes(8))),
    "negative dims": with_constant(tensor("w", [-1], bytes(8))),
    "two negative dims": with_constant(tensor("w", [-1, -2], bytes(8))),
    "data too short": with_constant(tensor("w", [2], bytes(7))),
    "data too long": with_constant(tensor("w", [2], bytes(9))),
    "1000 dims": with_constant(tensor("w", [1] * 1000, bytes(4))),
    "type 0": with_constant(tensor("w", [2], bytes(8), kind=0)),
    "type 99": with_constant(tensor("w", [2], bytes(8), kind=99)),
    "strings": with_constant(tensor("w", [2], bytes(8), kind=8)),
    "tensor without a name": with_constant(tensor("", [2], bytes(8))),
    "input dims that overflow": relu((BIG, BIG)),
    "input bytes that overflow": relu((BIG,)),
    "negative input": relu((-2, 3)),
    "1000 input dims": relu((1,) * 1000),
    "a size without a value": relu(("batch", 3)),
    # ---- external data
    "data in ../../etc/passwd": external(location="../../etc/passwd"),
    "data in a/../../etc/passwd": external(location="a/../../etc/passwd"),
    "data in /etc/passwd": external(location="/etc/passwd"),
    "data behind a link": external(location="link"),
    "data behind a linked folder": external(location="folder/passwd"),
    "data in ..": external(location=".."),
    "data in the folder": external(location="."),
    "data in a device": external(location="/dev/zero"),
    "data in no file": external(location="none"),
    "data nowhere": external(),
    "data in an empty name": external(location=""),
    "data at -1": external(location="data", offset="-1"),
    "data at 2^63": external(location="data", offset=str(1 << 63)),
    "data at x": external(location="data", offset="x"),
    "data behind the end": external(location="data", offset="1000"),
    "data across the end": external(location="data", offset="60"),
    "data of the wrong length": external(location="data", length="4"),
    "data of a huge length": external(location="data", length=str(BIG)),
    "huge external tensor": with_constant(
        tensor("w", [1 << 40], external={"location": "data"})),
    # ---- the graph
    "cycle": wiring([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]),
                     node("Relu", ["a"], ["y"])]),
    "cycle of one": wiring([node("Relu", ["y"], ["y"])]),
    "no such input": wiring([node("Relu", ["z"], ["y"])]),
    "no such output": wiring([node("Relu", ["x"], ["z"])]),
    "a name twice": wiring([node("Relu", ["x"], ["y"]),
                            node("Neg", ["x"], ["y"])]),
    "a node without outputs": wiring([node("Relu", ["x"], [])], ["x"]),
    "a node without inputs": wiring([node("Relu", [], ["y"])]),
    "too many inputs": wiring([node("Relu", ["x"] * 100_000, ["y"])]),
    "too many outputs": wiring([node("Relu", ["x"], ["y", "z", "w"])]),
    "empty op": wiring([node("", ["x"], ["y"])]),
    "unknown op": wiring([node("Frobnicate", ["x"], ["y"])]),
    "unknown domain": wiring([node("Relu", ["x"], ["y"], domain="x.y")]),
    "long name": wiring([node("x" * 1_000_000, ["x"], ["y"])]),
    "invalid utf-8": wiring([node(b"\xff\xfe\xc0", ["x"], ["y"])]),
    "escapes": wiring([node("\x1b[31mRelu\r\n", ["x"], ["y"])]),
    "no opset": number(1, 8) + block(7, graph()),
    "opset 0": relu(opset=0),
    "opset 2^63 - 1": relu(opset=(1 << 63) - 1),
    "IR 2": relu(ir=2),
    "IR 2^63 - 1": relu(ir=(1 << 63) - 1),
    # ---- attributes
    "stride 0": conv(strides=[0, 0]),
    "stride -1": conv(strides=[-1, -1]),
    "one stride": conv(strides=[1]),
    "9999 strides": conv(strides=[1] * 9999),
    "group 0": conv(group=0),
    "group 3": conv(group=3),
    "group -1": conv(group=-1),
    "kernel of another shape": conv(kernel_shape=[5, 5]),
    "pads that overflow": conv(pads=[BIG, BIG, BIG, BIG]),
    "negative pads": conv(pads=[-100, 0, 0, 0]),
    "dilations that overflow": conv(dilations=[BIG, BIG]),
    "an attribute of a wrong type": conv(strides=3),
    "an unknown attribute": conv(frobs=3),
    "axis 4": one("Softmax", ["x"], [attribute_int("axis", 4)]),
    "axis -5": one("Softmax", ["x"], [attribute_int("axis", -5)]),
    "axis -2^63": one("Softmax", ["x"], [attribute_int("axis", -1 << 63)]),
    "perm of equals": one("Transpose", ["x"],
                          [attribute_ints("perm", [0, 0, 0, 0])]),
    "perm too short": one("Transpose", ["x"], [attribute_ints("perm", [0])]),
    "perm outside": one("Transpose", ["x"],
                        [attribute_ints("perm", [0, 1, 2, 9])]),
    "reshape to another size": reshape(7),
    "reshape to -2": reshape(-2, 256),
    "reshape to two -1": reshape(-1, -1),
    "reshape to overflow": reshape(BIG, BIG),
    "reshape without a shape": one("Reshape", ["x"]),
    "reshape by a fed shape": one("Reshape", ["x", "to"],
                                  shapes={"to": (2,)}),
    "add of shapes that disagree": one("Add", ["x", "w"],
                                       shapes={"w": (3,)}),
    "product of shapes that disagree": one("MatMul", ["x", "w"],
                                           shapes={"w": (3, 5)}),
    "concat of ranks": one("Concat", ["x", "w"], [attribute_int("axis", 1)],
                           shapes={"w": (3,)}),
    "pool larger than the image": one(
        "MaxPool", ["x"], [attribute_ints("kernel_shape", [100, 100])]),
    "pool of 0": one("MaxPool", ["x"], [attribute_ints("kernel_shape",
                                                       [0, 0])]),
    "unsqueeze far": one("Unsqueeze", ["x"], [attribute_ints("axes", [99])],
                         opset=11),
    "constant of overflow": model(graph(
        [node("ConstantOfShape", ["s"], ["c"]), node("Relu", ["c"], ["y"])],
        [tensor("s", [3], int64s(1 << 31, 1 << 31, 1 << 31), INT64)], [],
        [value("y", ())])),
    "constant of -1": model(graph(
        [node("ConstantOfShape", ["s"], ["c"]), node("Relu", ["c"], ["y"])],
        [tensor("s", [1], int64s(-1), INT64)], [], [value("y", ())])),
}


def prepare(judge):
    """The files that the external tensors are, and are not, in."""
    secret = judge.write("secret/passwd", floats(1, 2))
    judge.write("data", bytes(64))
    os.makedirs(judge.folder + "/models")
    judge.write("models/data", bytes(64))
    os.symlink("../secret/passwd", judge.folder + "/models/link")
    os.symlink("../secret", judge.folder + "/models/folder")


def mutated(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def main():
    judge = Judge()
    prepare(judge)
    plan = [TDLC, "plan", "-k", "2", "-o", judge.out + "/p"]
    path = judge.write("models/sound.onnx", SOUND)
    judge.run("sound", [TDLC, "plan", path, "-k", "2", "-o",
                        judge.folder + "/p"], status=(0,))
    for name, data in sample(list(CASES.items())):
        path = judge.write("models/case.onnx", data)
        judge.run(name, plan + [path])
        judge.run(name + " (show)", [TDLC, "show", path])
        judge.run(name + " (coverage)", [TDLC, "coverage", path],
                  status=(0, 1), errors=None)
    for n in sample(range(1, len(SOUND))):
        path = judge.write("models/case.onnx", SOUND[:n])
        judge.run(f"the first {n} bytes", plan + [path])
    rng = random.Random(11)
    sound = conv(pads=[1, 1, 1, 1], strides=[2, 2], group=1)
    for i, data in sample([(i, mutated(rng, sound)) for i in range(300)]):
        path = judge.write("models/case.onnx", data)
        judge.run(f"mutation {i}", [TDLC, "plan", path, "-k", "2", "-o",
                                    judge.folder + "/p"],
                  status=(0, 1), errors=None)
    judge.finish()


if __name__ == "__main__":
    main()
