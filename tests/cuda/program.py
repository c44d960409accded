#!/usr/bin/env python3
# Tests: compiler/codegen runtime/cuda
"""Programs that `tdlc plan --emit-cuda` writes, run on the host with emulated
kernels, compute the same as tdlrun.  If there is an nvcc, it builds one of
them."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from programs import sample  # noqa: E402

TDLC = os.environ["TDLC"]
TDLRUN = os.environ["TDLRUN"]
CXX = os.environ.get("CXX", "c++")

MODELS = [
    ("mlp", 4, 2, ["batch=6", "inputs=5", "width=7", "depth=2", "classes=3"],
     ["--train", "--optimizer", "sgd,momentum=0.9"]),
    # Its gradients are summed up in buckets.
    ("alexnet", 2, 2, ["batch=4", "classes=5", "image=63", "width=2",
                       "hidden=6"],
     ["--train", "--algorithm", "data-parallel", "--memory", "9M",
      "--bucket-bytes", "1M"]),
    ("gpt2", 3, 1, ["layers=1", "heads=3", "width=12", "tokens=5", "batch=2",
                    "vocabulary=11"], ["--algorithm", "megatron"]),
    ("bert", 2, 2, ["layers=1", "heads=2", "width=12", "tokens=5", "batch=2",
                    "vocabulary=11"], ["--train", "--algorithm", "megatron"]),
    ("resnet", 2, 1, ["depth=18", "batch=2", "image=17", "width=4",
                      "classes=3"], ["--algorithm", "data-parallel"]),
]
TYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64,
         "i32": np.int32, "bool": np.bool_}


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True, **options)
    if done.returncode:
        sys.exit(f"{command}: status {done.returncode}\n{done.stdout}"
                 f"{done.stderr}")
    return done.stdout


def make_plan(folder, name, workers, defines, options):
    plan = folder / f"{name}.plan"
    words = [w for d in defines for w in ("-D", d)]
    run(TDLC, "plan", TOP / f"examples/models/{name}.tdl", "-k", workers,
        "--emit-cuda", folder / name, "-o", plan, *words, *options)
    return plan


def make_inputs(folder, plan):
    """Values of all inputs, as one .npz and as a folder of .npy."""
    random = np.random.default_rng(1)
    said = json.loads(plan.read_text())
    arrays = {}
    for number in said["inputs"]:
        tensor = said["tensors"][number]
        shape = [int(n) for n in tensor["shape"]]
        kind = np.dtype(TYPES[tensor["type"]])
        if number == said.get("training", {}).get("learning_rate"):
            arrays[tensor["name"]] = np.full(shape, 0.05, kind)
        elif kind.kind == "f":
            arrays[tensor["name"]] = random.uniform(
                -1, 1, shape).astype(kind)
        else:
            arrays[tensor["name"]] = random.integers(0, 2, shape).astype(kind)
    inputs = folder / "in"
    inputs.mkdir()
    np.savez(folder / "in.npz", **arrays)
    for name, x in arrays.items():
        np.save(inputs / f"{name}.npy", x)
    return folder / "in.npz", inputs


def build(program):
    """A program for the host out of that for CUDA."""
    texts = sorted(program.glob("kernels*.cu")) + [program / "transfer.cu"]
    whole = program / "all.cu"
    whole.write_text("\n".join(t.read_text() for t in texts))
    run("sh", HERE / "emulate.sh", f"-I{program}", "-o",
        program / "kernels.so", whole)
    names = run("nm", "-D", "--defined-only", program / "kernels.so")
    assert "emu_run" in names
    declared = (program / "plan.cu").read_text()
    kernels = [f"tdl_kernel_{i}" for i in range(10000)
               if f"tdl_kernel_{i}(" in declared]
    moves = (program / "boxes.h").read_text()
    kinds = ["F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64",
             "U32", "U16", "U8"]
    assert all(f"ROW(R, {k})" in moves for k in kinds)
    kernels += [f"combine_{r}_{k}" for r in ("SUM", "PROD", "MAX", "MIN")
                for k in kinds]
    kernels += ["combine_AND_BOOL", "combine_OR_BOOL"]
    kernels += [f"copy_{n}" for n in (1, 2, 4, 8)]
    stubs = program / "stubs.c"
    stubs.write_text("".join(f"void {k}(void) {{}}\n" for k in kernels))
    common = ["-O1", "-g", "-std=gnu++17", "-w", "-D__global__=",
              f"-I{HERE / 'program'}", f"-I{program}"]
    run(CXX, *common, "-rdynamic", "-x", "c++", program / "main.cu",
        program / "plan.cu", HERE / "program/runtime.cc", "-x", "c", "-std=c11",
        stubs, "-o", program / "host", "-ldl")


def compare(name, got, want):
    assert got.shape == want.shape and got.dtype == want.dtype, name
    if want.dtype.kind != "f":
        assert (got == want).all(), name
        return 0.0
    norm = np.linalg.norm(want.astype(np.float64))
    error = np.linalg.norm(got.astype(np.float64) - want.astype(np.float64))
    assert np.isfinite(error), name
    assert error <= 1e-5 * norm + 1e-7, (name, error, norm)
    return error / norm if norm else 0.0


def check(folder, name, workers, steps, defines, options):
    plan = make_plan(folder, name, workers, defines, options)
    folder = folder / name
    npz, inputs = make_inputs(folder, plan)
    build(folder)
    out = folder / "out"
    out.mkdir()
    for gpus in {"GPUS": "3", "APART": ""}, {"GPUS": "2"}, {}:
        said = run(folder / "host", "--steps", steps, inputs, out, cwd=folder,
                   env=os.environ | gpus)
        one = gpus.keys() != {"GPUS"} or workers == 1
        assert f"{workers} workers on {1 if one else 2} GPUs" in said, said
    run(TDLRUN, plan, "--inputs", npz, "--steps", steps, "--outputs",
        folder / "want.npz")
    want = np.load(folder / "want.npz")
    worst = max(compare(f"{name}: {n}", np.load(out / f"{n}.npy"), want[n])
                for n in want.files)
    print(f"{name}: {len(want.files)} arrays, {workers} workers, error "
          f"{worst:.1e}")
    return folder


LONG = "long" * 80
HALVES = f"""
import "elementwise.tdl"
model halves() {{
    input x[70, 90]: f16
    input y[5, 7]: bf16
    input z[]: f16
    x = neg(x)
    y = neg(y)
    {LONG} = neg(z)
    output x, y, {LONG}
}}
"""


def check_defaults(folder):
    """Inputs without given values have those that tdlrun gives them, bit for
    bit."""
    model = folder / "halves.tdl"
    model.write_text(HALVES)
    plan = folder / "halves.plan"
    program = folder / "halves"
    run(TDLC, "plan", model, "-k", 2, "--emit-cuda", program, "-o", plan)
    build(program)
    empty, out = program / "in", program / "out"
    empty.mkdir()
    out.mkdir()
    run(program / "host", empty, out, cwd=program)
    run(TDLRUN, plan, "--outputs", program / "want.npz")
    want = np.load(program / "want.npz")
    for name in want.files:
        got = np.load(out / f"{name[:200]}.npy")
        assert got.tobytes() == want[name].tobytes(), name
    print("halves: inputs without given values are tdlrun's")


def check_weights(folder):
    """Weights in a file, without a plan beside the program."""
    model = TOP / "tests/golden/plan/matmul.onnx"
    for name, options in ("alone", []), ("both", ["-o", folder / "both.plan"]):
        run(TDLC, "plan", model, "-k", 2, "--emit-cuda", folder / name,
            *options)
    alone, both = (folder / name / "constants.bin" for name in
                   ("alone", "both"))
    assert alone.read_bytes() == both.read_bytes() != b""
    print("weights in a file: the same with a plan and without")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_weights(folder)
        check_defaults(folder)
        programs = [check(folder, *m) for m in sample(MODELS)]
        nvcc = shutil.which("nvcc")
        if nvcc:
            run("make", "-C", programs[0], "-j2", f"NVCC={nvcc}",
                "NVCCFLAGS=-O1 -arch=sm_80")
            print("nvcc builds the first")
        else:
            print("there is no nvcc: not built for a GPU")


if __name__ == "__main__":
    main()
