# Tests: compiler/gradient
"""Gradients of random operators: those that are derived pass `tdlc check`, or
are refused with a reason; agree with differences of the operator in f64
(`tdlc verify --gradients`, which is in f32, bf16 and f16 too); and are the same
by both kinds of kernels, whole and divided.

	gradients.py [--seed N] [--count N] [--each N]

Operator number n of a seed is the same whatever the rest is: `--seed N --count
1 --first n` is that operator alone.  A failing case is made as small as it can
be and printed.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(__file__))
from programs import ALL, TDLC, TDLRUN, sample  # noqa: E402

SIZES = {"N": 4, "M": 3, "K": 5}
NAMES = ["i", "j", "k", "n", "m"]
REDUCERS = ["Sum", "Sum", "Max", "Max", "Min", "Prod", "Mean"]
SMOOTH = ["tanh({})", "sin({})", "sigmoid({})", "exp(tanh({}))", "-{}",
          "({} * 0.5)", "log(1 + {0} * {0})", "sqrt(1 + {0} * {0})"]
KINKED = ["abs({})", "max({}, 0)", "min({}, 0.25)", "max(0, {}, -0.5)"]


# ---- expressions: tuples, of which the first says the kind ------------------

class Maker:
    """One operator, drawn.  A size is a name or a number, a variable a name
    with its size."""

    def __init__(self, draw, name):
        self.draw = draw
        self.op = {"name": name, "params": [], "ints": [], "lets": [],
                   "results": []}

    def chance(self, percent):
        return self.draw.random() * 100 < percent

    def size(self):
        return self.draw.choice(["N", "M", "K", "N", "M", "2", "3", "5"])

    def dims(self, most):
        return [self.size() for _ in range(self.draw.randint(0, most))]

    def variables(self, scope, dims):
        """Variables of these sizes; now and then one hides another."""
        made = []
        for d in dims:
            taken = [v for v, _ in made]
            if not self.chance(5):
                taken = taken + [v for v, _ in scope]
            free = [v for v in NAMES if v not in taken] or [f"v{len(scope)}"]
            made.append((self.draw.choice(free), d))
        return made

    def index(self, scope, size):
        """An index of a dimension, and whether it may be outside."""
        own = [v for v, d in scope if d == size]
        form = self.draw.randrange(13)
        if own and form < 6:
            return self.draw.choice(own), False
        if own and form == 6:
            return f"{size} - 1 - {self.draw.choice(own)}", False
        if own and form == 7:
            return f"{self.draw.choice(own)} / 2", False
        if not scope:
            return (str(self.draw.randrange(int(size))), False) \
                if size.isdigit() else ("0", True)
        v = self.draw.choice(scope)[0]
        w = self.draw.choice(scope)[0]
        if size.isdigit() and form < 9:
            return f"{v} % {size}", False
        if form == 9 and self.op["ints"]:
            name, d = self.draw.choice(self.op["ints"])
            at = [v for v, e in scope if e == d]
            if at:
                return f"{name}[{self.draw.choice(at)}]", True
        c = self.draw.randrange(1, 3)
        return self.draw.choice([
            f"{v} + {c}", f"{v} - {c}", f"2*{v} + {w} - {c}", f"2*{v}",
            f"{v} + {w}", f"{v} - {w}", f"{v} / 2", f"{v} % 3", f"{v}*3 + {c}",
            f"{c} - {v}", f"{v} / 2 + {w}", f"({v} + {w}) / 2", "1"]), True

    def read(self, scope):
        tensors = self.op["params"] + [
            (let[0], [d for _, d in let[1]]) for let in self.op["lets"]]
        name, dims = self.draw.choice(tensors)
        at = [self.index(scope, d) for d in dims]
        guard = None
        if any(outside for _, outside in at) or self.chance(5):
            guard = self.draw.choice(["0", "0", "0", "1", "0.5"])
        return ("read", name, [text for text, _ in at], guard)

    def condition(self, scope, depth):
        if scope and self.chance(60):
            v, w = (self.draw.choice(scope)[0] for _ in range(2))
            return ("text", self.draw.choice([
                f"{v} < {w}", f"{v} % 2 == 0", f"{v} > 0", f"{v} == {w}",
                f"{v} + {w} != 2", f"not {v} >= 1", f"{v} < 2 or {w} == 1",
                f"({v} + {w}) % 2 == 0 and {v} > 0"]))
        return ("cmp", self.draw.choice(["<", ">", "<=", ">="]),
                self.scalar(scope, depth - 1), self.scalar(scope, 0))

    def reduction(self, scope, depth):
        sizes = [self.size() for _ in range(self.draw.choice([1, 1, 2]))]
        own = self.variables(scope, sizes)
        inner = [(v, d) for v, d in scope if v not in dict(own)] + own
        return ("reduce", self.draw.choice(REDUCERS), own,
                self.scalar(inner, depth - 1))

    def scalar(self, scope, depth):
        form = self.draw.randrange(16) if depth > 0 else 0
        if form < 3:
            return self.read(scope)
        if form < 7:
            return ("*", self.scalar(scope, depth - 1),
                    self.scalar(scope, depth - 1))
        if form < 9:
            return (self.draw.choice("+-"), self.scalar(scope, depth - 1),
                    self.scalar(scope, depth - 1))
        if form < 10:
            return ("call", self.draw.choice(SMOOTH + KINKED),
                    self.scalar(scope, depth - 1))
        if form < 11:
            return (self.draw.choice(["max", "min"]),
                    self.scalar(scope, depth - 1),
                    self.scalar(scope, depth - 1))
        if form < 13:
            return ("if", self.condition(scope, depth),
                    self.scalar(scope, depth - 1),
                    self.scalar(scope, depth - 1)
                    if self.chance(70) else ("text", "0"))
        return self.reduction(scope, depth)

    def make(self):
        op, draw = self.op, self.draw
        for name in ["x", "y", "z"][:draw.randint(1, 3)]:
            op["params"].append((name, self.dims(3)))
        for name in ["a", "b"][:draw.choice([0, 0, 1, 2])]:
            op["ints"].append((name, self.size()))
        for name in ["p", "q"][:draw.choice([0, 0, 1, 2])]:
            scope = self.variables([], self.dims(2))
            op["lets"].append((name, scope, self.scalar(scope, 3)))
        for name in ["u", "w"][:draw.choice([1, 1, 1, 2])]:
            scope = self.variables([], self.dims(3))
            op["results"].append((name, scope, self.scalar(scope, 4)))
        return op


# ---- text ------------------------------------------------------------------

def text_of(e):
    kind = e[0]
    if kind == "text":
        return e[1]
    if kind == "read":
        read = f"{e[1]}[{', '.join(e[2])}]"
        return f"({read} else {e[3]})" if e[3] else read
    if kind in "*+-":
        return f"({text_of(e[1])} {kind} {text_of(e[2])})"
    if kind == "cmp":
        return f"{text_of(e[2])} {e[1]} {text_of(e[3])}"
    if kind == "call":
        return e[1].format(text_of(e[2]))
    if kind in ("max", "min"):
        return f"{kind}({text_of(e[1])}, {text_of(e[2])})"
    if kind == "if":
        return (f"(if {text_of(e[1])} then {text_of(e[2])} "
                f"else {text_of(e[3])})")
    return f"{e[1]}(lambda {lambda_of(e[2], e[3])})"


def lambda_of(scope, body):
    names = ", ".join(f"{v} < {d}" for v, d in scope)
    return f"{names}: {text_of(body)}"


def used(op):
    """The operator without what nothing reads."""
    words = " ".join(text_of(body) for _, _, body in op["results"])
    lets = []
    for let in reversed(op["lets"]):
        if re.search(rf"\b{let[0]}\[", words):
            words += " " + text_of(let[2])
            lets.insert(0, let)
    sizes = " ".join([words] + [d for part in lets + op["results"]
                                for _, d in part[1]])
    bound = set()
    params = []
    for name, dims in op["params"] + [(n, [d]) for n, d in op["ints"]]:
        if re.search(rf"\b{name}\[", words) or (set(dims) - bound
                                                & set(re.findall(r"\w+", sizes))):
            params.append((name, dims))
            bound |= set(dims)
    return lets, params


def op_text(op):
    lets, params = used(op)
    ints = dict(op["ints"])
    head = ", ".join(f"{n}[{', '.join(dims)}]"
                     + (": i64" if n in ints else "") for n, dims in params)
    sizes = {d for _, dims in params for d in dims}
    needed = {d for _, scope, _ in op["results"] for _, d in scope}
    needed |= set(re.findall(r"\b[NMK]\b", " ".join(
        [lambda_of(scope, body) for _, scope, body in lets + op["results"]])))
    for d in sorted(needed - sizes):
        if not d.isdigit():
            head += f", of_{d}[{d}]"
    results = ", ".join(f"{n}[{', '.join(d for _, d in scope)}]"
                        for n, scope, _ in op["results"])
    if len(op["results"]) > 1:
        results = f"({results})"
    text = f"op {op['name']}({head}) -> {results} =\n"
    for name, scope, body in lets:
        text += f"    let {name} = lambda {lambda_of(scope, body)}\n"
    for _, scope, body in op["results"]:
        names = ", ".join(v for v, _ in scope)
        text += f"    lambda {names}: {text_of(body)}\n"
    return text


# ---- judging ---------------------------------------------------------------

def tool(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def heads(text):
    """Name, parameters with dimensions and types, results, of operators."""
    for name, given, results in re.findall(
            r"^op (\w+)\((.*?)\)\s*-> (.*?) =\n", text, re.S | re.M):
        yield name, re.findall(r"(\w+)\[([^\]]*)\](?:: (\w+))?", given), results


def numbers(draw, dims, kind):
    if kind == "i64":
        return draw.integers(-1, 6, dims)
    if draw.random() < 0.3:
        return (draw.integers(-2, 3, dims) / 2).astype(np.float32)
    return draw.standard_normal(dims, dtype=np.float32)


def dims_of(text):
    return [int(SIZES.get(d.strip(), d)) for d in text.split(",") if d.strip()]


class Judge:
    def __init__(self, folder, seed):
        self.folder, self.seed = folder, seed
        self.points = self.gradients = self.refused = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def fault(self, ops, run=True):
        """Why one of the operators' gradients is wrong; None."""
        source = self.write("ops.tdl", "\n".join(map(op_text, ops)))
        if tool(TDLC, "check", source)[0]:
            return None if len(ops) == 1 else "check"
        made = self.path("grads.tdl")
        status, _, err = tool(TDLC, "compile", "--gradients", source, "-o",
                              made)
        if status:
            return f"compile: {err}"
        status, _, err = tool(TDLC, "check", made)
        if status:
            return f"the gradient is refused by check: {err}"
        with open(made, encoding="utf-8") as f:
            text = f.read()
        self.refused += len(re.findall(
            r"^// No \w+: (?!it is 0|its elements|no result)", text, re.M))
        return self.slopes(source) or (self.kernels(text) if run else None)

    def slopes(self, source):
        status, out, err = tool(TDLC, "verify", "--gradients", "--json",
                                "--seed", str(self.seed), "--trials", "6",
                                source)
        if status not in (0, 5) or not out:
            return f"verify: {status} {err}"
        for r in json.loads(out)["operators"]:
            self.points += r["slopes"]
            self.gradients += r["gradients"]
            for f in r["findings"]:
                if "gradient" in f["message"]:
                    return (f"{r['name']} by {f['about']}: {f['message']}; "
                            f"{f['example']}")
        return None

    def kernels(self, text):
        """A model of the gradients, by both kinds of kernels."""
        draw = np.random.default_rng(self.seed)
        lines, fed = [], {}
        for name, params, _ in heads(text):
            for p, dims, kind in params:
                fed[f"{name}_{p}"] = numbers(draw, dims_of(dims), kind)
                sizes = ", ".join(map(str, dims_of(dims)))
                lines.append(f"    input {name}_{p}[{sizes}]: "
                             f"{kind or 'f32'}")
            args = ", ".join(f"{name}_{p}" for p, _, _ in params)
            lines.append(f"    out_{name} = {name}({args})")
            lines.append(f"    output out_{name}")
        if not lines:
            return None
        model = self.write("model.tdl", 'import "grads.tdl"\nmodel m() {\n' +
                           "\n".join(lines) + "\n}\n")
        np.savez(self.path("in.npz"), **fed)
        results = []
        for kernels in ("interpreter", "generated"):
            k = "2" if kernels == "interpreter" else "1"
            for words in (
                    (TDLC, "plan", model, "-k", k, "-o", self.path("plan")),
                    (TDLRUN, self.path("plan"), "--kernels", kernels,
                     "--inputs", self.path("in.npz"), "--outputs",
                     self.path("out.npz"))):
                status, _, err = tool(*words)
                if status:
                    return f"{os.path.basename(words[0])}: {err}"
            results.append(dict(np.load(self.path("out.npz"))))
        for name, want in results[0].items():
            got = results[1][name]
            scale = np.abs(want[np.isfinite(want)]).max(initial=1)
            if not np.allclose(got, want, atol=1e-4 * scale, rtol=1e-3,
                               equal_nan=True):
                return f"kernels differ in {name}: {got} and {want}"
        return None


# ---- smaller ones ----------------------------------------------------------

def smaller(e):
    """Expressions in place of e, one step smaller."""
    kids = [x for x in e[1:] if isinstance(x, tuple)]
    for kid in kids:
        if kid[0] not in ("cmp",) and e[0] != "cmp":
            yield kid
    if e[0] != "text" and e[0] != "cmp":
        yield ("text", "1.0")
    if e[0] == "reduce" and len(e[2]) > 1:
        for i in range(len(e[2])):
            yield (*e[:2], e[2][:i] + e[2][i + 1:], e[3])
    for i, x in enumerate(e):
        if isinstance(x, tuple):
            for y in smaller(x):
                yield (*e[:i], y, *e[i + 1:])


def candidates(op):
    for part in ("results", "lets"):
        for i, (name, scope, body) in enumerate(op[part]):
            if part == "results" and len(op[part]) > 1:
                yield {**op, part: op[part][:i] + op[part][i + 1:]}
            for e in smaller(body):
                yield {**op, part: op[part][:i] + [(name, scope, e)]
                       + op[part][i + 1:]}
            for j in range(len(scope)):
                yield {**op, part: op[part][:i]
                       + [(name, scope[:j] + scope[j + 1:], body)]
                       + op[part][i + 1:]}


def shrink(judge, op, why, steps=120):
    key = why.split(":")[0][:12]
    again = True
    while again and steps > 0:
        again = False
        for c in candidates(op):
            steps -= 1
            new = judge.fault([c])
            if new and new.split(":")[0][:12] == key:
                op, why, again = c, new, True
                break
            if steps <= 0:
                break
    return op, why


def make(seed, n):
    draw = random.Random(f"{seed} {n}")
    while True:
        op = Maker(draw, f"f{n}").make()
        if used(op)[1] and len(op_text(op)) < 900:
            return op


def valid_ones(judge, ops):
    """Those in which `tdlc check`, which lists some at a time, finds no
    error."""
    while True:
        texts = [op_text(op) for op in ops]
        path = judge.write("all.tdl", "".join(texts))
        _, _, err = tool(TDLC, "check", path)
        wrong = {int(n) for n in re.findall(r"all\.tdl:(\d+):\d+: error", err)}
        if not wrong:
            return ops
        line, kept = 1, []
        for op, text in zip(ops, texts):
            end = line + text.count("\n")
            if not wrong & set(range(line, end)):
                kept.append(op)
            line = end
        ops = kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=3000 if ALL else 300)
    parser.add_argument("--each", type=int, default=25)
    parser.add_argument("--run-every", type=int, default=4 if ALL else 12)
    parser.add_argument("--go-on", action="store_true")
    args = parser.parse_args()
    faults = valid = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TDL_CACHE"] = folder
        judge = Judge(folder, args.seed)
        last = args.first + args.count
        batches = [range(n, min(n + args.each, last))
                   for n in range(args.first, last, args.each)]
        for batch in sample(batches):
            if faults and not args.go_on:
                break
            ops = valid_ones(judge, [make(args.seed, n) for n in batch])
            valid += len(ops)
            run = batch[0] // args.each % args.run_every == 0
            if not ops or not judge.fault(ops, run):
                continue
            for op in ops:
                why = judge.fault([op])
                if not why:
                    continue
                faults += 1
                print(f"FAIL: --seed {args.seed} --first {op['name'][1:]} "
                      f"--count 1: {why}\n{op_text(op)}", flush=True)
                op, why = shrink(judge, op, why)
                print(f"smaller: {why}\n{op_text(op)}", flush=True)
    print(f"seed {args.seed}: {valid} operators, {judge.gradients} gradients "
          f"at {judge.points} points, {judge.refused} refused, {faults} wrong")
    sys.exit(1 if faults or not valid else 0)


if __name__ == "__main__":
    main()
