"""Models of TDL as data: their text, and their twins in PyTorch.

A model is {"sizes": {name: number}, "operators": [..], "defs": {..}, "body":
[statement, ..]}, all of it JSON.  A statement is a list:

	["input", name, dims, type, below]    below: what indices are below
	["param", name, dims], ["state", name, dims]
	["next", state, tensor]
	["call", operator, arguments, attributes, results]
	["block", def, arguments, result]
	["loop", variable, times, statements]
	["alias", name, tensor]               another name, as before a loop
	["batch_norm", arguments, result]     in training and without
	["output", name]

Dimensions, attributes and numbers are expressions in the words of TDL, which
are evaluated here as Python: `/` is the floor of a quotient.
"""
import zlib

import numpy as np
import torch

import lambdas
import twins

NUMPY = {"f32": "f4", "i64": "i8", "bool": "?"}


# ---- text -------------------------------------------------------------------

def text_of_statement(s, indent):
    word, rest = s[0], s[1:]
    if word in ("input", "param", "state"):
        of = f": {rest[2]}" if word == "input" and rest[2] != "f32" else ""
        line = f"{word} {rest[0]}[{', '.join(rest[1])}]{of}"
        return [indent + line + (" = 0" if word == "state" else "")]
    if word == "next":
        return [f"{indent}next {rest[0]} = {rest[1]}"]
    if word == "call":
        words = [*rest[1], *(f"{a} = {v}" for a, v in rest[2].items())]
        return [f"{indent}{', '.join(rest[3])} = "
                f"{rest[0]}({', '.join(words)})"]
    if word == "block":
        return [f"{indent}{rest[2]} = {rest[0]}({', '.join(rest[1])})"]
    if word == "alias":
        return [f"{indent}{rest[0]} = {rest[1]}"]
    if word == "output":
        return [f"{indent}output {rest[0]}"]
    assert word == "loop", s
    return [f"{indent}for {rest[0]} < {rest[1]} {{",
            *text_of_body(rest[2], indent + "    "), indent + "}"]


def text_of_body(body, indent="    "):
    return [line for s in body for line in text_of_statement(s, indent)]


BATCH_NORM = """
def batch_normed(x) {
    param scale[shape(x)[1]]
    param bias[shape(x)[1]]
    state mean[shape(x)[1]] = 0
    state var[shape(x)[1]] = 1
    if not training {
        return batch_norm(x, scale, bias, mean, var)
    }
    y, m, v = batch_norm_training(x, scale, bias, mean, var)
    next mean = m
    next var = v
    return y
}
"""


def text_of_model(model):
    lines = [lambdas.text_of_operator(op) for op in model["operators"]]
    if any(s[1] == "batch_normed" for s in statements(model["body"])
           if s[0] == "block"):
        lines.append(BATCH_NORM)
    for name, d in model["defs"].items():
        lines += [f"def {name}({', '.join(d['takes'])}) {{",
                  *text_of_body(d["body"]), f"    return {d['gives']}", "}", ""]
    sizes = ", ".join(f"{n} = {v}" for n, v in model["sizes"].items())
    lines += [f"model drawn({sizes}) {{", *text_of_body(model["body"]), "}", ""]
    return "\n".join(lines)


def statements(body):
    """All of them, those of loops included."""
    for s in body:
        yield s
        if s[0] == "loop":
            yield from statements(s[3])


# ---- the twin ---------------------------------------------------------------

class Data:
    """What inputs, weights and states are: drawn by their names, so that one
    stays what it is when others go."""

    def __init__(self, seed, coarse=False):
        self.seed, self.coarse = seed, coarse

    def rng(self, name, step=0):
        return np.random.default_rng(
            [self.seed, step, zlib.crc32(name.encode())])

    def draw(self, name, dims, kind="f32", below=1, step=0):
        rng = self.rng(name, step)
        if kind == "i64":
            return rng.integers(0, max(below, 1), dims)
        if kind == "bool":
            return rng.random(dims) < 0.6
        x = rng.standard_normal(dims)
        if name.endswith("var"):
            x = 0.5 + rng.random(dims)
        elif len(dims) > 1 and not name.startswith("x"):
            x = x * min(1.0, 1.5 * dims[-2] ** -0.5)
        if self.coarse:
            x = np.round(x * 2) / 2
        return x.astype("f4").astype("f8")


class Twin:
    """One run of a model.  `given` has inputs and states by name; what is not
    there is drawn, and added."""

    def __init__(self, model, data, given, dtype=torch.float64, step=0,
                 training=False):
        self.model, self.data, self.given = model, data, given
        self.dtype, self.step, self.training = dtype, step, training
        self.operators = {op["name"]: op for op in model["operators"]}
        self.outputs, self.next = {}, {}
        self.inputs, self.params, self.states = {}, {}, {}

    def run(self):
        self.scope = dict(self.model["sizes"])
        self.body(self.model["body"], self.scope, "")
        return self.outputs

    # ---- values -------------------------------------------------------------

    def evaluate(self, text, scope):
        names = {"min": min, "max": max, "true": True, "false": False,
                 "f32": self.dtype,
                 "shape": lambda x: list(x.shape)}
        return eval(str(text).replace("/", "//"), names, scope)

    def tensor(self, text, scope):
        """An argument: the name of a tensor, or a number."""
        if text in scope:
            return scope[text]
        return torch.tensor(float(text), dtype=self.dtype)

    def declare(self, kind, name, dims, scope, what="f32", below=1):
        dims = [self.evaluate(d, scope) for d in dims]
        if min(dims, default=0) < 0:
            raise ValueError(f"{name} would be {dims}")
        where = {"input": self.inputs, "param": self.params,
                 "state": self.states}[kind]
        if name not in self.given:
            self.given[name] = self.data.draw(
                name, dims, what, self.evaluate(below, scope),
                self.step if kind == "input" else 0)
        x = self.given[name]
        if not isinstance(x, torch.Tensor):
            x = torch.tensor(np.asarray(x))
        if list(x.shape) != dims:
            raise ValueError(f"{name} is {list(x.shape)}, not {dims}")
        where[name] = x
        return x.to(self.dtype) if x.is_floating_point() else x

    # ---- statements ---------------------------------------------------------

    def body(self, body, scope, prefix):
        for s in body:
            getattr(self, "do_" + s[0])(scope, prefix, *s[1:])

    def named(self, name, scope):
        """Its name in this round of a loop."""
        return name.format_map(scope) if "{" in name else name

    def do_input(self, scope, prefix, name, dims, kind, below):
        scope[name] = self.declare("input", name, dims, scope, kind, below)

    def do_param(self, scope, prefix, name, dims):
        full = prefix + self.named(name, scope)
        scope[name] = self.declare("param", full, dims, scope)

    def do_state(self, scope, prefix, name, dims):
        scope[name] = self.declare("state", prefix + name, dims, scope)

    def do_next(self, scope, prefix, name, to):
        self.next[prefix + name] = scope[to].detach()

    def do_alias(self, scope, prefix, name, of):
        scope[name] = scope[of]

    def do_output(self, scope, prefix, name):
        self.outputs[name] = scope[name]

    def do_loop(self, scope, prefix, v, times, body):
        for i in range(self.evaluate(times, scope)):
            scope[v] = i
            self.body(body, scope, prefix)

    def do_block(self, scope, prefix, word, arguments, result):
        inner = prefix + result + "."
        values = [self.tensor(a, scope) for a in arguments]
        if word == "batch_normed":
            scope[result] = self.batch_normed(values[0], inner)
            return
        d = self.model["defs"][word]
        own = dict(zip(d["takes"], values, strict=True))
        self.body(d["body"], own, inner)
        scope[result] = own[d["gives"]]

    def batch_normed(self, x, prefix):
        scope = {"C": x.shape[1]}
        scale, bias = (self.declare("param", prefix + n, ["C"], scope)
                       for n in ("scale", "bias"))
        mean, var = (self.declare("state", prefix + n, ["C"], scope)
                     for n in ("mean", "var"))
        if not self.training:
            return twins.batch_norm(x, scale, bias, mean, var)
        y, m, v = twins.batch_norm_training(x, scale, bias, mean, var)
        self.next |= {prefix + "mean": m.detach(), prefix + "var": v.detach()}
        return y

    def do_call(self, scope, prefix, word, arguments, attributes, results):
        values = [self.tensor(a, scope) for a in arguments]
        if word in self.operators:
            made = [lambdas.call(self.operators[word], values)]
        else:
            made = twins.TWINS[word](*values, **{
                a: self.evaluate(v, scope) for a, v in attributes.items()})
            made = made if isinstance(made, tuple) else [made]
        for name, x in zip(results, made, strict=True):
            scope[name] = x
