# Tests: libtdl
"""The Python package beside tdlc: the same JSON, runs that are NumPy's, faults as
exceptions with their places, and objects that are freed in any order.
"""
import gc
import json
import os
import subprocess
import tempfile
import threading
import tracemalloc
import warnings

import package

package.needs("numpy", "tdl")
import numpy as np  # noqa: E402

import tdl  # noqa: E402
from programs import MODELS, TDLC, call, expect, finish  # noqa: E402

MLP = os.path.join(MODELS, "mlp.tdl")
INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                       "include")
SIZES = {"batch": 8, "inputs": 12, "width": 16, "depth": 2}
CONV = """/// 1-D convolution.
op conv(data[B, X], filter[DX]) -> out[B, X - DX + 1] =
    lambda b, x: Sum(lambda dx: data[b, x + dx] * filter[dx])
"""


def raised(what, kind, call_it):
    """The exception of a call that has to fail."""
    try:
        call_it()
    except kind as e:
        return e
    except Exception as e:  # pylint: disable=broad-except
        expect(f"{what}: {type(e).__name__} in place of {kind.__name__}",
               False)
    else:
        expect(f"{what}: no exception", False)
    return None


def timeless(x):
    """JSON without what differs from run to run."""
    if isinstance(x, dict):
        return {k: timeless(v) for k, v in x.items()
                if k != "search_seconds"}
    return [timeless(y) for y in x] if isinstance(x, list) else x


def operators(folder):
    path = os.path.join(folder, "conv.tdl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(CONV)
    for m in tdl.Module(path), tdl.Module(path, text=CONV):
        expect("the operator's name", "conv" in
               json.dumps(m.operators()))
        shapes = {"shape": {"data": "8x34", "filter": "3"}, "devices": 2}
        ours = m.explain("conv", **shapes)
        theirs = call(TDLC, "explain", "conv", path, "--shape", "data=8x34",
                      "--shape", "filter=3", "-k", "2")
        expect("explain is tdlc's", ours == theirs)
        found = m.verify("conv", trials=3)
        expect(f"its strategies are right, and were tried: {found}",
               found["verified"] and found["operators"][0]["shapes"] > 0)
    expect("the library has matmul",
           "matmul" in json.dumps(tdl.Module().operators()))


def plans(folder):
    options = {"train": True, "optimizer": "sgd"}
    model = tdl.Model(MLP, D=SIZES, **options)
    plan = model.search(4, algorithm="joint")
    words = [w for k, v in SIZES.items() for w in ("-D", f"{k}={v}")]
    theirs = call(TDLC, "plan", MLP, *words, "-k", "4", "--train",
                  "--optimizer", "sgd", "--algorithm", "joint")
    expect("the plan is tdlc's", timeless(plan.report()) == timeless(theirs))
    path = os.path.join(folder, "mlp.plan")
    plan.write(path)
    expect("a plan that is read has the same tables",
           tdl.Plan.load(path).tables() == plan.tables())
    expect("a page", plan.page().startswith("<!"))
    names = [p["algorithm"] for p in
             model.compare(4, algorithm=["tofu", "joint"])["planners"]]
    expect(f"compare has both planners: {names}",
           sorted(names) == ["joint", "tofu"])


def runs():
    """A network of two products, by hand."""
    text = ("model net(batch = 5) {\n    input x[batch, 3]\n"
            "    param w[3, 4]\n    param v[4, 2]\n"
            "    y = matmul(relu(matmul(x, w)), v)\n    output y\n}\n")
    model = tdl.Model("net.tdl", data=text.encode())
    run = model.search(4).run(kernels="interpreter")
    rng = np.random.default_rng(1)
    x, w, v = (rng.normal(size=s).astype("f4")
               for s in ((5, 3), (3, 4), (4, 2)))
    inputs = {"x": x}
    for name, value in ("w", w), ("v", v):
        if name in run.states():
            run.set_state(name, value)
            expect(f"the state {name} is what was set",
                   np.array_equal(run.get_state(name), value))
        else:
            inputs[name] = value
    y = run.step(inputs)["y"]
    expect("the result is NumPy's",
           np.allclose(y, np.maximum(x @ w, 0) @ v, rtol=1e-5, atol=1e-6))
    expect("a transposed input is as good",
           np.array_equal(run.step({**inputs, "x": x.T.copy().T})["y"], y))
    raised("a wrong shape", tdl.UsageError,
           lambda: run.step({**inputs, "x": x[:4]}))


def kept():
    """A weight that is kept in packed form is packed again once it is set."""
    text = ("model net(batch = 8) {\n    input x[batch, 128]\n"
            "    param w[160, 128]\n    y = matmul_nt(x, w)\n"
            "    output y\n}\n")
    run = tdl.Model("net.tdl", data=text.encode()).search(1).run()
    rng = np.random.default_rng(3)
    x = rng.normal(size=(8, 128)).astype("f4")
    for i in range(2):
        w = rng.normal(size=(160, 128)).astype("f4")
        run.set_state("w", w)
        for _ in range(2):
            expect(f"the result with weights {i} is NumPy's", np.allclose(
                run.step({"x": x})["y"], x @ w.T, rtol=1e-4, atol=1e-4))


def outputs():
    """Outputs that others read, that are copies, replicated, divided, carried to
    the next step: each is NumPy's, and stays what it was."""
    text = ("model net(batch = 6, width = 60000) {\n"
            "    input x[batch, 3]\n    input old[batch, 4]\n"
            "    param w[3, 4]\n    param wide[4, width]\n"
            "    y = matmul(x, w)\n    z = relu(y)\n    same = z\n"
            "    new = old + y\n    long = matmul(z, wide)\n"
            "    total = reduce_sum(long, axes=[0, 1])\n"
            "    output y, z, same, new, long, total\n}\n")
    rng = np.random.default_rng(4)
    w, wide = (rng.normal(size=s).astype("f4") for s in ((3, 4), (4, 60000)))
    for devices, carry in (1, None), (2, None), (3, "new=old"):
        model = tdl.Model("net.tdl", data=text.encode(),
                          **({"carry": carry} if carry else {}))
        run = model.search(devices, algorithm="data-parallel").run()
        run.set_state("w", w)
        run.set_state("wide", wide)
        old, seen = np.zeros((6, 4), "f4"), []
        for _ in range(3):
            x = rng.normal(size=(6, 3)).astype("f4")
            y = x @ w
            z = np.maximum(y, 0)
            long = z @ wide
            old = old + y if carry else y
            want = {"y": y, "z": z, "same": z, "new": old, "long": long,
                    "total": long.sum(dtype="f8")}
            given = {"x": x} if carry else \
                {"x": x, "old": np.zeros((6, 4), "f4")}
            got = run.step(given)
            if carry:  # a state is no output
                got["new"] = run.get_state("old")
            seen.append((got, want))
        for step, (got, want) in enumerate(seen):
            for name, value in want.items():
                expect(f"{devices} devices, step {step}: {name}", np.allclose(
                    got[name], value, rtol=1e-3, atol=1e-3))
        addresses = {got["long"].ctypes.data for got, _ in seen}
        column = seen[1][0]["long"][:, 7]
        value = column.copy()
        del seen, got, want
        again = [run.step(given)["long"] for _ in range(2)]
        expect("memory that nobody has is used again",
               any(x.ctypes.data in addresses for x in again))
        expect("a part of an output keeps it", np.array_equal(column, value))


def places(folder):
    """A kernel writes an output, here its address, to the array that is
    returned."""
    path = os.path.join(folder, "place")
    with open(path + ".c", "w", encoding="utf-8") as f:
        f.write("#include <stdint.h>\n#include <tdl/kernel.h>\n"
                "int place(const tdl_kernel_call *call)\n{\n"
                "    double *y = call->outputs[0].data;\n"
                "    y[0] = (double)(uintptr_t)y;\n    return 0;\n}\n")
    done = subprocess.run(
        [*os.environ.get("CC", "cc").split(), "-I", INCLUDE, "-shared",
         "-fPIC", "-o", path + ".so", path + ".c"], check=False)
    if done.returncode:
        return
    text = ("opaque place(x[N]) -> y[N] = \"place\"\n"
            "op places(x[N]) -> y[N] = lambda i: place(x[:])[i]\n"
            "model net(n = 1) {\n    input x[n]: f64\n    y = places(x)\n"
            "    output y\n}\n")
    run = tdl.Model("net.tdl", data=text.encode()).search(1).run(
        kernels_from=path + ".so")
    for _ in range(2):
        y = run.step({"x": np.zeros(1)})["y"]
        expect("an output is where it was computed", y[0] == y.ctypes.data)


def memory():
    """Arrays that nobody has any more leave a run no more memory than a step's
    results take; states leave none."""
    text = ("model net(batch = 1024) {\n    input x[batch, 16]\n"
            "    param w[16, 1024]\n    y = matmul(x, w)\n    z = relu(y)\n"
            "    param v[1024, 2048]\n    long = matmul(z, v)\n"
            "    output y, z\n    output long\n}\n")
    run = tdl.Model("net.tdl", data=text.encode()).search(1).run()
    given = {"x": np.ones((1024, 16), "f4")}
    results = sum(x.nbytes for x in run.step(given).values())
    tracemalloc.start()
    many = [run.step(given) for _ in range(4)]
    states = [run.get_state("v") for _ in range(2)]
    expect("memory is traced", tracemalloc.get_traced_memory()[0] > 4 * results)
    del many, states
    left = tracemalloc.get_traced_memory()[0]
    expect(f"{left} bytes are left of results of {results}",
           left < results + (1 << 20))
    last = run.step(given)["y"]
    del run
    gc.collect()
    left = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    expect(f"{left} bytes are left without the run, of {last.nbytes}",
           left < last.nbytes + (1 << 20))


def stages():
    """A step of training in two stages is that of one stage."""
    model = tdl.Model(MLP, D=SIZES, train=True, optimizer="sgd")
    alone, staged = (
        model.search(2, **options).run(kernels="interpreter")
        for options in ({"micro_batches": 2},
                        {"micro_batches": 2, "stages": 2}))
    rng = np.random.default_rng(2)
    expect(f"the same states: {staged.states()}",
           sorted(staged.states()) == sorted(alone.states()))
    for name in alone.states():
        x = rng.normal(size=alone.get_state(name).shape).astype("f4")
        alone.set_state(name, x)
        staged.set_state(name, x)
        expect(f"the state {name} of a stage is what was set",
               np.array_equal(staged.get_state(name), x))
    inputs = {name: (rng.integers(0, 4, t["shape"]) if t["type"] == "i64"
                     else rng.random(t["shape"])).astype(
                         np.int64 if t["type"] == "i64" else
                         "f8" if t["type"] == "f64" else "f4")
              for name, t in alone._tensors.items() if t["role"] == "input"}
    x, y = alone.step(inputs), staged.step(inputs)
    expect(f"the same outputs: {sorted(y)}", sorted(x) == sorted(y))
    for name, value in x.items():
        expect(f"{name} is that of one stage",
               np.allclose(y[name], value, rtol=1e-4, atol=1e-6))
    for name in alone.states():
        expect(f"{name} behind the step is that of one stage",
               np.allclose(staged.get_state(name), alone.get_state(name),
                           rtol=1e-4, atol=1e-5))


def errors():
    e = raised("a file that is not there", tdl.InputError,
               lambda: tdl.Model("none.tdl"))
    expect("it says which", e and "none.tdl" in str(e))
    e = raised("a text with a fault", tdl.InputError,
               lambda: tdl.Module("bad.tdl", text="op f(a[N]) -> b[N] =\n"
                                  "    lambda i: a[j]\n"))
    d = e.diagnostics[0] if e and e.diagnostics else None
    expect(f"its place: {d}", d and d.file == "bad.tdl" and d.line == 2 and
           d.severity == "error")
    model = tdl.Model(MLP, D=SIZES)
    raised("an unknown planner", tdl.UsageError,
           lambda: model.search(2, algorithm="none"))
    raised("an unknown option", tdl.UsageError,
           lambda: model.search(2, no_such_option=True))
    raised("too little memory", tdl.NoPlanError,
           lambda: model.search(2, memory=64))
    raised("too little memory for the context", MemoryError,
           lambda: tdl.Model(MLP, context=tdl.Context(quota=100000)))
    c = tdl.Context()
    c.cancel()
    raised("a call that is cancelled", tdl.CancelledError,
           lambda: tdl.Model(MLP, context=c))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tdl.Model(MLP, D=SIZES).search(2, warn_replicate=1)
    expect("a warning of libtdl is one of Python's",
           any(issubclass(w.category, tdl.TdlWarning) for w in caught))


def lifetimes():
    """A plan outlives its model and the name of its context, in a circle,
    too."""
    class Holder:
        pass
    for _ in range(3):
        h = Holder()
        h.model = tdl.Model(MLP, D=SIZES)
        h.plan = h.model.search(2)
        h.itself = h
        plan = h.plan
        del h
        gc.collect()
        expect("a plan lives on", plan.report()["devices"] == 2)
    results = []

    def work():
        results.append(tdl.Model(MLP, D=SIZES).search(4).report())
    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expect("two contexts in two threads", len(results) == 2 and
           timeless(results[0]) == timeless(results[1]))


with tempfile.TemporaryDirectory() as tmp:
    operators(tmp)
    plans(tmp)
    places(tmp)
runs()
kept()
outputs()
memory()
stages()
errors()
lifetimes()
expect("the version", tdl.version().count(".") == 2)
finish()
