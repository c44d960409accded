# Tests: compiler/cost
"""The byte model of docs/search.md, written a second time.

Random small networks are planned; from the layouts and strategies that `tdlc
plan --json` prints, this script counts the bytes anew, element by element, and
compares every operator, step and total.  It shares nothing with tdlc: reads
are enumerated, blocks are sets of elements.

	byte_model.py [--seed S] [--networks N]
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import sample  # noqa: E402

TDLC = os.environ.get("TDLC", "tdlc")
DEVICES = (2, 3, 4, 6, 8, 12)

# ---- operators: variables, and where each input is read ----------------------


def matmul(shapes, _):
    (m, k), (_, n) = shapes
    return (("i", "j", "k"), (m, n, k), 2,
            [lambda i, j, k: (i, k), lambda i, j, k: (k, j)])


def elementwise(shapes, _):
    out = np.broadcast_shapes(*shapes)
    names = tuple(f"d.{i}" for i in range(len(out)))

    def read(shape):
        skip = len(out) - len(shape)
        return lambda *at: tuple(0 if s == 1 and o != 1 else a for s, o, a in
                                 zip(shape, out[skip:], at[skip:]))
    return names, out, len(out), [read(s) for s in shapes]


def transpose(shapes, _):
    rows, columns = shapes[0]
    return (("d.1", "d.0"), (columns, rows), 2, [lambda j, i: (i, j)])


def conv2d(shapes, attributes):
    (n, c, height, width), (k, _, r, s) = shapes
    stride, pad = attributes["stride"], attributes["pad"]
    out_h = (height + 2 * pad - r) // stride + 1
    out_w = (width + 2 * pad - s) // stride + 1
    return (("n", "k", "i", "j", "c", "r", "s"),
            (n, k, out_h, out_w, c, r, s), 4,
            [lambda n, k, i, j, c, r, s: (n, c, stride * i + r - pad,
                                          stride * j + s - pad),
             lambda n, k, i, j, c, r, s: (k, c, r, s)])


OPERATORS = {"matmul": matmul, "relu": elementwise, "add": elementwise,
             "tanh": elementwise, "transpose": transpose, "conv2d": conv2d}

# ---- boxes and blocks --------------------------------------------------------


def block(lo, hi, p, k):
    n = hi - lo
    return lo + p * n // k, lo + (p + 1) * n // k


def nested(extents, cuts, coords, mesh):
    """The block that coords has of a space cut axis by axis."""
    box = [(0, n) for n in extents]
    for axis, cut in enumerate(cuts):
        if cut is not None:
            box[cut] = block(*box[cut], coords[axis], mesh[axis])
    return box


def elements(box):
    return set(itertools.product(*(range(lo, hi) for lo, hi in box)))


def bounding_box(points):
    points = list(points)
    if not points:
        return set()
    return elements([(min(x), max(x) + 1) for x in zip(*points)])


def needed(read, box, shape):
    """The box of the index expressions, clipped to the tensor."""
    points = [read(*at) for at in elements(box)]
    if not points:
        return set()
    return elements([(max(min(x), 0), min(max(x) + 1, n))
                     for x, n in zip(zip(*points), shape)])


def own_share(produced, shape, cuts, coords, mesh, axes):
    """What a group combines of a partial result that it shares over axes."""
    box = list(produced)
    rest = []
    for axis in axes:
        if cuts[axis] is not None:
            d = cuts[axis]
            box[d] = block(*box[d], coords[axis], mesh[axis])
        else:
            rest.append(axis)
    if not rest:
        return elements(box)
    rank, size = 0, 1
    for axis in rest:
        rank = rank * mesh[axis] + coords[axis]
        size *= mesh[axis]
    flat = sorted(elements(box))
    lo, hi = block(0, len(flat), rank, size)
    return set(flat[lo:hi])


# ---- counting ----------------------------------------------------------------


def node_bytes(node, tensors, mesh, naxes):
    """C of one operator over the first naxes steps: elements times four."""
    variables, extents, nout, reads = node["operator"]
    strategy = [None if v is None else variables.index(v)
                for v in node["strategy"][:naxes]]
    total = 0
    for coords in itertools.product(*(range(k) for k in mesh[:naxes])):
        space = nested(extents, strategy, coords, mesh)
        needs = {}
        for name, read in zip(node["inputs"], reads):
            got = needed(read, space, tensors[name]["shape"])
            needs[name] = bounding_box(needs.get(name, set()) | got)
        for name, need in needs.items():
            held = elements(nested(tensors[name]["shape"],
                                   tensors[name]["cuts"][:naxes], coords,
                                   mesh))
            total += len(need - held)
        out = tensors[node["output"]]
        stored = elements(nested(out["shape"], out["cuts"][:naxes], coords,
                                 mesh))
        produced = space[:nout]
        axes = [a for a, v in enumerate(strategy)
                if v is not None and v >= nout]
        if not axes:
            total += len(stored - elements(produced))
            continue
        own = own_share(produced, out["shape"], out["cuts"], coords, mesh,
                        axes)
        sharers = int(np.prod([mesh[a] for a in axes]))
        total += (sharers - 1) * len(own) + len(stored - own)
    return 4 * total


# ---- random networks ---------------------------------------------------------


class Network:
    """A chain with side branches, of operators in OPERATORS."""

    def __init__(self, rng):
        self.rng, self.nodes, self.shapes, self.weights = rng, [], {}, {}
        self.dense() if rng.random() < 0.7 else self.images()

    def weight(self, shape):
        name = f"w{len(self.weights)}"
        self.weights[name] = np.ones(shape, np.float32)
        self.shapes[name] = shape
        return name

    def add(self, op, onnx_type, inputs, shape, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append((op, onnx_type, inputs, name, attributes))
        self.shapes[name] = shape
        return name

    def extent(self):
        return int(self.rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12]))

    def dense(self):
        x = "x"
        self.shapes[x] = (self.extent(), self.extent())
        for _ in range(self.rng.integers(1, 5)):
            rows, columns = self.shapes[x]
            kind = self.rng.integers(0, 5)
            if kind <= 1:
                n = self.extent()
                x = self.add("matmul", "MatMul",
                             [x, self.weight((columns, n))], (rows, n))
            elif kind == 2:
                shape = [(columns,), (rows, 1), (rows, columns), (1, columns)]
                w = self.weight(shape[self.rng.integers(0, 4)])
                x = self.add("add", "Add", [x, w], (rows, columns))
            elif kind == 3:
                x = self.add("transpose", "Transpose", [x], (columns, rows),
                             perm=[1, 0])
            else:
                x = self.add("relu", "Relu", [x], (rows, columns))
        if len(self.nodes) > 1 and self.rng.random() < 0.5:
            rows, columns = self.shapes[x]
            y = self.add("tanh", "Tanh", [x], (rows, columns))
            x = self.add("add", "Add", [x, y], (rows, columns))
        self.output = x

    def images(self):
        rng = self.rng
        n, c = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        size = int(rng.integers(4, 8))
        x = "x"
        self.shapes[x] = (n, c, size, size)
        for _ in range(rng.integers(1, 3)):
            n, c, height, width = self.shapes[x]
            taps = int(rng.choice([1, 3]))
            pad, stride = int(rng.integers(0, 2)), int(rng.integers(1, 3))
            k = int(rng.integers(1, 5))
            out_h = (height + 2 * pad - taps) // stride + 1
            out_w = (width + 2 * pad - taps) // stride + 1
            if out_h < 1 or out_w < 1:
                break
            x = self.add("conv2d", "Conv",
                         [x, self.weight((k, c, taps, taps))],
                         (n, k, out_h, out_w), strides=[stride, stride],
                         pads=[pad] * 4)
        if not self.nodes:
            x = self.add("relu", "Relu", [x], self.shapes[x])
        self.output = x

    def save(self, path):
        def info(name):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT,
                                                 self.shapes[name])
        nodes = [helper.make_node(kind, inputs, [out], name=f"n_{out}",
                                  **attributes)
                 for _, kind, inputs, out, attributes in self.nodes]
        graph = helper.make_graph(
            nodes, "random", [info("x")], [info(self.output)],
            [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        onnx.save(helper.make_model(
            graph, ir_version=8,
            opset_imports=[helper.make_opsetid("", 13)]), path)


# ---- comparing ---------------------------------------------------------------


def tensors_of(plan):
    tensors = {}
    for t in plan["tensor_layouts"]:
        cuts = [int(c.split()[1]) if c.startswith("cut") else None
                for c in t["layout"]]
        tensors[t["name"]] = {"shape": tuple(t["shape"]), "cuts": cuts}
    return tensors


def check(network, plan, say):
    mesh, tensors = plan["mesh"], tensors_of(plan)
    strategies = {s["name"]: s for s in plan["operator_strategies"]}
    wrong = 0
    totals = [0] * len(mesh)
    for op, _, inputs, out, attributes in network.nodes:
        planned = strategies[f"n_{out}"]
        shapes = [network.shapes[i] for i in inputs]
        more = {"stride": attributes.get("strides", [1])[0],
                "pad": attributes.get("pads", [0])[0]}
        node = {"operator": OPERATORS[op](shapes, more), "inputs": inputs,
                "output": out, "strategy": planned["strategy"]}
        before = 0
        for step in range(len(mesh)):
            now = node_bytes(node, tensors, mesh, step + 1)
            if now - before != planned["bytes"][step]:
                say(f"{op} {shapes} {planned}: step {step} moves "
                    f"{now - before} bytes")
                wrong += 1
            totals[step] += now - before
            before = now
    if totals != plan["byte_model"]["by_step"]:
        say(f"by_step is {plan['byte_model']['by_step']}, not {totals}")
        wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--networks", type=int, default=40)
    args = parser.parse_args()
    wrong = plans = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.onnx")
        for seed in sample(range(args.seed, args.seed + args.networks)):
            network = Network(np.random.default_rng(seed))
            network.save(path)
            for k in DEVICES:
                done = subprocess.run(
                    [TDLC, "plan", path, "-k", str(k), "--json"],
                    capture_output=True, text=True)
                if done.returncode != 0:
                    print(f"seed {seed}, k = {k}: {done.stderr}")
                    wrong += 1
                    continue
                wrong += check(network, json.loads(done.stdout),
                               lambda text: print(f"seed {seed}, k = {k}: "
                                                  + text))
                plans += 1
    print(f"{plans} plans of {args.networks} networks, {wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
