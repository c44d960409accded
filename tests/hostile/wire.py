"""Just enough of protobuf to write ONNX files that no library would write.

The numbers of the fields are those of onnx.proto.
"""
import struct


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def blocks(field, many):
    return b"".join(block(field, x) for x in many)


def nest(levels, core=b""):
    """core inside messages; levels are the field numbers, outermost first."""
    sizes, size = [], len(core)
    for field in reversed(levels):
        sizes.append(size)
        size += len(varint(field << 3 | 2)) + len(varint(size))
    heads = (varint(f << 3 | 2) + varint(s)
             for f, s in zip(levels, reversed(sizes)))
    return b"".join(heads) + core


# ---- messages ----------------------------------------------------------------

FLOAT, INT64 = 1, 7


def attribute_int(name, i):
    return block(1, name) + number(3, i) + number(20, 2)


def attribute_ints(name, ints):
    return (block(1, name) + b"".join(number(8, i) for i in ints)
            + number(20, 7))


def node(op, inputs, outputs, attributes=(), name="n", domain=""):
    return (blocks(1, inputs) + blocks(2, outputs) + block(3, name)
            + block(4, op) + blocks(5, attributes)
            + (block(7, domain) if domain else b""))


def tensor(name, dims, raw=b"", kind=FLOAT, external=None):
    out = (b"".join(number(1, d) for d in dims) + number(2, kind)
           + block(8, name))
    if external is None:
        return out + block(9, raw)
    entries = (block(1, k) + block(2, v) for k, v in external.items())
    return out + blocks(13, entries) + number(14, 1)


def value(name, dims, kind=FLOAT):
    shape = blocks(1, (block(2, d) if isinstance(d, str) else number(1, d)
                       for d in dims))
    return block(1, name) + block(2, block(1, number(1, kind)
                                           + block(2, shape)))


def graph(nodes=(), initializers=(), inputs=(), outputs=(), extra=b""):
    return (blocks(1, nodes) + block(2, "g") + blocks(5, initializers)
            + blocks(11, inputs) + blocks(12, outputs) + extra)


def model(graph_bytes, opset=13, ir=8, extra=b""):
    return (number(1, ir) + block(7, graph_bytes)
            + block(8, block(1, "") + number(2, opset)) + extra)


def floats(*xs):
    return struct.pack(f"<{len(xs)}f", *xs)


def int64s(*xs):
    return struct.pack(f"<{len(xs)}q", *xs)
