"""ONNX's own node tests as models that tdlc can be asked about.

A test feeds everything; an exporter writes axes, sizes and the like as
constants.  model_of() turns these inputs into initializers, and makes sequences
of tensors in the model, and tensors of the sequences that it gives.
"""
import re
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests

# Inputs, by their position, that exporters write as constants.
CONSTANT_INPUTS = {
    "AffineGrid": [1], "BlackmanWindow": [0], "CenterCropPad": [1],
    "Col2Im": [1, 2], "Compress": [1], "ConstantOfShape": [0],
    "CumProd": [1], "CumSum": [1], "DFT": [1, 2], "Dropout": [1, 2], "Expand": [1], "HammingWindow": [0],
    "HannWindow": [0], "If": [0], "Loop": [0, 1], "MaxUnpool": [2],
    "MelWeightMatrix": [0, 1, 2, 3, 4], "NonZero": [0], "OneHot": [1],
    "Pad": [1, 2, 3], "Range": [0, 1, 2], "ReduceL1": [1], "ReduceL2": [1],
    "ReduceLogSum": [1], "ReduceLogSumExp": [1], "ReduceMax": [1],
    "ReduceMean": [1], "ReduceMin": [1], "ReduceProd": [1], "ReduceSum": [1],
    "ReduceSumSquare": [1], "Reshape": [1], "Resize": [1, 2, 3],
    "STFT": [1, 3], "SequenceAt": [1], "SequenceErase": [1],
    "SequenceInsert": [2], "Slice": [1, 2, 3, 4], "Split": [1],
    "SplitToSequence": [1], "Squeeze": [1],
    "Tile": [1], "TopK": [1], "Trilu": [1], "Unsqueeze": [1], "Upsample": [1],
}


def to_array(value):
    """Some tests hold protobuf messages where most hold arrays."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value


class NodeTest:
    """One test: its model, what is fed and expected, and its operator."""

    def __init__(self, test):
        self.name, self.model = test.name, test.model
        self.rtol, self.atol = test.rtol, test.atol
        self.inputs, self.outputs = (list(map(to_array, values))
                                     for values in test.data_sets[0])
        self.base = re.sub(r"_expanded.*", "", test.name)
        self.constants = set()

    def constant_positions(self):
        """The inputs of the graph that exporters would not feed."""
        names = [i.name for i in self.model.graph.input]
        at = set()
        for node in self.model.graph.node:
            for i in CONSTANT_INPUTS.get(node.op_type, ()):
                if i < len(node.input) and node.input[i] in names:
                    at.add(names.index(node.input[i]))
        return at


def is_array(value):
    return isinstance(value, (np.ndarray, np.generic)) and \
        np.asarray(value).dtype.kind not in "OSU"


def load():
    """All node tests; `op` is the operator that each is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = [NodeTest(t) for t in load_model_tests(kind="node")]
    bases = {t.name: t for t in tests if t.name == t.base}
    for t in tests:
        base = bases.get(t.base, t)
        t.op = base.model.graph.node[-1].op_type
        t.domain = base.model.graph.node[-1].domain
        t.constants = t.constant_positions() | base.constant_positions()
    return tests


def fixed(info):
    """Whether a graph's input has a shape of numbers."""
    kind = info.type.tensor_type
    return kind.HasField("shape") and \
        all(d.HasField("dim_value") for d in kind.shape.dim)


def model_of(test):
    """The model with its constants, what to feed, and options for tdlc."""
    model = onnx.ModelProto()
    model.CopyFrom(test.model)
    fed, options = {}, []
    inputs = list(model.graph.input)
    del model.graph.input[:]
    made = []
    for i, info in enumerate(inputs):
        value = test.inputs[i] if i < len(test.inputs) else None
        if is_sequence(value):
            made.append(construct(info, value, model.graph, fed))
            continue
        if info.type.HasField("optional_type") and is_array(value):
            info, node = optional(info, value)
            made.append(node)
        if i in test.constants and is_array(value):
            model.graph.initializer.append(
                numpy_helper.from_array(np.asarray(value), info.name))
            continue
        model.graph.input.append(info)
        if not is_array(value):
            continue
        fed[info.name] = np.asarray(value)
        if not fixed(info):
            shape = "x".join(map(str, fed[info.name].shape))
            options.append(f"--shape={info.name}={shape}")
    nodes = made + list(model.graph.node)
    outputs = list(model.graph.output)
    del model.graph.node[:], model.graph.output[:]
    model.graph.node.extend(nodes)
    for info, value in zip(outputs, test.outputs):
        if is_sequence(value):
            take_apart(info, value, model.graph)
        else:
            model.graph.output.append(info)
    return model, fed, options


# ---- sequences --------------------------------------------------------------


def is_sequence(value):
    return isinstance(value, list) and all(map(is_array, value))


def construct(info, value, graph, fed):
    """The node that makes a sequence of tensors that are fed."""
    names = [f"{info.name}.{i}" for i in range(len(value))]
    for name, x in zip(names, value):
        x = np.asarray(x)
        fed[name] = x
        graph.input.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape))
    return helper.make_node(
        "SequenceConstruct" if names else "SequenceEmpty", names, [info.name])


def optional(info, value):
    """A tensor in the place of an optional one, and the node behind it."""
    kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    name = info.name + ".value"
    return helper.make_tensor_value_info(name, kind, value.shape), \
        helper.make_node("Optional", [name], [info.name])


def take_apart(info, value, graph):
    """Gives the length of a sequence and its elements as outputs."""
    length = info.name + ".length"
    graph.node.append(helper.make_node("SequenceLength", [info.name],
                                       [length]))
    graph.output.append(helper.make_tensor_value_info(
        length, onnx.TensorProto.INT64, []))
    for i in range(len(value)):
        at, name = f"{info.name}.at{i}", f"{info.name}.{i}"
        graph.initializer.append(numpy_helper.from_array(np.array(i), at))
        graph.node.append(helper.make_node("SequenceAt", [info.name, at],
                                           [name]))
        graph.output.append(helper.make_empty_tensor_value_info(name))


def expected(test):
    """The outputs by name: of tensors, of sequences by their elements."""
    outputs = {}
    for info, value in zip(test.model.graph.output, test.outputs):
        if is_array(value):
            outputs[info.name] = np.asarray(value)
        elif is_sequence(value):
            outputs[info.name + ".length"] = np.array(len(value))
            for i, x in enumerate(value):
                outputs[f"{info.name}.{i}"] = np.asarray(x)
    return outputs
