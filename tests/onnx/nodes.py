# Tests: compiler/onnx
"""Models of one node against ONNX Runtime.

Each case is planned for 3 devices, every fourth (with CHECK_ALL=yes each) for 1
too, run by the interpreter, and the results compared: their types, shapes and
elements.  Every operator is tried at
every opset at which ONNX changed it.  What ONNX Runtime has not, ONNX's
reference evaluator judges.

	nodes.py [--kernels interpreter|generated] [--devices 1,3] [--untried]
	         [PREFIX...]
"""
import argparse
import os

import against
from onnx import helper, numpy_helper

from nodes_cases import CASES, Constant
import nodes_microsoft  # noqa: F401 -- adds to CASES
from nodes_opsets import at_every_opset, untried
from programs import ALL, sample  # against knows where it is

SANITIZED = os.environ.get("SANITIZE") == "yes"


def make(op, inputs, attrs, opset, noutputs):
    """The model, and what is fed to it.  Inputs are arrays, fed;
    Constant(array), known when planning; or None, left out.  noutputs is how
    many outputs there are, or a tuple of those that are wanted."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    known = [numpy_helper.from_array(x.array, n)
             for n, x in zip(names, inputs) if isinstance(x, Constant)]
    fed = {n: x for n, x in zip(names, inputs)
           if x is not None and not isinstance(x, Constant)}
    wanted = range(noutputs) if isinstance(noutputs, int) else noutputs
    outputs = [f"y{i}" if i in wanted else "" for i in range(max(wanted) + 1)]
    domain, _, op = op.rpartition("::")
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, "the_node", domain=domain,
                          **attrs)], "one",
        [helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for n, x in fed.items()],
        [helper.make_empty_tensor_value_info(y) for y in outputs if y],
        known)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset),
                              helper.make_opsetid("com.microsoft", 1)],
        ir_version=8), fed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", default="interpreter")
    parser.add_argument("--devices", help="default: 3, and for some 1")
    parser.add_argument("--untried", action="store_true",
                        help="print the operators that have no case")
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX")
    args = parser.parse_args()

    given = args.devices.split(",") if args.devices else None

    def devices(i):
        """What is right when it is cut is so on one device, as a rule."""
        return given or (["1", "3"] if ALL or i % 4 == 0 else ["3"])

    def run_one(what):
        *spec, tolerance, on = what
        against.check(*make(*spec), devices=on, kernels=args.kernels,
                      tolerance=tolerance)

    if args.untried:
        print("\n".join(untried(CASES)))
        return
    # Sanitizers see nothing new in the operators of another opset.
    more, missing = at_every_opset(CASES) if not SANITIZED else ([], [])
    for op, opset in missing:
        print(f"no case of {op} is one at opset {opset}")
    # Differences between opsets are settled before anything is divided.
    cases = [(name, [*what, devices(i)])
             for i, (name, *what) in enumerate(CASES)]
    # The results were judged without sanitizers, of all cases.
    cases = sample(cases, 3 if SANITIZED else 1)
    cases += sample([(name, [*what, (given or ["3"])[-1:]])
                     for name, *what in more])
    against.try_all(cases, args.prefixes, run_one)


if __name__ == "__main__":
    main()
