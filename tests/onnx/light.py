"""The `light` networks of the onnx package, with random weights.

As shipped, their weights are ConstantOfShape nodes of one number, so that
they give one number as output, whatever is wrong.  Here each becomes an
initializer of seeded random numbers: weights are scaled by 1/sqrt(fan-in),
times a gain; variances and scales lie around 1, biases and means around 0.

	light.py NAME OUT.onnx [--batch N]
"""
import argparse
import os
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

NAMES = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2",
         "resnet50", "shufflenet", "squeezenet", "vgg19", "zfnet512")

# The gain of the weights, and a factor more for those of the last layer.  With
# these, measured, two images of noise give outputs that differ by 0.3 % or
# more, far from 0 and 1: so what happens to an image in the first layers is
# seen in the last.  sqrt(2) is He's, for layers followed by a Relu.
DEFAULT_GAIN = (2 ** 0.5, 1.0)
GAINS = {
    "inception_v2": (2.0, 2e-5),
    "resnet50": (0.75, 1.0),
    "shufflenet": (0.5, 1.0),
}


def shipped(name):
    """The model as the onnx package has it."""
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend", "test",
                          "data", "light")
    return onnx.load(os.path.join(folder, f"light_{name}.onnx"))


def weights(rng, shape, gain):
    fan_in = np.prod(shape[1:])
    return (gain / np.sqrt(fan_in)
            * rng.standard_normal(shape, dtype=np.float32))


def around(rng, shape, centre):
    """Positive numbers around 1, numbers of both signs around 0."""
    if centre:
        return rng.uniform(0.5, 1.5, shape)
    return 0.01 * rng.standard_normal(shape)


def elements(rng, shape, op, port, gain):
    """What fits port number `port` of a node of type op."""
    if op in ("Conv", "Gemm") and port == 1:
        return weights(rng, shape, gain)
    if op == "BatchNormalization":  # scale, bias, mean, variance
        return around(rng, shape, port in (1, 4))
    return around(rng, shape, op == "Mul")


def user_of(graph, name):
    """The node, and its port, that a constant is for in the end."""
    for node in graph.node:
        for port, used in enumerate(node.input):
            if used != name:
                continue
            if node.op_type in ("Reshape", "Unsqueeze") and port == 0:
                return user_of(graph, node.output[0])
            return node.op_type, port
    return "", 0


def drop_unused(graph, names):
    """Removes initializers, and their inputs, that no node reads any more."""
    used = {i for n in graph.node for i in n.input}
    for field in graph.initializer, graph.input:
        kept = [x for x in field if x.name in used or x.name not in names]
        del field[:]
        field.extend(kept)


def randomise(model, seed, gain, last_gain):
    """Replaces the ConstantOfShape nodes by random initializers."""
    rng = np.random.default_rng(seed)
    graph = model.graph
    known = {i.name: i for i in graph.initializer}
    constants = [n for n in graph.node if n.op_type == "ConstantOfShape"]
    for node in constants:
        shape = numpy_helper.to_array(known[node.input[0]]).tolist()
        name = node.output[0]
        op, port = user_of(graph, name)
        factor = gain * (last_gain if op == "Gemm" else 1.0)
        data = np.asarray(elements(rng, shape, op, port, factor), np.float32)
        graph.initializer.append(numpy_helper.from_array(data, name))
        graph.input.append(helper.make_tensor_value_info(
            name, onnx.TensorProto.FLOAT, shape))
    kept = [n for n in graph.node if n.op_type != "ConstantOfShape"]
    del graph.node[:]
    graph.node.extend(kept)
    drop_unused(graph, {n.input[0] for n in constants})


def set_batch(model, batch):
    """Rewrites the batch, 1 as shipped, in inputs, outputs and reshapes."""
    graph = model.graph
    known = {i.name: i for i in graph.initializer}
    fed = [i for i in graph.input if i.name not in known]
    for value in [*fed, *graph.output]:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    for node in graph.node:
        if node.op_type != "Reshape":
            continue
        target = known[node.input[1]]
        sizes = numpy_helper.to_array(target).copy()
        if sizes[0] == 1:
            sizes[0] = batch
            target.CopyFrom(numpy_helper.from_array(sizes, target.name))


def make(name, batch=1):
    """The network with random weights; the same at every call."""
    model = shipped(name)
    randomise(model, zlib.crc32(name.encode()), *GAINS.get(name, DEFAULT_GAIN))
    set_batch(model, batch)
    return model


def write(name, path, batch=1):
    onnx.save(make(name, batch), path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("out")
    parser.add_argument("--batch", type=int, default=1)
    args = parser.parse_args()
    write(args.name, args.out, args.batch)


if __name__ == "__main__":
    main()
