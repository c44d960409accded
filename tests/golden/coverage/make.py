"""Makes the models of these tests."""
import os

import onnx
from onnx import parser

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, source):
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "my" : 1]>\n' + source)
    onnx.save(model, os.path.join(HERE, name))


# The result of Foo has a declared shape, so that Relu is looked into; that of
# Bar has none, so that Exp is not.  Det is a function of all of a matrix.
save("mixed.onnx", """
mixed (float[64,128] x, float[128,64] w) => (float[64,64] y, float[n,m] z)
    <float[64,64] f>
{
    a = MatMul(x, w)
    d = Det(a)
    f = my.Foo(a)
    r = Relu(f)
    b = my.Bar(r)
    z = Exp(b)
    y = Mul(r, d)
}
""")
save("whole.onnx", """
whole (float[64,128] x, float[128,64] w) => (float[64,64] y)
{
    a = MatMul(x, w)
    d = Det(a)
    y = Mul(a, d)
}
""")
