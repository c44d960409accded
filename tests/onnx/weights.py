# Tests: compiler/graph compiler/lower runtime/exec plan
"""Weights of ONNX models in plans that do not train.

A random network computes with its weights alone before it comes to its input,
and planning folds some of that.  Its plans get other weights; their outputs
have to be those that ONNX Runtime has for a model with these weights, on 1, 2
and 4 workers and in stages.  A training's checkpoint has to evaluate and to infer as ONNX
Runtime does with its weights.  Plans whose folds are damaged are refused.
"""
import json
import os
import subprocess
import sys
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, TDLRUN, expect, over_seeds, run  # noqa: E402

BATCH, WIDTH = 8, 6


class Network:
    """y = relu(x w + b) v + c, where w, b, v and c are expressions of
    weights."""

    def __init__(self, rng):
        self.rng, self.nodes, self.values = rng, [], {}
        self.outputs = 4

    def weight(self, *shape):
        name = f"w{len(self.values)}"
        self.values[name] = self.rng.standard_normal(shape, np.float32)
        return name

    def constant(self, value):
        name = f"k{len(self.values)}"
        self.values[name] = np.array(value)
        return name

    def node(self, op, *inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name],
                                           **attributes))
        return name

    def reshaped(self, x, *shape):
        return self.node("Reshape", x, self.constant(
            np.array(shape, np.int64)))

    def expression(self, shape, depth):
        """A tensor of that shape, of weights alone."""
        kind = self.rng.integers(0, 8) if depth else 0
        if kind == 1:
            return self.node(self.rng.choice(["Add", "Mul", "Sub"]),
                             self.expression(shape, depth - 1),
                             self.expression(shape, depth - 1))
        if kind == 2:
            return self.reshaped(self.expression(shape[::-1], depth - 1),
                                 *shape)
        if kind == 3:
            perm = list(range(len(shape)))[::-1]
            return self.node("Transpose",
                             self.expression(shape[::-1], depth - 1),
                             perm=perm)
        if kind == 4 and shape[0] % 2 == 0:
            half = (shape[0] // 2, *shape[1:])
            return self.node("Concat", self.expression(half, depth - 1),
                             self.expression(half, depth - 1), axis=0)
        if kind == 5:
            return self.node("Expand", self.weight(1, *shape[1:]),
                             self.constant(np.array(shape, np.int64)))
        if kind == 6:
            return self.node("Mul", self.expression(shape, depth - 1),
                             self.constant(np.float32(0.5)))
        if kind == 7:
            return self.node("Tanh", self.expression(shape, depth - 1))
        return self.weight(*shape)

    def build(self, path, depth):
        hidden = 2 * int(self.rng.integers(1, 4))
        h = self.node("MatMul", "x", self.expression((WIDTH, hidden), depth))
        h = self.node("Relu", self.node(
            "Add", h, self.expression((hidden,), depth)))
        h = self.node("MatMul", h, self.expression((hidden, 4), depth))
        y = self.node("Add", h, self.expression((4,), depth))
        self.nodes[-1].output[0] = "y"
        assert y != "y"
        self.save(path, self.values)

    def build_tied(self, path):
        """Layers that share weights, and what is folded of them."""
        w, u = self.weight(WIDTH, WIDTH), self.weight(WIDTH, WIDTH)
        b = self.reshaped(self.weight(1, WIDTH * WIDTH), WIDTH, WIDTH)
        both = self.node("Add", self.node("Tanh", w), b)
        h, self.outputs = "x", WIDTH
        for v in (w, both, u, both, b, w):
            h = self.node("MatMul", self.node("Relu", h), v)
        self.nodes[-1].output[0] = "y"
        self.save(path, self.values)

    def save(self, path, values):
        f32 = TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes, "net",
            [helper.make_tensor_value_info("x", f32, ["batch", WIDTH])],
            [helper.make_tensor_value_info("y", f32,
                                           ["batch", self.outputs])],
            [numpy_helper.from_array(v, n) for n, v in values.items()])
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17)])
        onnx.checker.check_model(model)
        onnx.save(model, path)

    def weights(self):
        return [n for n in self.values if n.startswith("w")]

    def other(self, names):
        """The values with others for these weights."""
        return {n: self.rng.standard_normal(v.shape, np.float32)
                if n in names else v for n, v in self.values.items()}


def judge(net, values, x, folder):
    path = os.path.join(folder, "judge.onnx")
    net.save(path, values)
    return onnxruntime.InferenceSession(path).run(None, {"x": x})[0]


def near(got, want, what):
    scale = max(np.abs(want).max(), 1)
    assert np.abs(got - want).max() <= 1e-5 * scale, \
        f"{what}: {np.abs(got - want).max()} of {scale}"


def outputs(plan, folder, *options):
    path = os.path.join(folder, "out.npz")
    run(TDLRUN, plan, "--kernels", "interpreter", "--inputs",
        os.path.join(folder, "x.npz"), "--outputs", path, *options)
    return np.load(path)["y"]


def make(model, folder, name, *options, batch=BATCH):
    path = os.path.join(folder, f"{name}.plan")
    run(TDLC, "plan", model, "-D", f"batch={batch}", "-o", path, *options)
    return path


def given(net, folder, plan, x):
    """The plan with other weights, all of them or those in use."""
    values = net.other(net.weights())
    path = os.path.join(folder, "w.npz")
    np.savez(path, **{n: values[n] for n in net.weights()})
    near(outputs(plan, folder, "--parameters", path),
         judge(net, values, x, folder), plan)
    near(outputs(plan, folder), judge(net, net.values, x, folder), plan)


def trained(net, folder, model, seed):
    """A checkpoint infers, and evaluates."""
    rng = np.random.default_rng(seed)
    data = os.path.join(folder, "data.npz")
    x = rng.standard_normal((4 * BATCH, WIDTH), np.float32)
    np.savez(data, x=x, label=rng.standard_normal(
        (4 * BATCH, net.outputs), np.float32))
    numbers = [n for n, v in net.values.items()
               if v.dtype == np.float32 and v.ndim == 0]
    named = ["--train-only", "[wk]*"] if numbers and seed % 2 else []
    only = named + (["--freeze", net.weights()[0]] if seed % 2 else [])
    t = make(model, folder, "train", "--train", "--loss", "mse",
             "-k", "2", *only)
    points = os.path.join(folder, "points")
    run(TDLRUN, t, "--kernels", "interpreter", "--data", data, "--checkpoint",
        points, "--learning-rate", "0.01")
    step = np.load(os.path.join(points, "step-4.npz"))
    values = {n: step[n] if n in step else v for n, v in net.values.items()}
    assert any(not np.array_equal(values[n], net.values[n]) for n in values)
    want = judge(net, values, x[:BATCH], folder)
    np.savez(os.path.join(folder, "x.npz"), x=x[:BATCH])
    if named:
        assert all(n in step for n in numbers), numbers
    for name, options in (("infer", ["-k", "2", *named]),
                          ("evaluate", ["-k", "1", "--evaluate", *only])):
        plan = make(model, folder, name, *options)
        near(outputs(plan, folder, "--parameters", points), want, name)


def damage(rng, plan):
    """Makes one of the folds wrong."""
    f = plan["folds"][rng.integers(len(plan["folds"]))]
    kind = rng.integers(0, 5)
    if kind == 0:
        f["output"] = len(plan["tensors"]) + int(rng.integers(0, 9))
    elif kind == 1:
        f["inputs"] = f["inputs"] + [0]
    elif kind == 2:
        f["inputs"] = [f["output"]] * len(f["inputs"])
    elif kind == 3:
        f["output"] = next(i for i, t in enumerate(plan["tensors"])
                           if t["role"] == "result")
    else:
        plan["folds"].append(f)


def refused(folder, p):
    """A damaged plan is, by a row of its folds."""
    # A reader wants a row of a table per line.
    tables = ("kernels", "tensors", "nodes", "buffers", "program")
    head = {k: v for k, v in p.items() if k not in tables}
    text = json.dumps(head)[:-1]
    for t in tables:
        rows = ",\n".join(json.dumps(r) for r in p[t])
        text += f',\n"{t}":[\n{rows}]'
    bad = os.path.join(folder, "bad.plan")
    with open(bad, "w") as f:
        f.write(text + "}\n")
    done = subprocess.run([TDLRUN, bad], capture_output=True, text=True)
    assert done.returncode == 1 and "folds[" in done.stderr, \
        f"{done.returncode} {done.stderr}"


def damaged(rng, folder, path):
    with open(path) as f:
        p = json.load(f)
    if "folds" in p:
        damage(rng, p)
        refused(folder, p)


def damaged_stage(folder, model):
    """A fold reads a result of its stage in place of what another fold makes,
    which is of its shape."""
    path = make(model, folder, "square", "--stages", "2",
                "--micro-batches", "2", "-k", "2", batch=WIDTH)
    with open(path) as f:
        p = json.load(f)
    first = found = 0
    for s in p["stages"]:
        mine = p["tensors"][first:first + s["tensors"]]
        first += s["tensors"]
        results = [i for i, t in enumerate(mine) if t["role"] == "result" and
                   t["shape"] == [WIDTH, WIDTH] and "buffer" in t]
        for fold in s.get("folds", []):
            if len(fold["inputs"]) == 2 and results:
                kept, fold["inputs"][1] = fold["inputs"][1], results[-1]
                refused(folder, p)
                fold["inputs"][1] = kept
                found += 1
    assert found, "no stage has a fold and a result of its size"


def told(model, folder, path):
    """A weight that only folds read has no layout: who asks for one, or wants
    one, is told what lies in its place."""
    with open(path) as f:
        tensors = json.load(f)["tensors"]
    held = [t["name"] for t in tensors if "buffer" in t]
    absent = [t["name"] for t in tensors if t["role"] == "state" and
              "buffer" not in t and t["name"] not in held]
    partly = [t["name"] for t in tensors if t["role"] == "state" and
              "buffer" not in t and t["name"] in held]
    for name in partly[:1]:
        text = run(TDLC, "explain", "--plan", path, "--tensor", name)
        assert "lies on no device: '" in text, text
    for name in absent[:1]:
        for command in (
                ["explain", "--plan", path, "--tensor", name],
                ["plan", model, "-D", f"batch={BATCH}", "-k", "2", "--pin",
                 f"{name}=cut 0", "-o", os.path.join(folder, "no.plan")]):
            done = subprocess.run([TDLC, *command], capture_output=True,
                                  text=True)
            text = " ".join(done.stderr.split())
            assert done.returncode in (1, 2) and any(
                f"no device has '{name}'" in text and f"'{x}' is computed" in
                text for x in held), f"{command}: {done.stderr}"


def one(seed, folder):
    rng = np.random.default_rng(zlib.crc32(b"weights") + seed)
    net = Network(rng)
    model = os.path.join(folder, "net.onnx")
    tied = seed % 4 == 1
    if tied:
        net.build_tied(model)
    else:
        net.build(model, int(rng.integers(1, 4)))
    x = rng.standard_normal((BATCH, WIDTH), np.float32)
    np.savez(os.path.join(folder, "x.npz"), x=x)
    k = str(rng.choice([1, 2, 4]))
    stages = tied or rng.random() < 0.25
    how = ["--stages", "2", "--micro-batches", "2", "-k", "2"] if stages \
        else ["-k", k]
    try:
        plan = make(model, folder, "infer", *how)
    except AssertionError as e:
        if all(why not in str(e) for why in
               ("cannot make 2 stages", "the model has no layers")):
            raise
        plan = make(model, folder, "infer", "-k", k)
    given(net, folder, plan, x)
    if tied:
        damaged_stage(folder, model)
    told(model, folder, plan)
    if not stages:
        damaged(rng, folder, plan)
    if seed % 3 == 0:
        trained(net, folder, model, seed)
    subprocess.run(["rm", "-rf", os.path.join(folder, "points")], check=True)


def check(seed, folder):
    try:
        one(seed, folder)
    except AssertionError as e:
        expect(f"seed {seed}: {e}", False)


if __name__ == "__main__":
    over_seeds(check, 8)
