"""Makes the models of these tests."""
import os

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper, parser

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE = 8_400_000  # f16 elements: more bytes than a plan keeps


def text(source):
    return parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\n' + source)


def save(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data)


def matmul():
    """One multiplication by weights that are in the file."""
    model = text("g (float[64,64] x) => (float[64,64] y) "
                 "{ y = MatMul(x, w) }")
    w = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)
    model.graph.initializer.append(numpy_helper.from_array(w, "w"))
    return model


def halves():
    """Weights of 16 bits that the file stores in 32 bits each, so that no plan
    can refer to them: the file before and after LARGE / 2 times "y\\n"."""
    model = text("g (float16[%d] x) => (float16[%d] y) { y = Add(x, w) }"
                 % (LARGE, LARGE))
    w = model.graph.initializer.add()
    w.name, w.data_type = "w", TensorProto.FLOAT16
    w.dims.append(LARGE)
    w.int32_data.extend(b"y\n" * (LARGE // 2))
    return model.SerializeToString().split(b"y\n" * (LARGE // 2))


save("matmul.onnx", matmul().SerializeToString())
before, behind = halves()
save("halves.before", before)
save("halves.behind", behind)
