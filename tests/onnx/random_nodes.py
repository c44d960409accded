"""Nodes with much to choose from, at random settings, against ONNX Runtime.

	random_nodes.py [--cases N] [--seed S] [--kernels interpreter|generated]
			[--devices 1,3] [PREFIX...]
"""
import argparse
import random

import against
import numpy as np
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
        return (0.5 * state.standard_normal(shape)).astype(np.float32)

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


KINDS = [rnn, gru, lstm]


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
        try:
            against.check(*make(*spec), devices=args.devices.split(","),
                          kernels=args.kernels, tolerance=1e-4)
        except Exception as e:
            raise AssertionError(f"{spec[0]} {spec[2]}: {e}") from e

    against.try_all([(f"{kind.__name__}-{i}", (kind, i)) for kind in KINDS
                     for i in range(args.seed, args.seed + args.cases)],
                    args.prefixes, run_one)


if __name__ == "__main__":
    main()
