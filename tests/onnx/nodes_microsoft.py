"""The cases of nodes.py for the operators of ONNX Runtime's own domain."""
import numpy as np

from nodes_cases import (CASES, Constant, bools, case, floats, ints, positive)


def ms(op, *inputs, **how):
    case("com.microsoft::" + op, *inputs, **{"opset": 17, **how})


def small(*shape):
    return floats(*shape) * np.float32(0.5)


def f32(value):
    return np.array(value, np.float32)


def zero(value):
    return np.array(value, np.uint8)


def u8(*shape, high=256):
    return ints(*shape, low=0, high=high, dtype=np.uint8)


# ---- activations, products
ms("Gelu", floats(3, 4))
ms("FastGelu", floats(3, 4), floats(4), tolerance=1e-4)
ms("FastGelu", floats(3, 4), tolerance=1e-4)
ms("BiasGelu", floats(2, 3, 4), floats(4))
ms("QuickGelu", floats(3, 4))
ms("QuickGelu", floats(3, 4), alpha=0.7)
for a, b in (0, 0), (0, 1), (1, 0), (1, 1):
    x = floats(2, 4, 3) if a else floats(2, 3, 4)
    y = floats(2, 5, 4) if b else floats(2, 4, 5)
    ms("FusedMatMul", x, y, transA=a, transB=b, alpha=0.5)
    ms("TransposeMatMul", x, y, transA=a, transB=b)
ms("FusedMatMul", floats(3, 2, 4), floats(2, 4, 5), transBatchA=1)
ms("FusedMatMul", floats(2, 3, 4), floats(4, 2, 5), transBatchB=1)
ms("FusedGemm", floats(3, 4), floats(5, 4), floats(5), transB=1, alpha=0.5,
   activation="Relu")
ms("FusedGemm", floats(3, 4), floats(4, 5), activation="LeakyRelu",
   activation_alpha=0.3)
ms("FusedConv", floats(2, 3, 7, 8), floats(4, 3, 3, 2), floats(4),
   activation="Relu", pads=[1, 0, 0, 1])
ms("FusedConv", floats(2, 4, 7, 8), floats(4, 2, 3, 2), floats(4),
   activation="LeakyRelu", activation_params=[0.2], group=2)
ms("FusedConv", floats(2, 3, 7, 8), floats(4, 3, 3, 2), floats(4),
   floats(2, 4, 5, 7), activation="Relu")
ms("FusedConv", floats(2, 3, 7, 8), floats(4, 3, 3, 2), activation="Clip",
   activation_params=[-0.5, 0.75], auto_pad="SAME_UPPER", strides=[2, 2])
for bits, block in (4, 16), (4, 32), (8, 16), (2, 16):
    n, k = 5, 40
    blocks = -(-k // block)
    size = block * bits // 8
    zeros = -(-blocks * bits // 8)
    ms("MatMulNBits", floats(2, 3, k), Constant(u8(n, blocks, size)),
       Constant(positive(n * blocks)), K=k, N=n, bits=bits, block_size=block,
       tolerance=1e-3, note=f"{bits}-{block}")
    ms("MatMulNBits", floats(3, k), Constant(u8(n, blocks, size)),
       Constant(positive(n * blocks)), Constant(u8(n * zeros)), K=k, N=n,
       bits=bits, block_size=block, tolerance=1e-3, note=f"{bits}-{block}")
for metric in "euclidean", "sqeuclidean":
    ms("CDist", floats(3, 4), floats(5, 4), metric=metric, tolerance=1e-4)
ms("Inverse", floats(2, 3, 3), tolerance=1e-3)

# ---- normalisation
for n in 1, (0, 3):
    ms("SkipLayerNormalization", floats(2, 3, 8), floats(2, 3, 8), floats(8),
       floats(8), floats(8), outputs=n, epsilon=1e-5)
    ms("SkipSimplifiedLayerNormalization", floats(2, 3, 8), floats(2, 3, 8),
       floats(8), outputs=n, epsilon=1e-5)
ms("SkipLayerNormalization", floats(2, 3, 8), floats(1, 3, 8), floats(8))
ms("SkipLayerNormalization", floats(2, 3, 8), floats(3, 8), floats(8),
   floats(8))
ms("SkipSimplifiedLayerNormalization", floats(2, 3, 8), floats(2, 3, 8),
   floats(8), floats(8))
case("SimplifiedLayerNormalization", floats(2, 3, 8), floats(8), opset=17)
case("SimplifiedLayerNormalization", floats(2, 3, 8), floats(8), opset=14,
     axis=-1, epsilon=0.01)
case("LayerNormalization", floats(2, 3, 8), floats(8), floats(8), opset=13)
tables = floats(11, 8), floats(6, 8), floats(2, 8), floats(8), floats(8)
ids = ints(2, 5, low=0, high=11, dtype=np.int32)
kinds = ints(2, 5, low=0, high=2, dtype=np.int32)
mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
for n in 2, 3:
    ms("EmbedLayerNormalization", ids, kinds, *tables, mask, outputs=n)
ms("EmbedLayerNormalization", ids, None, tables[0], tables[1], None,
   *tables[3:], outputs=2)
ms("EmbedLayerNormalization", ids, kinds, *tables, None,
   ints(2, 5, low=0, high=6, dtype=np.int32), outputs=2)

# ---- attention
b, s, h, d = 2, 5, 3, 4
x, w, bias = small(b, s, 6), small(6, 3 * h * d), small(3 * h * d)
lengths = np.array([3, 5], np.int32)
whole = np.array([[1, 1, 1, 0, 0], [1, 0, 1, 1, 1]], np.int32)
for causal in 0, 1:
    ms("Attention", x, w, bias, num_heads=h, unidirectional=causal,
       outputs=2)
    ms("Attention", x, w, bias, whole, num_heads=h, unidirectional=causal)
ms("Attention", x, w, bias, lengths, num_heads=h)
ms("Attention", x, w, bias, np.array([3, 5, 0, 1], np.int32), num_heads=h)
ms("Attention", x, w, bias, None, None, small(b, h, s, s), num_heads=h,
   scale=0.3)
ms("Attention", x, small(6, 8 + 8 + 12), small(28), num_heads=4,
   qkv_hidden_sizes=[8, 8, 12])
ms("Attention", x, w, bias, None, small(2, b, h, 3, d), num_heads=h,
   unidirectional=1, outputs=2)
ms("Attention", x, w, bias, ints(b, s + 3, low=0, high=2, dtype=np.int32),
   small(2, b, h, 3, d), num_heads=h, outputs=2)
q, k, v = small(b, s, h * d), small(b, 7, h * d), small(b, 7, h * 5)
for causal in 0, 1:
    ms("MultiHeadAttention", q, small(b, s, h * d), small(b, s, h * d),
       num_heads=h, unidirectional=causal)
ms("MultiHeadAttention", q, k, v, num_heads=h)
ms("MultiHeadAttention", q, k, v, small(2 * h * d + h * 5), num_heads=h,
   scale=0.2)
ms("MultiHeadAttention", q, k, v, None, np.array([4, 7], np.int32),
   num_heads=h)
ms("MultiHeadAttention", q, k, v, None,
   np.array([[1] * 7, [1, 1, 1, 1, 0, 1, 0]], np.int32), num_heads=h)
ms("MultiHeadAttention", q, k, v, None, None, small(1, h, s, 7), num_heads=h)
ms("MultiHeadAttention", q, small(b, h, 7, d), small(b, h, 7, d),
   num_heads=h)
ms("MultiHeadAttention", q, k, small(b, 7, h * d), None, None, None,
   small(b, h, 3, d), small(b, h, 3, d), num_heads=h, outputs=3)
turn = small(16, 2), small(16, 2)
for interleaved in 0, 1:
    ms("RotaryEmbedding", small(b, s, h * d),
       ints(b, s, low=0, high=16), *turn, interleaved=interleaved)
    ms("RotaryEmbedding", small(b, h, s, d), np.array([4]), *turn,
       interleaved=interleaved)
    ms("RotaryEmbedding", small(b, s, h * 6), ints(b, s, low=0, high=16),
       *turn, interleaved=interleaved, num_heads=h, rotary_embedding_dim=4)
d = 16
for heads, kv in (4, 4), (4, 2), (6, 1):
    some = small(b, kv, 9, d), small(b, kv, 9, d)
    new = small(b, 1, kv * d), small(b, 1, kv * d)
    how = {"num_heads": heads, "kv_num_heads": kv, "outputs": 3,
           "tolerance": 1e-4}
    angles = small(16, d // 2), small(16, d // 2)
    ms("GroupQueryAttention", small(b, 6, heads * d), small(b, 6, kv * d),
       small(b, 6, kv * d), None, None, np.array([5, 5], np.int32),
       Constant(np.array(6, np.int32)), note=f"prompt{heads}-{kv}", **how)
    ms("GroupQueryAttention", small(b, 1, heads * d), *new, *some,
       np.array([9, 9], np.int32), Constant(np.array(10, np.int32)),
       note=f"next{heads}-{kv}", **how)
    ms("GroupQueryAttention", small(b, 1, heads * d), *new, *some,
       np.array([9, 5], np.int32), Constant(np.array(10, np.int32)), *angles,
       do_rotary=1, note=f"turned{heads}-{kv}", **how)
    ms("GroupQueryAttention", small(b, 6, (heads + 2 * kv) * d), None, None,
       None, None, np.array([5, 5], np.int32),
       Constant(np.array(6, np.int32)), *angles, do_rotary=1,
       rotary_interleaved=1, local_window_size=3, softcap=2.0, scale=0.5,
       note=f"packed{heads}-{kv}", **how)
ms("GroupQueryAttention", small(b, 6, 4 * d), small(b, 6, 2 * d),
   small(b, 6, 2 * d), None, None, np.array([5, 5], np.int32),
   Constant(np.array(6, np.int32)), num_heads=4, kv_num_heads=2, outputs=3,
   smooth_softmax=1)
ms("GroupQueryAttention", small(b, 6, 4 * d), small(b, 6, 2 * d),
   small(b, 6, 2 * d), None, None, np.array([5, 5], np.int32),
   Constant(np.array(6, np.int32)), None, None, None, small(b, 4, 6, 6),
   small(4), num_heads=4, kv_num_heads=2, outputs=3)

# ---- quantised networks; a unit in the last place is open
for op in "QLinearAdd", "QLinearMul":
    ms(op, u8(2, 3, 4), f32(0.03), zero(120), u8(3, 4), f32(0.02),
       zero(100), f32(0.05), zero(90), tolerance=1)
    ms(op, u8(2, 3, 4), f32(0.03), zero(0), u8(3, 1), f32(0.02), zero(0),
       f32(0.1), zero(0), tolerance=1)
ms("QLinearWhere", bools(3, 4), u8(3, 4), f32(0.03), zero(120), u8(4),
   f32(0.02), zero(100), f32(0.05), zero(90), tolerance=1)
ms("QLinearLeakyRelu", u8(3, 4), f32(0.03), zero(120), f32(0.02),
   zero(100), alpha=0.2, tolerance=1)
ms("QLinearSigmoid", u8(3, 4), f32(0.03), zero(120), f32(0.004),
   zero(0), tolerance=1)
for opset in 11, 13:  # of the node, an attribute
    CASES.append((f"com.microsoft::QLinearSoftmax-{opset}",
                  "com.microsoft::QLinearSoftmax",
                  (u8(2, 3, 4), f32(0.03), zero(120), f32(0.004), zero(0)),
                  {"axis": 1, "opset": opset}, 17, 1, 1))
for last in 0, 1:
    ms("QLinearGlobalAveragePool", u8(2, 3, 4, 5), f32(0.03), zero(120),
       f32(0.02), zero(100), channels_last=last, tolerance=1)
ms("QLinearConcat", f32(0.05), zero(90), u8(2, 3), f32(0.03),
   zero(120), u8(2, 4), f32(0.02), zero(100), axis=1, tolerance=1)
for ta, tb in (0, 0), (0, 1), (1, 0), (1, 1):
    x = u8(8, 3) if ta else u8(3, 8)
    y = u8(5, 8) if tb else u8(8, 5)
    for c in None, ints(5, low=-900, high=900, dtype=np.int32):
        ms("QGemm", x, f32(0.03), zero(120), y, f32(0.02), zero(100), c,
           f32(0.4), zero(90), transA=ta, transB=tb, tolerance=1)
        ms("QGemm", x, f32(0.03), zero(120), y, f32(0.02), zero(100), c,
           transA=ta, transB=tb, alpha=0.5, tolerance=1e-3)
    ms("QGemm", x, f32(0.03), zero(120), y, positive(5), u8(5), None,
       f32(0.4), zero(90), transA=ta, transB=tb, alpha=2.0, tolerance=1)
for bias in None, floats(5):
    ms("MatMulIntegerToFloat", u8(2, 3, 8), u8(8, 5), f32(0.03), positive(5),
       zero(120), u8(5), bias, tolerance=1e-3)
    ms("DynamicQuantizeMatMul", floats(3, 8), u8(8, 5), f32(0.03),
       zero(100), bias, tolerance=1e-2)
ms("MatMulIntegerToFloat", u8(3, 8), u8(8, 5), f32(0.03), f32(0.2),
   tolerance=1e-3)
ms("MatMulInteger16", ints(3, 8, dtype=np.int16), ints(8, 5, dtype=np.int16))
ms("QuantizeLinear", floats(3, 4), f32(0.03), zero(120))
ms("DequantizeLinear", u8(3, 4), positive(4), u8(4), axis=1)

# ---- what ONNX has by now
ms("GatherND", floats(3, 4, 5), ints(2, 2, low=0, high=3))
ms("ExpandDims", floats(3, 4), Constant(np.array(-1, np.int32)))
ms("Trilu", floats(4, 5), Constant(np.array(1)), upper=0)
