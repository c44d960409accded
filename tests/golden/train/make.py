"""Makes merged.onnx, and folded.onnx."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(1)
weights = {
    "w": rng.standard_normal((4, 4)),
    "tied": rng.standard_normal((4, 4)),
    "ones": np.ones(4),
    "zeros": np.zeros((2, 4)),
    "scale": np.array([0.5]),
    "bias": np.zeros(4),
}
steps = [("MatMul", "w"), ("MatMul", "tied"), ("Mul", "ones"),
         ("MatMul", "tied"), ("Mul", "ones"), ("Add", "zeros"),
         ("Mul", "scale"), ("Add", "bias")]
names = ["x", *"abcdefg", "y"]
nodes = [helper.make_node(op, [names[i], weight], [names[i + 1]])
         for i, (op, weight) in enumerate(steps)]
x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 4])
        for n in "xy")
graph = helper.make_graph(
    nodes, "merged", [x], [y],
    [numpy_helper.from_array(v.astype(np.float32), n)
     for n, v in weights.items()])
onnx.save(helper.make_model(graph, ir_version=8,
                            opset_imports=[helper.make_opsetid("", 17)]),
          os.path.join(os.path.dirname(__file__), "merged.onnx"))

# A linear layer of which the exporter has transposed the weight.
t = helper.make_tensor_value_info("t", TensorProto.FLOAT, [4, 4])
for key, value in [("pkg.torch.onnx.name", "t"),
                   ("pkg.onnxscript.optimizer.folded_from", "['w']")]:
    note = t.metadata_props.add()
    note.key, note.value = key, value
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "t"], ["a"]),
     helper.make_node("Add", ["a", "bias"], ["y"])], "folded", [x], [y],
    [numpy_helper.from_array(weights[n].astype(np.float32), to)
     for n, to in (("w", "t"), ("bias", "bias"))], value_info=[t])
onnx.save(helper.make_model(graph, ir_version=10,
                            opset_imports=[helper.make_opsetid("", 17)]),
          os.path.join(os.path.dirname(__file__), "folded.onnx"))
