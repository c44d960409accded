# Tests: compiler/gradient
"""Derived gradients against PyTorch's autograd, by the road of any operator.

The gradients of the library's operators are derived, each becomes a node of
one model, which is planned and run partitioned, and every third (with
CHECK_ALL=yes each) of another that is run whole; what comes out is what autograd
computes of the same function.

	gradients.py [--only PATTERN] [--seed N] [-v]
"""
import argparse
import fnmatch
import glob
import os
import re
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch

    from gradients_cases import cases
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import ALL, TDLC, TDLRUN, run, sample  # noqa: E402

OPDEFS = os.environ["TDL_OPDEFS"]
TOLERANCE = 2e-5  # of the greatest element


def literal(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, str) and value != "f32":  # an element type
        return f'"{value}"'
    return str(value).lower()


def split(text, separator):
    """At separators that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


class Derived:
    """The library's gradients: a module, and what each operator takes."""

    def __init__(self, folder):
        files = sorted(glob.glob(os.path.join(OPDEFS, "*.tdl")))
        self.path = os.path.join(folder, "gradients.tdl")
        run(TDLC, "compile", "--gradients", *files, "-o", self.path)
        self.heads = {}
        for path in [self.path] + files:
            with open(path, encoding="utf-8") as source:
                self.read_heads(source.read())

    def read_heads(self, text):
        """Parameters, attributes and results by operator, by name."""
        for kind, name, head in re.findall(
                r"^(op|grad) ([\w ]+)(\(.*?) =\n", text, re.S | re.M):
            if kind == "grad":
                name = name.replace(" ", "_grad_")
            given, results = re.fullmatch(r"\((.*)\)\s+->\s+(.*)", head,
                                          re.S).groups()
            params, *attrs = split(given, ";")
            self.heads[name] = (
                [self.name_of(t) for t in split(params, ",")],
                {a.split(":")[0] for a in split(",".join(attrs), ",")},
                [self.name_of(t) for t in split(results.strip("()"), ",")])

    @staticmethod
    def name_of(tensor):
        return tensor.removeprefix("broadcast ").partition("[")[0]


class Model:
    """Nodes of derived operators, each with inputs of its own."""

    def __init__(self, derived):
        self.derived = derived
        self.entries = [f'import "{os.path.basename(derived.path)}"']
        self.nodes, self.inputs, self.outputs = [], [], []
        self.fed, self.wanted = {}, {}

    def add(self, n, case):
        op, data, attrs, function = case
        tensors = {k: torch.tensor(v) for k, v in data.items()}
        smooth = [k for k, t in tensors.items() if t.is_floating_point()]
        for k in smooth:
            tensors[k].requires_grad_()
        results = function(*tensors.values())
        if isinstance(results, torch.Tensor):
            results = results,
        given, loss = dict(data), 0
        for name, y in zip(self.derived.heads[op][2], results):
            dy = torch.randn(y.shape)
            given["d" + name] = dy.numpy()
            # Elements that are not finite take no part in sums.
            loss = loss + torch.where(y.isfinite(), y * dy, 0).sum()
        slopes = torch.autograd.grad(loss, [tensors[k] for k in smooth],
                                     allow_unused=True)
        for k, slope in zip(smooth, slopes):
            if f"{op}_grad_{k}" in self.derived.heads:
                self.add_node(f"{n}_{op}_{k}", f"{op}_grad_{k}", given, attrs,
                              np.zeros_like(data[k]) if slope is None
                              else slope.numpy())

    def add_node(self, name, op, given, attrs, want):
        params, has, _ = self.derived.heads[op]
        call = params + [f"{k} = {literal(v)}" for k, v in attrs.items()
                         if k in has]
        self.entries.append(
            f'onnx "test" "{name}" 1.. ({", ".join(params)}) {{\n'
            f'    return {op}({", ".join(call)})\n}}')
        for p in params:
            array = given[p]
            self.fed[f"{name}.{p}"] = array
            self.inputs.append(onnx.helper.make_tensor_value_info(
                f"{name}.{p}", onnx.helper.np_dtype_to_tensor_dtype(
                    array.dtype), array.shape))
        self.nodes.append(onnx.helper.make_node(
            name, [f"{name}.{p}" for p in params], [name], domain="test"))
        self.outputs.append(onnx.helper.make_tensor_value_info(
            name, onnx.TensorProto.FLOAT, want.shape))
        self.wanted[name] = want

    def save(self, folder):
        with open(os.path.join(folder, "model.tdl"), "w",
                  encoding="utf-8") as out:
            out.write("\n".join(self.entries) + "\n")
        graph = onnx.helper.make_graph(self.nodes, "gradients", self.inputs,
                                       self.outputs)
        onnx.save(onnx.helper.make_model(
            graph, ir_version=10, opset_imports=[
                onnx.helper.make_opsetid("test", 1),
                onnx.helper.make_opsetid("", 21)]),
            os.path.join(folder, "model.onnx"))
        np.savez(os.path.join(folder, "in.npz"), **self.fed)


def compare(model, folder, k, kernels, verbose):
    """The names of what differs."""
    def path(name):
        return os.path.join(folder, name)
    run(TDLC, "plan", path("model.onnx"), "--load", path("model.tdl"),
        "-k", str(k), "-o", path("plan"))
    run(TDLRUN, path("plan"), "--kernels", kernels, "--verify",
        "--inputs", path("in.npz"), "--outputs", path("out.npz"))
    bad, got = [], np.load(path("out.npz"))
    for name, want in model.wanted.items():
        scale = max(1, np.abs(want).max())
        error = np.abs(got[name] - want).max() / scale
        if verbose:
            print(f"{name}, k = {k}: {error:.1e}")
        if not error <= TOLERANCE:
            print(f"FAIL: {name}, k = {k}, {kernels}: off by {error:.1e}")
            bad.append(name)
    print(f"k = {k}, {kernels} kernels: {len(model.wanted)} gradients, "
          f"{len(bad)} wrong", flush=True)
    return bad


def try_some(derived, chosen, folder, *how):
    model = Model(derived)
    for n, case in chosen:
        model.add(n, case)
    model.save(folder)
    return compare(model, folder, *how)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", metavar="PATTERN")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("TDL_CACHE", folder)
        derived = Derived(folder)
        chosen = sample([(n, case) for n, case in enumerate(cases(args.seed))
                         if fnmatch.fnmatchcase(case[0], args.only)])
        if not chosen:
            parser.error("there is no such case")
        # The compiler takes longer than all the rest.
        bad = try_some(derived, chosen if ALL else chosen[::3], folder, 1,
                       "generated", args.verbose)
        bad += try_some(derived, chosen, folder, 3, "interpreter",
                        args.verbose)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
