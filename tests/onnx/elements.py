# Tests: base kernel compiler/codegen
"""Element types against ml_dtypes: conversions between all of them, bit
patterns read as other types, and elements that a model holds packed.

	elements.py [--kernels interpreter|generated] [PREFIX...]

Without --kernels both are tried: with CHECK_ALL=yes in all cases, else the
generated ones in every fourth.
"""
import argparse
import os
import tempfile

import against
import dtypes
import numpy as np
import onnx
import programs  # against knows where it is
from onnx import TensorProto, helper, numpy_helper

T = TensorProto
ORDINARY = {T.DOUBLE: np.float64, T.FLOAT: np.float32, T.FLOAT16: np.float16,
            T.INT64: np.int64, T.INT32: np.int32, T.INT16: np.int16,
            T.INT8: np.int8, T.UINT64: np.uint64, T.UINT32: np.uint32,
            T.UINT16: np.uint16, T.UINT8: np.uint8}
SMALL = {helper.np_dtype_to_tensor_dtype(np.dtype(t)): t
         for t in dtypes.SMALL.values()}
ALL = {**ORDINARY, **SMALL}
SATURATING = {T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2,
              T.FLOAT8E5M2FNUZ}
PACKED = [t for t, d in SMALL.items() if dtypes.bits(d) < 8]
RNG = np.random.default_rng(8)


def name_of(t):
    return T.DataType.Name(t)


def patterns(t):
    """Every element of a small type."""
    kind, n = np.uint8 if np.dtype(t).itemsize == 1 else np.uint16, \
        dtypes.bits(t)
    codes = np.arange(2 ** n, dtype=np.uint32).astype(kind)
    if not dtypes.is_float(np.dtype(t)):
        return codes.astype(np.int64).astype(t)
    return codes.view(t)


def values(t):
    """Elements of an ordinary type: what decides how others are rounded."""
    if np.issubdtype(t, np.integer):
        info = np.iinfo(t)
        near = [v for v in range(-300, 70000, 7) if info.min <= v <= info.max]
        return np.array(near + [info.min, info.max, 0, 1], t)
    found = [np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 1e30])]
    with np.errstate(all="ignore"):
        for small in SMALL.values():
            if not dtypes.is_float(np.dtype(small)):
                continue
            x = np.sort(patterns(small).astype(np.float64))
            x = x[np.isfinite(x)][:4096]
            half = (x[1:] + x[:-1]) / 2
            found += [x, half, half * (1 + 1e-7), half * (1 - 1e-7),
                      half * (1 + 1e-15)]
        found.append(RNG.integers(0, 2 ** 32, 4000, np.uint32)
                     .view(np.float32))
        found.append(np.linspace(-5, 17, 89))
        return np.concatenate(found).astype(t)


def run(nodes, fed, wanted, kernels, initializers=(), folder=None):
    """Runs a model of these nodes for 1 and for 3 devices and compares its
    outputs with `wanted`, elements by their values or, of integers, bits."""
    graph = helper.make_graph(
        nodes, "types",
        [helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for n, x in fed.items()],
        [helper.make_empty_tensor_value_info(n) for n in wanted],
        list(initializers))
    model = helper.make_model(graph, ir_version=13, opset_imports=[
        helper.make_opsetid("", 26)])
    with tempfile.TemporaryDirectory() as made:
        path = os.path.join(folder or made, "m.onnx")
        plan, into, out = (os.path.join(made, n)
                           for n in ("plan", "in.npz", "out.npz"))
        onnx.save(model, path)
        np.savez(into, **{n: dtypes.stored(x) for n, x in fed.items()})
        for k in "13":
            against.run(against.TDLC, "plan", path, "-k", k, "-o", plan)
            against.run(against.TDLRUN, plan, "--kernels", kernels,
                        "--inputs", into, "--outputs", out)
            with np.load(out) as got:
                for name, want in wanted.items():
                    compare(f"{name} at k = {k}", got[name], want)


def compare(name, got, want):
    assert got.shape == want.shape, f"{name} has shape {got.shape}"
    assert got.dtype == dtypes.stored(want).dtype, f"{name} is {got.dtype}"
    got = got.view(want.dtype)
    if dtypes.is_float(want.dtype):
        x, y = got.astype(np.float64), want.astype(np.float64)
        wrong = ~((x == y) | (np.isnan(x) & np.isnan(y)))
        wrong |= (np.signbit(x) != np.signbit(y)) & (x == y) & (x != 0)
    else:
        wrong = got != want
    at = np.argwhere(wrong)
    assert not wrong.any(), f"{name}: {got[tuple(at[0])]!r} for " \
        f"{want[tuple(at[0])]!r} at {at[0]}, {len(at)} of {got.size} differ"


# ---- conversions -------------------------------------------------------------


def round_odd(x):
    """Doubles as floats whose last bit says that some were dropped: what
    ml_dtypes makes of these is rounded once."""
    near = x.astype(np.float32)
    back, bits = near.astype(np.float64), near.view(np.uint32)
    less = (np.abs(back) > np.abs(x)).astype(np.uint32)
    return np.where((back == x) | np.isnan(x), bits, (bits - less) | 1) \
        .astype(np.uint32).view(np.float32)


def converted(x, to, saturate):
    """x in type `to`."""
    t = ALL[to]
    with np.errstate(all="ignore"):
        if x.dtype.itemsize < 4 and dtypes.is_float(x.dtype):
            x = x.astype(np.float32)
        if not dtypes.is_float(np.dtype(t)) and dtypes.is_float(x.dtype):
            wide = np.uint64 if t == np.uint64 else np.int64
            return x.astype(np.float64).astype(wide).astype(t)
        if to in SMALL and x.dtype == np.float64:
            x = round_odd(x)
        if to in SATURATING and saturate:
            return numpy_helper.saturate_cast(x.astype(np.float32), t)
        if to in SMALL and dtypes.is_float(np.dtype(t)):
            return x.astype(np.float32).astype(t)
        if not dtypes.is_float(np.dtype(t)) and to != T.UINT64:
            return x.astype(np.int64).astype(t)
        return x.astype(t)


def defined(x, to):
    """Which elements the specification says anything about."""
    t = ALL[to]
    if not dtypes.is_float(x.dtype):
        return np.ones(x.shape, bool) if to != T.FLOAT8E8M0 else x > 0
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
    if dtypes.is_float(np.dtype(t)):
        if to == T.FLOAT8E8M0:  # below 2^-126 others look at the bits alone
            return wide >= 2.0 ** -126
        return np.ones(x.shape, bool)
    if to in SMALL:  # the lower bits
        return np.abs(wide) < 2 ** 31
    info = np.iinfo(t)
    return (wide >= float(info.min)) & (wide < float(info.max))


def casts_from(t):
    """From one type to all others, saturating and not."""
    def run_one(kernels):
        x = values(ALL[t]) if t in ORDINARY else patterns(ALL[t])
        nodes, fed, wanted = [], {}, {}
        for to in ALL:
            keep = defined(x, to)
            fed[f"x{to}"] = x[keep]
            for saturate in (0, 1) if to in SATURATING else (1,):
                y = f"{name_of(to)}_{saturate}"
                attrs = {"round_mode": "nearest"} \
                    if to == T.FLOAT8E8M0 else {}
                if to == T.FLOAT8E8M0:
                    saturate = 0
                nodes.append(helper.make_node(
                    "Cast", [f"x{to}"], [y], to=to, saturate=saturate,
                    **attrs))
                wanted[y] = converted(x[keep], to, saturate)
        run(nodes, fed, wanted, kernels)
    return run_one


def powers_of_two(kernels):
    """Rounding to f8e8m0 up, down and to the nearest, and saturating."""
    x = np.abs(values(np.float32))
    x = x[np.isfinite(x) & (x >= 2.0 ** -126) & (x < 2.0 ** 127)]
    nodes, wanted = [], {}
    for mode in "up", "down", "nearest":
        nodes.append(helper.make_node("Cast", ["x"], [mode], saturate=1,
                                      to=T.FLOAT8E8M0, round_mode=mode))
        wanted[mode] = numpy_helper.to_float8e8m0(x, True, mode)
        nodes.append(helper.make_node("Cast", ["ends"], [mode + "_ends"],
                                      to=T.FLOAT8E8M0, round_mode=mode))
        wanted[mode + "_ends"] = np.array([0, 254, 254, 255, 0], np.uint8) \
            .view(dtypes.SMALL["f8e8m0"])
    ends = np.array([0, np.inf, 3e38, np.nan, 2.0 ** -127], np.float32)
    run(nodes, {"x": x, "ends": ends}, wanted, kernels)


def bit_casts(kernels):
    """Between all types of as many bits; NaNs keep their bits."""
    nodes, fed, wanted = [], {}, {}
    for t, d in ALL.items():
        n = dtypes.bits(d)
        x = patterns(d) if t in SMALL else \
            RNG.integers(0, 256, 509 * n // 8, np.uint8).view(d)
        fed[f"x{t}"] = x
        for to, e in ALL.items():
            if dtypes.bits(e) != n or to == t:
                continue
            y = f"{name_of(t)}_{name_of(to)}"
            nodes.append(helper.make_node("BitCast", [f"x{t}"], [y], to=to))
            bits = dtypes.stored(x)
            whole = dtypes.stored(np.zeros(1, e)).dtype
            if n < 8 and not dtypes.is_float(np.dtype(e)):
                wanted[y] = bits.astype(np.int64).astype(e)
            else:
                wanted[y] = (bits & (2 ** n - 1) if n < 8 else bits) \
                    .view(whole).view(e)
    run(nodes, fed, {n: dtypes.stored(x) for n, x in wanted.items()}, kernels)


def quantised(kernels):
    """To every float, saturating and not; with a zero point and without."""
    x = RNG.standard_normal(997).astype(np.float32) * 300
    x[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1e9, -1e9, 1e-9]
    scale = np.array(0.37, np.float32)
    nodes, wanted, known = [], {}, []
    for to in sorted(SATURATING) + [T.FLOAT4E2M1]:
        zero = np.zeros((), ALL[to])
        known.append(numpy_helper.from_array(zero, f"zero{to}"))
        for saturate in 0, 1:
            want = converted(x / scale, to, saturate)
            for y, inputs, attrs in (
                    (f"{name_of(to)}_{saturate}_zero", [f"zero{to}"], {}),
                    (f"{name_of(to)}_{saturate}", [], {"output_dtype": to})):
                nodes.append(helper.make_node(
                    "QuantizeLinear", ["x", "scale", *inputs], [y],
                    saturate=saturate, **attrs))
                # x + 0 loses the sign of -0.
                wanted[y] = (want.astype(np.float32) + np.float32(0)).astype(
                    ALL[to]) if inputs else want
    run(nodes, {"x": x, "scale": scale}, wanted, kernels, known)


def blocked(kernels):
    """Weights of a few bits whose scales and zero points are of blocks."""
    nodes, known, wanted = [], [], {}
    for t in T.INT4, T.UINT4, T.INT2, T.UINT2:
        for axis, block in (0, 3), (1, 5):
            shape = [6, 10]
            w = RNG.choice(patterns(ALL[t]), shape)
            shape[axis] //= block
            zero = RNG.choice(patterns(ALL[t]), shape)
            scale = RNG.uniform(0.1, 1, shape).astype(np.float32)
            y = f"{name_of(t)}_{axis}"
            inputs = {f"w{y}": w, f"s{y}": scale, f"z{y}": zero}
            known += [numpy_helper.from_array(x, n)
                      for n, x in inputs.items()]
            nodes.append(helper.make_node("DequantizeLinear", list(inputs),
                                          [y], axis=axis, block_size=block))
            zeros, scales = (np.repeat(x.astype(np.float32), block, axis)
                             for x in (zero, scale))
            wanted[y] = (w.astype(np.float32) - zeros) * scales
    run(nodes, {}, wanted, kernels, known)


# ---- constants of a model ----------------------------------------------------


def tensor(x, name, how, folder):
    """A constant of a packed type: raw, as numbers or in a file beside."""
    t = numpy_helper.from_array(x, name)
    if how == "numbers":
        per_byte = 1 if dtypes.bits(x.dtype) == 6 else 8 // dtypes.bits(x.dtype)
        raw = dtypes.stored(x).view(np.uint8).ravel() \
            & (2 ** dtypes.bits(x.dtype) - 1)
        raw = np.pad(raw, (0, -len(raw) % per_byte)).reshape(-1, per_byte)
        t.ClearField("raw_data")
        t.int32_data.extend(
            int(sum(int(v) << (i * dtypes.bits(x.dtype))
                    for i, v in enumerate(row))) for row in raw)
    if how == "file":
        at = os.path.join(folder, name)
        with open(at, "wb") as f:
            f.write(b"before" + t.raw_data)
        t.ClearField("raw_data")
        t.data_location = T.EXTERNAL
        for key, value in ("location", name), ("offset", "6"):
            t.external_data.add(key=key, value=value)
    return t


def constants(how):
    """Packed constants of several sizes go through what only moves them."""
    def run_one(kernels):
        nodes, made, wanted = [], [], {}
        with tempfile.TemporaryDirectory() as folder:
            for t in PACKED:
                every = patterns(ALL[t])
                for shape in (0,), (1,), (2,), (3,), (5, 1), (3, 7), (4, 9):
                    x = RNG.choice(every, shape)
                    name = f"{name_of(t)}_{'x'.join(map(str, shape))}"
                    made.append(tensor(x, "c" + name, how, folder))
                    nodes.append(helper.make_node(
                        "Transpose", ["c" + name], [name]))
                    wanted[name] = dtypes.stored(x.T.copy())
            run(nodes, {}, wanted, kernels, made, folder)
    return run_one


def moves(kernels):
    """Operators that move elements take those of every type."""
    nodes, fed, wanted = [], {}, {}
    known = {"rows": [2, 0, 1, 2], "flat": [-1], "ones": [1, 1],
             "ends": [3, 8], "pads": [1, 0, 0, 2], "twice": [2, 1],
             "wide": [2, 3, 10], "shape": [2, 3]}
    chosen = RNG.integers(0, 2, (3, 1)).astype(bool)
    fed["chosen"] = chosen
    edges = []
    for t, d in SMALL.items():
        x = RNG.choice(patterns(d), (3, 10))
        n = name_of(t)
        fed[n] = x
        bits = dtypes.stored(x)
        for op, ins, attrs, want in (
                ("Identity", [n], {}, bits),
                ("Reshape", [n, "flat"], {}, bits.ravel()),
                ("Concat", [n, n], {"axis": 1}, np.hstack([bits, bits])),
                ("Gather", [n, "rows"], {}, bits[[2, 0, 1, 2]]),
                ("Transpose", [n], {}, bits.T),
                ("Slice", [n, "ones", "ends"], {}, bits[1:3, 1:8]),
                ("Tile", [n, "twice"], {}, np.tile(bits, (2, 1))),
                ("Expand", [n, "wide"], {},
                 np.broadcast_to(bits, (2, 3, 10))),
                ("Where", ["chosen", n, n + "_Identity"], {}, bits),
                ("Pad", [n, "pads", n + "_edge"], {},
                 np.pad(bits, ((1, 0), (0, 2)), constant_values=bits[0, 0])),
                ("ConstantOfShape", ["shape"],
                 {"value": numpy_helper.from_array(x[:1, 0])},
                 np.full((2, 3), bits[0, 0]))):
            nodes.append(helper.make_node(op, ins, [f"{n}_{op}"], **attrs))
            wanted[f"{n}_{op}"] = np.ascontiguousarray(want)
        edges.append(numpy_helper.from_array(x[:1, 0].reshape(()),
                                             n + "_edge"))
    run(nodes, fed, wanted, kernels, edges + [
        numpy_helper.from_array(np.array(v), n) for n, v in known.items()])


CASES = [(f"casts-{name_of(t)}", casts_from(t)) for t in ALL] + [
    ("powers-of-two", powers_of_two), ("bit-casts", bit_casts),
    ("quantised", quantised), ("blocked", blocked),
    ("constants-raw", constants("raw")),
    ("constants-numbers", constants("numbers")),
    ("constants-file", constants("file")), ("moves", moves)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", choices=["interpreter", "generated"])
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX")
    args = parser.parse_args()
    all_kernels = [args.kernels] if args.kernels \
        else ["interpreter", "generated"]
    # The compiler takes longer than all the rest.
    cases = [(f"{name}-{k}", (run_one, k))
             for i, (name, run_one) in enumerate(CASES) for k in all_kernels
             if args.kernels or args.prefixes or programs.ALL or i % 4 == 0
             or k == "interpreter"]
    against.try_all(programs.sample(cases), args.prefixes,
                    lambda what: what[0](what[1]))


if __name__ == "__main__":
    main()
