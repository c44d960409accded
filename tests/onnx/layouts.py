# Tests: libtdl compiler/export
"""Layouts of plans in ONNX models, as annotations of IR version 11: onnx's checker
takes them, each device has by them what it has by the plan, nothing else of the
model changes, and `score' of the annotated model finds the plan again.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, call, expect, finish, run, sample  # noqa: E402

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RNG = np.random.default_rng(3)


def model(nodes, inputs, outputs, weights):
    graph = helper.make_graph(
        [helper.make_node(*n[:3], name=f"node {i}#", **n[3])
         for i, n in enumerate(nodes)], "net",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
         for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
         for n, s in outputs.items()],
        [numpy_helper.from_array(
            RNG.standard_normal(s).astype(np.float32), n)
         for n, s in weights.items()])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def networks():
    yield "mlp", model(
        [("MatMul", ["x", "w/1"], ["h[0]"], {}),
         ("Add", ["h[0]", "b #1"], ["h=1"], {}),
         ("Relu", ["h=1"], ["h2"], {}), ("MatMul", ["h2", "w*2"], ["y"], {})],
        {"x": [8, 16]}, {"y": [8, 8]},
        {"w/1": (16, 32), "b #1": (32,), "w*2": (32, 8)})
    yield "conv", model(
        [("Conv", ["x", "w"], ["h"], {"pads": [1, 1, 1, 1]}),
         ("Relu", ["h"], ["r"], {}),
         ("GlobalAveragePool", ["r"], ["m"], {}),
         ("Flatten", ["m"], ["f"], {}),
         ("Gemm", ["f", "v", "b"], ["y"], {"transB": 1})],
        {"x": [8, 4, 12, 12]}, {"y": [8, 6]},
        {"w": (24, 4, 3, 3), "v": (6, 24), "b": (6,)})
    yield "folded", model(
        [("Transpose", ["w"], ["t"], {"perm": [1, 0]}),
         ("Mul", ["t", "s"], ["u"], {}), ("MatMul", ["x", "u"], ["h"], {}),
         ("Relu", ["h"], ["y"], {})],
        {"x": [8, 16]}, {"y": [8, 24]}, {"w": (24, 16), "s": (24,)})
    yield "odd", model(
        [("Mul", ["x", "s"], ["h"], {}), ("Softmax", ["h"], ["p"], {}),
         ("MatMul", ["p", "w"], ["y"], {})],
        {"x": [5, 7, 9]}, {"y": [5, 7, 3]}, {"s": (7, 1), "w": (9, 3)})


def pieces(spec, shape, k):
    """By an annotation, the part of each device: per dimension (number, of)."""
    groups = {g.key: list(g.value) for g in spec.index_to_device_group_map}
    dims = [(d.axis, int(np.prod([s.num_shards for s in d.simple_sharding])))
            for d in spec.sharded_dim]
    found = {}
    for device, where in zip(spec.device, itertools.product(
            *(range(n) for _, n in dims)), strict=True):
        part = [(0, 1)] * len(shape)
        for (axis, n), i in zip(dims, where):
            part[axis] = (i, n)
        for w in groups.get(device, [device]):
            assert w not in found, f"device {w} twice"
            found[w] = tuple(part)
    assert sorted(found) == list(range(k)), found
    return found


def planned(tensor, mesh):
    """The same by a plan."""
    found = {}
    for w, at in enumerate(itertools.product(*(range(n) for n in mesh))):
        part = [(0, 1)] * len(tensor["shape"])
        for cut, i, n in zip(tensor["cuts"], at, mesh):
            if cut is not None:
                part[cut] = (part[cut][0] * n + i, part[cut][1] * n)
        found[w] = tuple(part)
    return found


def check(folder, name, net, planner, k):
    source, plan, out = (os.path.join(folder, f) for f in
                         ("net.onnx", "net.plan", "out.onnx"))
    onnx.save(net, source)
    figures = call(TDLC, "plan", source, "-k", str(k), "--algorithm", planner,
                   "-o", plan)
    run(TDLC, "export", plan, "--to", "onnx", "--model", source, "-o", out)
    made = onnx.load(out)
    onnx.checker.check_model(made, full_check=True)
    expect("the version", made.ir_version == 11)
    (configuration,) = made.configuration
    expect("the devices", configuration.num_devices == k)
    shown = call(TDLC, "show", plan)
    tensors = {t["name"]: t for t in shown["tensors"]}
    seen = set()
    for node in made.graph.node:
        for c in node.device_configurations:
            expect("its name", c.configuration_id == configuration.name)
            for spec in c.sharding_spec:
                t = tensors[spec.tensor_name]
                seen.add(spec.tensor_name)
                expect(f"{spec.tensor_name} is of {node.name}",
                       spec.tensor_name in [*node.input, *node.output])
                expect(f"{name} {planner} {k}: {spec.tensor_name}",
                       pieces(spec, t["shape"], k) ==
                       planned(t, shown["mesh"]))
    named = {n for node in made.graph.node for n in [*node.input, *node.output]}
    stored = {n for n, t in tensors.items() if t["bytes_per_device"] > 0}
    expect(f"{name}: all have layouts", seen == named & stored)
    for node in made.graph.node:
        del node.device_configurations[:]
    expect("nothing else changes", made.graph == net.graph and
           made.opset_import == net.opset_import)
    pins = call(TDLC, "score", out, "-k", str(k))["pinned"]
    if planner == "tofu":
        expect(f"{name} {k}: {pins['communication_bytes']} by the pins",
               pins["communication_bytes"] == figures["communication_bytes"])


def fails(what, *command):
    done = subprocess.run([TDLC, *command], capture_output=True, text=True)
    expect(f"{command}: {done.stderr}", done.returncode == 1 and
           what in done.stderr and "[no-layouts]" in done.stderr)


def check_refused(folder):
    mlp, conv = (n for name, n in networks() if name in ("mlp", "conv"))
    at = {f: os.path.join(folder, f) for f in
          ("net.onnx", "other.onnx", "net.plan", "out.onnx", "b/out.onnx")}
    onnx.save(mlp, at["net.onnx"])
    run(TDLC, "plan", at["net.onnx"], "-k", "4", "-o", at["net.plan"])
    for n in conv.graph.node:
        n.input[0] += "'"
        n.output[0] += "'"
    other = helper.make_model(helper.make_graph([], "none", [], []))
    onnx.save(other, at["other.onnx"])
    export = ["export", at["net.plan"], "--to", "onnx"]
    fails("another model", *export, "--model", at["other.onnx"], "-o",
          at["out.onnx"])
    expect("nothing is written", not os.path.exists(at["out.onnx"]))
    run(TDLC, *export, "--model", at["net.onnx"], "-o", at["out.onnx"])
    fails("annotated for 4", "score", at["out.onnx"], "-k", "2")
    made = onnx.load(at["out.onnx"])
    spec = made.graph.node[0].device_configurations[0].sharding_spec[0]
    for change in (lambda s: s.device.append(0),
                   lambda s: s.device.__setitem__(0, 7),
                   lambda s: s.sharded_dim.add(axis=5)):
        broken = onnx.ModelProto()
        broken.CopyFrom(made)
        change(broken.graph.node[0].device_configurations[0].sharding_spec[0])
        onnx.save(broken, at["other.onnx"])
        fails(f"'{spec.tensor_name}'", "score", at["other.onnx"], "-k", "4")
    os.mkdir(os.path.join(folder, "b"))
    onnx.save(mlp, at["net.onnx"], save_as_external_data=True,
              location="net.bin", size_threshold=0)
    fails("that folder", *export, "--model", at["net.onnx"], "-o",
          at["b/out.onnx"])
    run(TDLC, *export, "--model", at["net.onnx"], "-o", at["out.onnx"])


def check_exported():
    """Networks of PyTorch's, as its older exporter writes them."""
    try:
        from exported import Export, export, exported_nets
    except SystemExit:  # it has said why
        return
    every = list(itertools.product(
        ["resnet", "gpt2", "llama", "mixtral", "unet"], [2, 4, 8]))
    for name, k in sample(every, 4):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "exported.onnx")
            export(exported_nets.build(name), Export("script", 17, False), path)
            check(folder, name, onnx.load(path), "tofu", k)


def main():
    every = list(itertools.product(networks(), ["tofu", "joint",
                                                "data-parallel"], [2, 4, 6, 8]))
    for (name, net), planner, k in sample(every, 5):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(folder, name, net, planner, k)
            except (AssertionError, ValueError, KeyError,
                    json.JSONDecodeError) as e:
                expect(f"{name} {planner} {k}: {type(e).__name__}: {e}", False)
    with tempfile.TemporaryDirectory() as folder:
        check_refused(folder)
    check_exported()
    finish()


main()
