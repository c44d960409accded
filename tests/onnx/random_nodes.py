# Tests: compiler/onnx
"""Nodes with much to choose from, at random settings, against ONNX Runtime;
Einsum, in which that has faults, against NumPy.

	random_nodes.py [--cases N] [--seed S] [--kernels interpreter|generated]
			[--devices 1,3] [PREFIX...]
"""
import argparse
import os
import random
import tempfile

import against
import numpy as np
import onnx
from nodes import make
from nodes_cases import Constant

ACTIVATIONS = ["Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu",
               "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu",
               "Softsign", "Softplus"]
WITH_ALPHA = {"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
              "HardSigmoid", "Elu"}
WITH_BETA = {"Affine", "ScaledTanh", "HardSigmoid"}


class Draw(random.Random):
    """Random choices, the same for the same seed."""

    def floats(self, *shape):
        state = np.random.default_rng(self.randrange(2 ** 32))
        return np.asarray(0.5 * state.standard_normal(shape), np.float32)

    def maybe(self, value, chance=0.5):
        return value if self.random() < chance else None


def activations(draw, n, attrs):
    """Functions for n places, and alpha and beta for those that have them."""
    names = [draw.choice(ACTIVATIONS) for _ in range(n)]
    attrs["activations"] = names
    for key, having in (("alpha", WITH_ALPHA), ("beta", WITH_BETA)):
        values = [round(draw.uniform(0.1, 0.9), 2)
                  for name in names if name in having]
        if values:
            attrs["activation_" + key] = values


def recurrent(draw, op, gates, functions, more, attrs):
    """Inputs and attributes that RNN, GRU and LSTM share; `more` inputs
    follow initial_h, given batch, directions and hidden size."""
    steps, batch, size, hidden = (draw.randint(1, 5) for _ in range(4))
    attrs["direction"] = draw.choice(["forward", "reverse", "bidirectional"])
    d = 2 if attrs["direction"] == "bidirectional" else 1
    attrs["hidden_size"] = hidden
    if draw.random() < 0.3:
        activations(draw, functions * d, attrs)
    if draw.random() < 0.3:
        attrs["clip"] = round(draw.uniform(0.1, 1), 2)
    lens = np.array([draw.randint(1, steps) for _ in range(batch)], np.int32)
    x = draw.floats(steps, batch, size)
    inputs = [x, Constant(draw.floats(d, gates * hidden, size)),
              Constant(draw.floats(d, gates * hidden, hidden)),
              draw.maybe(Constant(draw.floats(d, 2 * gates * hidden))),
              draw.maybe(lens, 0.3),
              draw.maybe(draw.floats(d, batch, hidden))]
    inputs += more(d, batch, hidden)
    while inputs[-1] is None:
        inputs.pop()
    return op, inputs, attrs, draw.choice([7, 14, 21])


def rnn(draw):
    return *recurrent(draw, "RNN", 1, 1, lambda *_: [], {}), 2


def gru(draw):
    late = {"linear_before_reset": draw.randint(0, 1)}
    return *recurrent(draw, "GRU", 3, 2, lambda *_: [], late), 2


def lstm(draw):
    def more(d, batch, hidden):
        return [draw.maybe(draw.floats(d, batch, hidden)),
                draw.maybe(Constant(draw.floats(d, 3 * hidden)), 0.4)]

    forget = {"input_forget": int(draw.random() < 0.2)}
    return *recurrent(draw, "LSTM", 4, 3, more, forget), 3


def einsum(draw):
    """An equation with diagonals, sums, an ellipsis, and sizes of 1."""
    letters = draw.sample("abcdefgXYZ", draw.randint(1, 5))
    sizes = {c: draw.randint(1, 4) for c in letters}
    dots = draw.random() < 0.4
    outer = [draw.randint(1, 3) for _ in range(draw.randint(0, 2))]
    terms, inputs = [], []
    for _ in range(draw.randint(1, 4)):
        term = [draw.choice(letters) if draw.random() < 0.2 else c
                for c in draw.sample(letters, draw.randint(0, len(letters)))]
        at = draw.randint(0, len(term)) if dots else None
        shape = [sizes[c] for c in term]
        if dots and draw.random() < 0.7:
            own = [n if draw.random() < 0.8 else 1
                   for n in outer[draw.randint(0, len(outer)):]]
            term.insert(at, "...")
            shape[at:at] = own
        terms.append(term)
        inputs.append(draw.floats(*shape))
    used = sorted({c for t in terms for c in t} - {"..."})
    equation = ",".join(map("".join, terms))
    if draw.random() < 0.8:
        out = draw.sample(used, draw.randint(0, len(used)))
        if any("..." in t for t in terms):
            out.insert(draw.randint(0, len(out)), "...")
        equation += " -> " + "".join(out)
    return "Einsum", inputs, {"equation": equation}, 17, 1


def check_einsum(spec, how):
    model, fed = make(*spec)
    expected = np.einsum(spec[2]["equation"], *spec[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        against.check_file(path, fed, {"y0": np.asarray(expected)}, **how)


KINDS = [rnn, gru, lstm, einsum]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10,
                        help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", default="interpreter")
    parser.add_argument("--devices", default="1,3")
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX")
    args = parser.parse_args()

    def run_one(what):
        kind, number = what
        spec = kind(Draw(f"{kind.__name__} {number}"))
        how = {"devices": args.devices.split(","), "kernels": args.kernels,
               "tolerance": 1e-4}
        try:
            if kind is einsum:
                check_einsum(spec, how)
            else:
                against.check(*make(*spec), **how)
        except Exception as e:
            raise AssertionError(f"{spec[0]} {spec[2]}: {e}") from e

    against.try_all([(f"{kind.__name__}-{i}", (kind, i)) for kind in KINDS
                     for i in range(args.seed, args.seed + args.cases)],
                    args.prefixes, run_one)


if __name__ == "__main__":
    main()
