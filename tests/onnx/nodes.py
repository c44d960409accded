"""Models of one node against ONNX Runtime.

Each case is planned for 1 and for 3 devices, run by the interpreter, and the
results compared: their types, shapes and elements.

	nodes.py [--kernels interpreter|generated] [--devices 1,3] [PREFIX...]
"""
import argparse

import against
from onnx import helper, numpy_helper

from nodes_cases import CASES, Constant


def make(op, inputs, attrs, opset, noutputs):
    """The model, and what is fed to it.  Inputs are arrays, fed;
    Constant(array), known when planning; or None, left out."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    known = [numpy_helper.from_array(x.array, n)
             for n, x in zip(names, inputs) if isinstance(x, Constant)]
    fed = {n: x for n, x in zip(names, inputs)
           if x is not None and not isinstance(x, Constant)}
    outputs = [f"y{i}" for i in range(noutputs)]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, "the_node", **attrs)], "one",
        [helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for n, x in fed.items()],
        [helper.make_empty_tensor_value_info(y) for y in outputs], known)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)],
        ir_version=8), fed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", default="interpreter")
    parser.add_argument("--devices", default="1,3")
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX")
    args = parser.parse_args()

    def run_one(what):
        *spec, tolerance = what
        against.check(*make(*spec), devices=args.devices.split(","),
                      kernels=args.kernels, tolerance=tolerance)

    against.try_all([(name, what) for name, *what in CASES], args.prefixes,
                    run_one)


if __name__ == "__main__":
    main()
