"""The cases of nodes.py: small, odd sizes, so that nothing fits by chance."""
import numpy as np
from onnx import TensorProto

from nodes_inputs import (CASES, RNG, Constant, bools, case, floats, ints,
                          places, positive)

# ---- convolutions
for opset in 9, 11, 17:
    case("Conv", floats(2, 3, 9, 8), floats(4, 3, 3, 2), opset=opset)
case("Conv", floats(2, 3, 9, 8), floats(4, 3, 3, 2), floats(4),
     pads=[1, 0, 2, 1], strides=[2, 3])
case("Conv", floats(1, 2, 11, 9), floats(3, 2, 3, 3), dilations=[2, 3],
     pads=[2, 1, 0, 3])
case("Conv", floats(2, 4, 7, 7), floats(6, 2, 3, 3), group=2,
     pads=[1, 1, 1, 1], kernel_shape=[3, 3])
case("Conv", floats(1, 5, 6, 6), floats(5, 1, 3, 3), floats(5), group=5)
for how in "SAME_UPPER", "SAME_LOWER", "VALID":
    case("Conv", floats(1, 2, 8, 9), floats(3, 2, 4, 3), auto_pad=how,
         strides=[3, 2], note=how)
case("Conv", floats(2, 3, 13), floats(4, 3, 4), floats(4), strides=[2],
     pads=[1, 2])
case("Conv", floats(2, 4, 13), floats(4, 2, 4), group=2, dilations=[2])
case("Conv", floats(1, 2, 5, 6, 7), floats(3, 2, 2, 3, 2), strides=[1, 2, 1],
     pads=[1, 0, 1, 0, 1, 0])
case("Conv", floats(1, 4, 5, 6, 7), floats(2, 2, 2, 3, 2), group=2)

# ---- pooling
case("MaxPool", floats(2, 3, 9, 8), kernel_shape=[3, 2], opset=9)
case("MaxPool", floats(2, 3, 9, 8) - 9, kernel_shape=[3, 3], strides=[2, 2],
     pads=[1, 1, 0, 2])
case("MaxPool", floats(1, 2, 11), kernel_shape=[3], strides=[2],
     dilations=[2])
case("MaxPool", floats(1, 2, 5, 6, 7), kernel_shape=[2, 3, 2],
     strides=[2, 1, 3])
for op in "MaxPool", "AveragePool":
    for how in "SAME_UPPER", "SAME_LOWER", "VALID":
        case(op, floats(1, 2, 8, 9), kernel_shape=[3, 4], strides=[2, 3],
             auto_pad=how, note=how)
    for size in 6, 7, 8, 9, 10:
        case(op, floats(1, 1, size, size), kernel_shape=[3, 2],
             strides=[2, 3], ceil_mode=1, note=f"ceil{size}", opset=12)
        case(op, floats(1, 1, size, size), kernel_shape=[3, 3],
             strides=[2, 3], pads=[1, 0, 1, 1], ceil_mode=1,
             note=f"ceil-pads{size}", opset=12)
for size in 6, 7, 8, 9:
    case("AveragePool", floats(1, 1, size, size), kernel_shape=[3, 3],
         strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1,
         note=f"ceil-count{size}", opset=19)
case("AveragePool", floats(2, 3, 7, 8), kernel_shape=[3, 2], opset=9)
case("AveragePool", floats(2, 3, 7, 8), kernel_shape=[3, 2],
     pads=[1, 0, 2, 1], strides=[2, 1])
case("AveragePool", floats(2, 3, 7, 8), kernel_shape=[3, 2],
     pads=[1, 0, 2, 1], count_include_pad=1)
case("AveragePool", floats(2, 3, 9), kernel_shape=[3], pads=[1, 2])
case("AveragePool", floats(1, 2, 5, 6, 7), kernel_shape=[2, 3, 2],
     pads=[1, 0, 1, 0, 1, 1])
case("AveragePool", floats(1, 2, 9, 9), kernel_shape=[2, 3],
     pads=[1, 1, 1, 1], dilations=[2, 2], opset=19)
for shape in (2, 3, 7), (2, 3, 5, 4), (1, 2, 3, 4, 5):
    case("GlobalAveragePool", floats(*shape))
    case("GlobalMaxPool", floats(*shape))

# ---- normalisation
stats = floats(3), floats(3), floats(3), positive(3)
for opset, more in (7, {}), (9, {"momentum": 0.8}), (15, {"epsilon": 0.01}):
    case("BatchNormalization", floats(2, 3, 4, 5), *stats, opset=opset, **more)
case("BatchNormalization", floats(2, 3), *map(Constant, stats))
for of_x, of_scale, of_mean in ("f8", "f4", "f4"), ("f2", "f4", "f4"), \
        ("f4", "f2", "f8"):
    for more in {}, {"training_mode": 1}:
        case("BatchNormalization", floats(2, 3, 4).astype(of_x),
             *(x.astype(of_scale) for x in stats[:2]),
             *(x.astype(of_mean) for x in stats[2:]), opset=15,
             tolerance=1e-6 if of_x == "f8" else 2e-3, **more)
case("LRN", floats(2, 7, 3, 4), size=5, alpha=0.1, beta=0.6, bias=1.5)
case("LRN", floats(2, 7, 3, 1), size=3, alpha=0.3)
case("InstanceNormalization", floats(2, 3, 4, 5), floats(3), floats(3))
case("LayerNormalization", floats(2, 3, 5), floats(5), floats(5))
case("LayerNormalization", floats(2, 3, 5), floats(3, 5), axis=1,
     epsilon=0.01)
for op in "Softmax", "LogSoftmax":
    case(op, floats(2, 3, 4), opset=9)
    case(op, floats(2, 3, 4), opset=11, axis=2)
    case(op, floats(2, 3, 4), opset=11, axis=-2)
    case(op, floats(2, 3, 4) * 30, opset=13)
    case(op, floats(2, 3, 4), opset=13, axis=1)

# ---- contractions
case("Gemm", floats(3, 4), floats(4, 5))
case("Gemm", floats(4, 3), floats(5, 4), floats(5), transA=1, transB=1)
case("Gemm", floats(4, 3), floats(4, 5), floats(3, 1), transA=1, alpha=0.5,
     beta=2.0)
case("Gemm", floats(3, 4), floats(5, 4), transB=1, alpha=0.25, opset=11)
case("Gemm", floats(3, 4), floats(5, 4), floats(1), transB=1, opset=9)
case("MatMul", floats(3, 4), floats(4, 5))
case("MatMul", floats(2, 3, 4), floats(4, 5))
case("MatMul", floats(3, 4), floats(2, 4, 5))
case("MatMul", floats(2, 1, 3, 4), floats(6, 4, 5))
case("MatMul", floats(4), floats(4, 5))
case("MatMul", floats(4), floats(2, 4, 5))
case("MatMul", floats(2, 3, 4), floats(4))
case("MatMul", floats(4), floats(4))

# ---- element by element
for op in ("Relu", "Neg", "Softsign", "Exp", "Tanh", "Sin", "Cos", "Atan",
           "Sigmoid", "Softplus", "Abs", "Sign", "Floor", "Ceil", "Elu",
           "Selu", "LeakyRelu", "HardSigmoid", "Erf", "Round", "Sinh", "Cosh",
           "Asinh", "ThresholdedRelu", "Celu", "HardSwish", "Tan", "Shrink",
           "Identity"):
    case(op, floats(3, 4) * 2)
for op in "Log", "Sqrt", "Reciprocal":
    case(op, positive(3, 4))
for op in "Asin", "Acos", "Atanh":
    case(op, RNG.uniform(-0.9, 0.9, (3, 4)).astype(np.float32))
case("Acosh", positive(3, 4) + 1)
case("Mish", floats(3, 4), opset=18)
case("Elu", floats(3, 4), alpha=0.3)
case("Celu", floats(3, 4), alpha=2.0)
case("LeakyRelu", floats(3, 4), alpha=0.3, opset=9)
case("HardSigmoid", floats(3, 4) * 3, alpha=0.3, beta=0.4)
case("Shrink", floats(3, 4) * 2, lambd=0.7, bias=0.2)
case("Gelu", floats(3, 4), opset=20)
case("Gelu", floats(3, 4), opset=20, approximate="tanh")
case("PRelu", floats(2, 3, 4), floats(3, 1))
case("IsNaN", np.array([1, np.nan, np.inf], np.float32))
case("IsInf", np.array([1, np.nan, np.inf, -np.inf], np.float32))
case("Not", bools(3, 4))
case("Clip", floats(3, 4), opset=9, min=-0.5, max=0.5)
case("Clip", floats(3, 4), opset=6)
case("Clip", floats(3, 4), Constant(-0.5, np.float32),
     Constant(0.5, np.float32))
case("Clip", floats(3, 4), np.array(-0.5, np.float32))
case("Clip", floats(3, 4), None, Constant(0.25, np.float32))
case("Clip", ints(3, 4), np.array(-2), np.array(3))
case("Dropout", floats(3, 4), opset=9)
case("Dropout", floats(3, 4), Constant(0.3, np.float32))
for op in "Add", "Sub", "Mul", "Div":
    for opset in 7, 17:
        case(op, floats(2, 3, 4), floats(3, 1), opset=opset)
    case(op, floats(4), floats(2, 3, 1))
    case(op, ints(3, 4), ints(4, low=1))
case("Div", ints(40, dtype=np.int32), np.where(
    ints(40) < 0, -3, 4).astype(np.int32))
case("Div", ints(9, low=0, dtype=np.uint8), ints(9, low=1, dtype=np.uint8))
case("Mod", ints(40), np.where(ints(40) < 0, -3, 4))
case("Mod", ints(40), np.where(ints(40) < 0, -3, 4), fmod=1)
case("Mod", floats(9) * 9, positive(9), fmod=1)
case("Pow", positive(3, 4), floats(4))
case("Pow", floats(3, 4), Constant(2.0, np.float32))
case("Pow", floats(3, 4), Constant(3.0, np.float32))
case("Pow", positive(3, 4), Constant(0.5, np.float32))
case("Pow", positive(3, 4), ints(4), opset=13)
for op in "Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual":
    case(op, ints(3, 4, low=0, high=3), ints(4, low=0, high=3))
for op in "Less", "Greater":
    case(op, floats(3, 4), floats(4), opset=7)
for op in "And", "Or", "Xor":
    case(op, bools(3, 4), bools(4))
case("Where", bools(3, 1), floats(4), floats(3, 4))
case("BitShift", ints(9, low=0, dtype=np.uint32),
     ints(9, low=0, dtype=np.uint32), direction="LEFT")
case("BitShift", ints(9, low=0, dtype=np.uint8),
     ints(9, low=0, high=5, dtype=np.uint8), direction="RIGHT")
for op in "Sum", "Max", "Min", "Mean":
    for n in 1, 2, 3, 4, 5, 8:
        case(op, *(floats(3, 4) if i % 2 else floats(4) for i in range(n)))
case("Cast", floats(3, 4) * 3, to=TensorProto.INT32)
case("Cast", ints(3, 4), to=TensorProto.FLOAT)
case("Cast", ints(3, 4, low=-1, high=2), to=TensorProto.BOOL)
case("Cast", bools(3, 4), to=TensorProto.FLOAT)
case("Cast", floats(3, 4), to=TensorProto.DOUBLE)
case("Cast", floats(3, 4), to=TensorProto.FLOAT16, tolerance=1e-3)

# ---- moving elements
case("Reshape", floats(2, 3, 4), Constant([4, 6]))
case("Reshape", floats(2, 3, 4), Constant([0, -1]))
case("Reshape", floats(2, 3, 4), Constant([-1]))
case("Reshape", floats(2, 3, 4), Constant([3, 2, 1, 4]))
case("Reshape", floats(7, 6), Constant([2, 7, 3]))
for axis in 0, 1, 2, 3, -1, -3:
    case("Flatten", floats(2, 3, 4), axis=axis)
case("Squeeze", floats(2, 1, 3, 1), opset=9)
case("Squeeze", floats(2, 1, 3, 1), opset=11, axes=[1])
case("Squeeze", floats(2, 1, 3, 1), Constant([-1]))
case("Unsqueeze", floats(2, 3), opset=9, axes=[0, 3])
case("Unsqueeze", floats(2, 3), Constant([-1, 1]))
case("Transpose", floats(2, 3, 4))
case("Transpose", floats(2, 3, 4, 5), perm=[2, 0, 3, 1])
for n in 1, 2, 3, 4, 5, 9:
    case("Concat", *(floats(2, i + 1, 3) for i in range(n)), axis=1)
case("Concat", floats(2, 3), floats(4, 3), axis=0)
case("Concat", floats(2, 3), floats(2, 4), axis=-1)
case("Split", floats(2, 7), outputs=2, opset=9, axis=1, split=[3, 4])
case("Split", floats(6, 2), outputs=3, opset=9)
case("Split", floats(6, 2), outputs=2, opset=13)
case("Split", floats(7, 2), Constant([1, 4, 2]), outputs=3)
case("Split", floats(7, 2), outputs=3, opset=18, num_outputs=3)
case("Slice", floats(5, 6), opset=9, starts=[1, -4], ends=[9, -1])
case("Slice", floats(5, 6), Constant([1]), Constant([4]), Constant([1]))
case("Slice", floats(5, 9), Constant([0, -1]), Constant([5, -9]),
     Constant([0, 1]), Constant([2, -2]))
case("Slice", floats(7), Constant([-1]), Constant([-2 ** 63]), Constant([0]),
     Constant([-1]))
case("Slice", floats(7), Constant([2]), Constant([2 ** 63 - 1]))
for axis in 0, 1, -1:
    case("Gather", floats(4, 5, 3), ints(2, 3, low=-3, high=3), axis=axis)
case("Gather", floats(4, 5), np.array(2), axis=1)
case("Gather", floats(4, 5), ints(3, low=0, high=4, dtype=np.int32))
case("Expand", floats(3, 1), Constant([2, 1, 4]))
case("Expand", floats(3, 4), Constant([1]))
case("Tile", floats(2, 3), Constant([3, 2]))
case("Pad", floats(2, 3), opset=9, pads=[1, 0, 2, 3], value=1.5)
case("Pad", floats(2, 3), Constant([1, 0, 2, 3]))
case("Pad", floats(4, 5), Constant([1, 2, 3, 4]), mode="reflect")
case("Pad", floats(4, 5), Constant([1, 2, 3, 4]), mode="edge")
case("Pad", floats(4, 5), Constant([-1, 2, 0, -2]))
case("Pad", ints(4, 5), Constant([1, 1]), Constant(7), Constant([1]),
     opset=18)

# ---- reductions
for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
           "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
           "ReduceLogSumExp"):
    case(op, positive(2, 3, 4), opset=11)
    case(op, positive(2, 3, 4), opset=11, axes=[0, -1])
    case(op, positive(2, 3, 4), opset=11, axes=[1], keepdims=0)
    case(op, positive(2, 3, 4), Constant([1]), opset=18)
    case(op, positive(2, 3, 4), opset=18, noop_with_empty_axes=0)
for op in "ArgMax", "ArgMin":
    case(op, ints(4, 5, low=0, high=3))
    case(op, ints(4, 5, low=0, high=3), axis=-1, keepdims=0)
    case(op, ints(4, 5, low=0, high=3), axis=1, select_last_index=1)
for op in "ReduceMax", "ReduceMin":
    case(op, bools(3, 4), Constant([1]), opset=20)
for more in {}, {"exclusive": 1}, {"reverse": 1}, {"reverse": 1,
                                                   "exclusive": 1}:
    case("CumSum", floats(3, 5, 2), Constant(np.array(1)), **more)
case("Hardmax", ints(3, 4, low=0, high=3).astype(np.float32))
case("Hardmax", floats(3, 2, 4), opset=11)
case("Hardmax", floats(3, 2, 4), opset=11, axis=-1)
case("Hardmax", floats(3, 4), axis=0)

# ---- more of moving elements
for upper in 0, 1:
    case("Trilu", floats(2, 4, 5), upper=upper)
    case("Trilu", ints(4, 3), Constant(np.array(-1)), upper=upper)
    case("Trilu", bools(4, 5), Constant(np.array(2)), upper=upper)
case("GatherElements", floats(4, 5), ints(3, 5, low=-4, high=4))
case("GatherElements", floats(4, 5, 3), ints(2, 7, 3, low=0, high=5), axis=1)
case("OneHot", ints(3, 4, low=-5, high=5), Constant(np.array(5)),
     floats(2))
case("OneHot", ints(3, 4, low=0, high=5), Constant(np.array(5)), floats(2),
     axis=1)
case("DepthToSpace", floats(2, 12, 3, 5), blocksize=2)
case("DepthToSpace", floats(2, 12, 3, 5), blocksize=2, mode="CRD")
case("SpaceToDepth", floats(2, 3, 4, 6), blocksize=2)
case("IsInf", np.array([1, np.nan, np.inf, -np.inf], np.float32),
     detect_negative=0)
case("IsInf", np.array([1, np.nan, np.inf, -np.inf], np.float32),
     detect_positive=0)

# ---- sorting, matrices
case("TopK", ints(3, 7, low=0, high=4).astype(np.float32), opset=9,
     outputs=2, k=3)
for opset in 10, 11, 24:
    case("TopK", ints(3, 7, low=0, high=4).astype(np.float32), Constant([4]),
         opset=opset, outputs=2)
for dtype in np.float64, np.int64, np.int32:
    case("TopK", ints(3, 7, 2, dtype=dtype), Constant([3]), opset=11,
         outputs=2, axis=1, largest=0, note=dtype.__name__)
case("TopK", floats(6), Constant([1]), opset=11, outputs=2, sorted=0)
case("TopK", floats(1, 5), Constant([5]), opset=11, outputs=2, axis=-1)
case("Det", floats(4, 4), tolerance=1e-4)
case("Det", floats(2, 3, 3, 3), tolerance=1e-4)
case("Det", floats(2, 1, 1))

# ---- positions of the greatest
for how in "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID":
    for order in 0, 1:
        case("MaxPool", ints(2, 2, 7, 8, low=0, high=5).astype(np.float32),
             kernel_shape=[3, 2], strides=[2, 3], auto_pad=how, outputs=2,
             storage_order=order, note=f"{how}-{order}")
case("MaxPool", floats(1, 2, 9, 8), kernel_shape=[3, 3], pads=[1, 2, 2, 1],
     dilations=[2, 1], strides=[1, 2], outputs=2)
case("MaxPool", floats(1, 2, 9, 7), kernel_shape=[3, 2], pads=[1, 1, 0, 0],
     strides=[2, 2], ceil_mode=1, outputs=2)
case("MaxPool", floats(2, 3, 11) - 9, kernel_shape=[4], pads=[2, 3],
     strides=[3], outputs=2, opset=8)
case("MaxPool", floats(1, 2, 5, 6, 4), kernel_shape=[2, 3, 2],
     pads=[1, 0, 1, 0, 2, 0], strides=[2, 1, 1], outputs=2)
case("MaxPool", ints(1, 2, 6, 6, low=0, high=5, dtype=np.uint8),
     kernel_shape=[2, 2], outputs=2)
case("MaxUnpool", floats(2, 3, 3, 4), places(2, 3, 3, 4, size=6 * 8),
     kernel_shape=[2, 2], strides=[2, 2])
case("MaxUnpool", floats(1, 2, 5), places(1, 2, 5, size=12), kernel_shape=[4],
     strides=[2])

# ---- regions
rois = np.array([[0.5, 1, 6, 7.2], [2, 2.5, 3, 3], [-2, -3, 9, 10.5],
                 [5, 0, 30, 4]], np.float32)
for mode in "avg", "max":
    for ratio in 0, 1, 3:
        case("RoiAlign", floats(2, 3, 8, 7), rois, np.array([0, 1, 1, 0]),
             opset=16, mode=mode, sampling_ratio=ratio, output_height=3,
             output_width=2, note=f"{mode}{ratio}")
    case("RoiAlign", floats(2, 3, 8, 7), rois * 2, np.array([0, 1, 1, 0]),
         opset=16, mode=mode, spatial_scale=0.5, output_height=2,
         output_width=3, coordinate_transformation_mode="output_half_pixel")
case("RoiAlign", floats(2, 3, 8, 7), rois, np.array([0, 1, 1, 0]), opset=10,
     sampling_ratio=2, output_height=2, output_width=2)
case("MaxRoiPool", floats(2, 3, 9, 8),
     np.array([[0, 1, 1, 6, 7], [1, 0, 2, 3, 3], [1, 4, 4, 12, 11]],
              np.float32), pooled_shape=[2, 3])
case("MaxRoiPool", floats(1, 2, 9, 8),
     np.array([[0, 2, 3, 15, 14]], np.float32), pooled_shape=[3, 2],
     spatial_scale=0.5)

# ---- reading between elements
for mode in "bilinear", "nearest", "bicubic":
    for padding in "zeros", "border", "reflection":
        for align in 0, 1:
            case("GridSample", floats(2, 3, 5, 4),
                 RNG.uniform(-1.6, 1.6, (2, 3, 4, 2)).astype(np.float32),
                 opset=16, mode=mode, padding_mode=padding,
                 align_corners=align, note=f"{mode}-{padding}{align}")
for mode in "linear", "nearest":
    for padding in "zeros", "border", "reflection":
        case("GridSample", floats(2, 3, 3, 5, 4),
             RNG.uniform(-1.6, 1.6, (2, 2, 3, 2, 3)).astype(np.float32),
             opset=20, mode=mode, padding_mode=padding, note=f"3-{mode}")
case("GridSample", floats(2, 3, 5, 4),
     RNG.uniform(-1.2, 1.2, (2, 3, 4, 2)).astype(np.float32), opset=20)
for align in 0, 1:
    case("AffineGrid", floats(2, 2, 3), Constant([2, 3, 4, 5]), opset=20,
         align_corners=align)
    case("AffineGrid", floats(2, 3, 4), Constant([2, 1, 3, 4, 2]), opset=20,
         align_corners=align)
case("DeformConv", floats(2, 4, 6, 7), floats(3, 4, 3, 2),
     floats(2, 12, 4, 6), floats(3), opset=19)
case("DeformConv", floats(2, 4, 6, 7), floats(6, 2, 3, 3),
     floats(2, 36, 3, 4), floats(6), positive(2, 18, 3, 4), opset=19,
     group=2, offset_group=2, strides=[2, 2], pads=[1, 1, 1, 1])
case("DeformConv", floats(1, 2, 8, 7), floats(3, 2, 2, 2),
     floats(1, 8, 6, 6), floats(3), opset=22, dilations=[2, 1])
case("Col2Im", floats(2, 12, 20), Constant([5, 6]), Constant([2, 2]),
     opset=18)
case("Col2Im", floats(1, 18, 9), Constant([6, 7]), Constant([3, 2]),
     opset=18, pads=[1, 0, 0, 2], strides=[2, 3], dilations=[1, 2])
case("Col2Im", floats(2, 24, 12), Constant([3, 4, 3]),
     Constant([2, 2, 2]), opset=18)

# ---- resizing
case("Upsample", floats(1, 2, 3, 4), opset=8, scales=[1.0, 1.0, 2.0, 3.0])
case("Upsample", floats(1, 2, 3, 4), Constant([1, 1, 2, 1.5], np.float32),
     opset=9, mode="linear")
case("Resize", floats(1, 2, 3, 4), Constant([1, 1, 2, 3], np.float32),
     opset=10)
for mode in "nearest", "linear", "cubic":
    for how in ("half_pixel", "align_corners", "asymmetric",
                "pytorch_half_pixel"):
        case("Resize", floats(1, 2, 5, 6), None, None, Constant([1, 2, 7, 4]),
             opset=13, mode=mode, coordinate_transformation_mode=how,
             note=f"{mode}-{how}")
    case("Resize", floats(1, 2, 5, 6),
         Constant([0, 0, 0.1, -0.2, 1, 1, 0.8, 1.3], np.float32), None,
         Constant([1, 2, 4, 5]), opset=13, mode=mode,
         coordinate_transformation_mode="tf_crop_and_resize",
         extrapolation_value=7.0, note=mode)
case("Resize", floats(1, 2, 5, 6), None, Constant([1, 1, 2, 0.5], np.float32),
     opset=11, coordinate_transformation_mode="tf_half_pixel_for_nn")
case("Resize", floats(1, 2, 5, 6), np.array([0.1, 0, 0.9, 0.7], np.float32),
     None, Constant([4, 3]), opset=18, mode="linear", axes=[2, 3],
     coordinate_transformation_mode="tf_crop_and_resize", note="fed")
case("Resize", floats(1, 1, 6, 7), None, Constant([1, 1, 0.6, 1.7],
                                                  np.float32),
     opset=11, mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
for mode in "linear", "cubic":
    case("Resize", floats(1, 2, 9, 7), None, None, Constant([1, 2, 4, 5]),
         opset=18, mode=mode, antialias=1, exclude_outside=1, note="small")
for policy in "not_larger", "not_smaller":
    case("Resize", floats(1, 2, 5, 8), None, None, Constant([7, 6]), opset=18,
         mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)
case("Resize", floats(1, 1, 3, 5), None, None, Constant([1, 1, 7, 2]),
     opset=19, coordinate_transformation_mode="half_pixel_symmetric",
     mode="linear")

# ---- running sums, sequences, generators
case("CumSum", ints(3, 5), Constant(np.array(0)), opset=11)
case("CumProd", floats(3, 5), Constant(np.array(1)), opset=26, exclusive=1)
case("ReverseSequence", floats(4, 3, 2), np.array([2, 4, 1]), opset=10)
case("ReverseSequence", floats(3, 4, 2), np.array([2, 4, 1]), opset=10,
     batch_axis=0, time_axis=1)
for dtype in np.float32, np.float64, np.int32, np.int64, np.int16:
    case("Range", *(Constant(np.array(v, dtype)) for v in (3, -7, -3)),
         opset=11, note=dtype.__name__)
case("Range", *(Constant(np.array(v, np.float32)) for v in (1, 2, 0.3)))
case("MelWeightMatrix", *(Constant(np.array(v)) for v in (7, 32, 8000)),
     Constant(0.0, np.float32), Constant(4000.0, np.float32),
     tolerance=1e-4)
for op in "HannWindow", "HammingWindow", "BlackmanWindow":
    case(op, Constant(np.array(9)))
    case(op, Constant(np.array(8)), periodic=0)
case("EyeLike", floats(3, 4), k=1, dtype=TensorProto.INT32)

# ---- scattering
case("GatherND", floats(3, 4, 5), ints(2, 2, low=-3, high=3), opset=12)
case("GatherND", floats(2, 3, 4, 5), ints(2, 2, 1, low=-3, high=3), opset=12,
     batch_dims=1)
case("GatherND", floats(2, 3, 4, 2, 3), ints(3, 4, low=-2, high=2))
case("GatherND", floats(2, 2, 2, 2, 3), ints(3, 2, 5, low=0, high=2))
case("ScatterND", floats(4, 5), np.array([[1], [3]]), floats(2, 5), opset=11)
case("ScatterND", floats(3, 4, 5), np.array([[0, 1, -1], [2, 3, 0]]),
     floats(2))
case("ScatterND", floats(2, 2, 3, 2, 2), np.array([[0, 1, 2, 0]]),
     floats(1, 2))
for how in "add", "mul", "max", "min":
    case("ScatterND", floats(4, 5), np.array([[1], [3], [1]]), floats(3, 5),
         opset=18, reduction=how)
    case("ScatterElements", floats(4, 5), ints(3, 5, low=-4, high=4),
         floats(3, 5), opset=18, reduction=how)
case("ScatterElements", floats(4, 5), np.array([[1, 3, 0], [0, -1, 2]]),
     floats(2, 3), opset=11, axis=1)
case("Scatter", floats(4, 5), np.array([[1, 3, 0], [0, 4, 2]]),
     floats(2, 3), opset=9, axis=1)
case("TensorScatter", floats(2, 3, 6, 4), floats(2, 3, 2, 4),
     np.array([1, 4]), opset=24)
case("TensorScatter", floats(2, 3, 6, 4), floats(2, 3, 2, 4),
     np.array([1, 5]), opset=24, mode="circular")

# ---- what is left
for op in "BitwiseAnd", "BitwiseOr", "BitwiseXor":
    case(op, ints(3, 4), ints(4), opset=18)
    case(op, ints(3, 4, low=0, dtype=np.uint8), ints(4, low=0,
                                                     dtype=np.uint8),
         opset=18)
case("BitwiseNot", ints(3, 4), opset=18)
case("CastLike", floats(3, 4) * 3, ints(1, dtype=np.int32))
case("CastLike", ints(3, 4), floats(1), opset=15)
case("CenterCropPad", floats(5, 7, 3), Constant([7, 4]), opset=18,
     axes=[0, 1])
case("CenterCropPad", floats(4, 7), Constant([3, 10]), opset=18)
for opset in 9, 11, 17:
    case("ConvTranspose", floats(2, 3, 4, 5), floats(3, 2, 3, 3), floats(2),
         strides=[2, 3], pads=[1, 0, 1, 2], opset=opset)
case("ConvTranspose", floats(2, 4, 5), floats(4, 3, 4), group=2,
     dilations=[2], output_padding=[1], strides=[2])
case("ConvTranspose", floats(1, 2, 3, 4, 3), floats(2, 3, 2, 2, 3))
case("ConvTranspose", floats(1, 2, 4, 5), floats(2, 3, 3, 3), strides=[2, 2],
     auto_pad="SAME_UPPER")
case("ConvTranspose", floats(1, 2, 4, 5), floats(2, 3, 3, 3), strides=[2, 2],
     output_shape=[8, 11])
for p in 1, 2, 3:
    case("LpPool", floats(2, 3, 7, 8), kernel_shape=[3, 2], p=p,
         strides=[2, 1], pads=[1, 0, 1, 1])
    case("GlobalLpPool", floats(2, 3, 4, 5), p=p)
case("LpPool", floats(2, 3, 9), kernel_shape=[3], dilations=[2], opset=18)
case("LpPool", floats(2, 3, 9, 8), kernel_shape=[3, 2], strides=[2, 3],
     auto_pad="SAME_LOWER")
for p in 1, 2:
    case("LpNormalization", floats(3, 4, 5), axis=1, p=p)
case("MeanVarianceNormalization", floats(2, 3, 4, 5))
case("MeanVarianceNormalization", floats(2, 3, 4, 5), axes=[1, 2])
case("GroupNormalization", floats(2, 6, 3, 4), floats(6), floats(6),
     num_groups=3, opset=21)
case("GroupNormalization", floats(2, 6, 3, 4), floats(3), floats(3),
     num_groups=3, opset=18)
case("RMSNormalization", floats(2, 3, 8), floats(8), opset=23)
case("RMSNormalization", floats(2, 3, 8), floats(3, 8), axis=1, opset=23,
     epsilon=0.01)
case("Swish", floats(3, 4), opset=24, alpha=1.5)
for opset in 17, 20:
    axis = {"axis": 1} if opset == 17 else {}
    more = [] if opset == 17 else [None, Constant(np.array(1))]
    case("DFT", floats(2, 7, 1), *more, opset=opset, tolerance=1e-4, **axis)
    case("DFT", floats(2, 7, 2), *more, opset=opset, inverse=1,
         tolerance=1e-4, **axis)
    case("DFT", floats(2, 8, 1), *more, opset=opset, onesided=1,
         tolerance=1e-4, **axis)
for dims in (2, 20, 1), (2, 20):
    case("STFT", floats(*dims), Constant(np.array(4)), floats(8),
         tolerance=1e-4)
scores, classes = floats(4, 5, 3), ints(4, 3, low=0, high=5)
for how in "none", "sum", "mean":
    case("NegativeLogLikelihoodLoss", scores, classes, reduction=how)
    case("NegativeLogLikelihoodLoss", scores, classes, positive(5),
         reduction=how, ignore_index=2)
    case("SoftmaxCrossEntropyLoss", scores, classes, reduction=how,
         outputs=2, tolerance=1e-4)
    case("SoftmaxCrossEntropyLoss", scores, classes, positive(5),
         reduction=how, ignore_index=2, tolerance=1e-4)
for at in 10, 13:
    case("QuantizeLinear", floats(3, 4), np.array(0.02, np.float32),
         np.array(120, np.uint8), opset=at)
    case("DequantizeLinear", ints(3, 4, dtype=np.int8),
         np.array(0.02, np.float32), np.array(3, np.int8), opset=at)
case("QuantizeLinear", floats(3, 4), positive(4) / 50, np.zeros(4, np.int8),
     axis=1)
case("DequantizeLinear", ints(3, 4, dtype=np.int8), positive(3),
     np.zeros(3, np.int8), axis=0)
case("DequantizeLinear", ints(3, 6, dtype=np.int8), positive(3, 2),
     np.zeros((3, 2), np.int8), axis=1, block_size=3, opset=21)
case("DynamicQuantizeLinear", floats(3, 4), outputs=3, tolerance=1)
case("MatMulInteger", ints(3, 4, low=0, dtype=np.uint8),
     ints(4, 5, dtype=np.int8), np.array(4, np.uint8), np.array(2, np.int8))
case("ConvInteger", ints(1, 2, 6, 7, low=0, dtype=np.uint8),
     ints(3, 2, 3, 2, low=0, dtype=np.uint8), np.array(4, np.uint8),
     pads=[1, 0, 0, 1])
byte = np.array(3, np.uint8)
case("QLinearMatMul", ints(3, 4, low=0, dtype=np.uint8),
     np.array(0.1, np.float32), byte, ints(4, 5, low=0, dtype=np.uint8),
     np.array(0.2, np.float32), byte, np.array(0.05, np.float32), byte,
     tolerance=1)
case("QLinearConv", ints(1, 2, 6, 7, low=0, dtype=np.uint8),
     np.array(0.1, np.float32), byte,
     ints(3, 2, 3, 2, low=0, dtype=np.uint8), np.array(0.2, np.float32),
     byte, np.array(0.3, np.float32), byte, tolerance=1)
heads = [floats(2, 3, n, 8) for n in (5, 7, 7)]
case("Attention", *heads, opset=23)
case("Attention", *heads, bools(5, 7), opset=24, is_causal=1, scale=0.2)
case("RotaryEmbedding", floats(2, 3, 5, 8), floats(2, 5, 4), floats(2, 5, 4),
     opset=23)

# ---- extents of 0 and 1, other types
case("BatchNormalization", floats(2, 3, 4), floats(3, 4), floats(3, 4),
     floats(3, 4), positive(3, 4), opset=7, spatial=0)
case("TopK", floats(3, 4), Constant([0]), opset=11, outputs=2)
case("TopK", floats(0, 4), Constant([2]), opset=11, outputs=2)
case("TopK", np.array([[0.0, -0.0, np.inf, -np.inf]], np.float32),
     Constant([4]), opset=11, outputs=2)
case("Det", floats(0, 3, 3))
case("Det", np.ones((3, 3), np.float32))
case("MaxPool", np.full((1, 1, 4, 4), -np.inf, np.float32),
     kernel_shape=[3, 3], pads=[1, 1, 1, 1], outputs=2)
case("MaxPool", floats(0, 2, 4, 4), kernel_shape=[2, 2], outputs=2)
case("RoiAlign", floats(2, 3, 8, 7), np.zeros((0, 4), np.float32),
     np.zeros(0, np.int64), opset=16)
case("RoiAlign", floats(2, 3, 8, 7).astype(np.float64),
     np.array([[0, 0, 5, 4]], np.float64), np.zeros(1, np.int64), opset=16,
     output_height=2)
for align in 0, 1:
    case("GridSample", floats(1, 2, 1, 1), floats(1, 3, 3, 2), opset=16,
         padding_mode="reflection", align_corners=align, mode="bilinear")
for mode in "linear", "nearest":
    for dtype in np.uint8, np.int8, np.int32:
        case("Resize", ints(1, 1, 5, 6, low=0, high=100, dtype=dtype), None,
             Constant([1, 1, 1.5, 0.7], np.float32), opset=13, mode=mode,
             note=mode + dtype.__name__, tolerance=1)
    case("Resize", floats(1, 1, 5, 6).astype(np.float16), None,
         Constant([1, 1, 1.5, 0.7], np.float32), opset=13, mode=mode,
         tolerance=1e-2)
case("Resize", floats(1, 1, 1, 1), None, Constant([1, 1, 3, 3], np.float32),
     mode="cubic", opset=13)
for size in 1000, 1024:
    for more in {}, {"reverse": 1, "exclusive": 1}:
        case("CumSum", floats(2, size, 2), Constant(np.array(1)),
             tolerance=1e-4, **more)
case("CumSum", ints(3, 1001, dtype=np.int32), Constant(np.array(1)),
     exclusive=1)
case("CumSum", floats(3, 0), Constant(np.array(1)))
case("GatherND", floats(3, 4), np.zeros((0, 1), np.int64))
case("ScatterND", floats(3, 4), np.zeros((0, 1), np.int64), floats(0, 4))
case("ReverseSequence", floats(4, 3, 2), np.array([0, 4, 1]), opset=10)

# ---- elements that are picked by what is known
for x in ([[1, 0, 2], [0, 3, 0]], [[0.0, 0.5]], [True, False, True], [0, 0],
          3.5):
    case("NonZero", Constant(np.array(x)))
case("NonZero", Constant(np.zeros((2, 0), np.int32)))
for axis in 0, -1:
    case("Compress", floats(4, 5), Constant(np.array([True, False, True])),
         axis=axis)
case("Compress", floats(2, 3), Constant(np.array([0, 1, 1, 0, 0, 1], bool)))
