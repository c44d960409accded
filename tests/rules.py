# Tests: compiler/export compiler/analysis
"""Rules for other systems, for all operators of the library.

Each rule that `tdlc explain --format` prints is read by a grammar of its own,
is held against the strategies of the operator (what is divided must be enough
for every part, and what could be divided plainly must be), and the three
formats must say the same.  Where JAX is installed, it reads the rules, too.

	rules.py [-v] [OPERATOR...]
"""
import ast
import json
import os
import random
import re
import subprocess
import sys

from programs import sample

TDLC = os.environ.get("TDLC", "tdlc")
OPDEFS = os.environ["TDL_OPDEFS"]
TRIES = 60
# Sanitizers look at the same code in each round, and for many an operator.
SANITIZED = os.environ.get("SANITIZE") == "yes"
ROUNDS = 1 if SANITIZED else 2
# Operators for which no arguments are found, at most, of as many as say so.
UNTRIED, MANY = 0.1, 50

SIGNATURE = re.compile(r"^op (\w+)\((.*?)\)\s*->", re.S | re.M)
ATTRIBUTE = re.compile(
    r"(\w+)\s*:\s*(int|float|string|bool|type|axis)(\[\d*\])?\s*(=?)")


# ---- arguments for operators -------------------------------------------------


def signatures(folder):
    """By operator: its file; name, type and list of the attributes without a
    default."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".tdl"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                for op, inside in SIGNATURE.findall(f.read()):
                    given = inside.partition(";")[2]
                    found[op] = os.path.join(folder, name), [
                        a[:3] for a in ATTRIBUTE.findall(given) if not a[3]]
    return found


def value(kind, is_list, rng):
    if is_list:
        n = int(is_list[1:-1] or rng.randint(1, 3))
        return ",".join(value(kind, "", rng) for _ in range(n))
    return {"int": lambda: str(rng.choice([0, 1, 1, 2, 2, 3, 4, 6])),
            "axis": lambda: str(rng.randint(0, 2)),
            "float": lambda: "0.5", "string": lambda: "none",
            "bool": lambda: rng.choice(["true", "false"]),
            "type": lambda: "f32"}[kind]()


def permuted(text, rng):
    """A list that is a permutation, now and then."""
    if "," not in text or rng.random() < 0.5:
        return text
    order = list(range(text.count(",") + 1))
    rng.shuffle(order)
    return ",".join(map(str, order))


def shape(dims, sizes, packs, rng):
    """Numbers for the dimensions of an input; None where one is negative."""
    numbers = []
    for d in dims:
        if d.startswith(".."):
            pack = re.sub(r"[^a-zA-Z_].*", "", d.lstrip(".("))
            numbers += packs.setdefault(pack, [
                rng.choice([1, 2, 4, 6, 8]) for _ in range(rng.randint(1, 3))])
            continue
        for word in re.findall(r"[A-Za-z_]\w*", d):
            sizes.setdefault(word, rng.choice([1, 2, 3, 4, 4, 6, 8, 8, 12]))
        try:
            n = eval(d.replace("/", "//"), {"min": min, "max": max}, sizes)
        except (TypeError, SyntaxError, ZeroDivisionError):
            return None
        if n < 0:
            return None
        numbers.append(n)
    return numbers


def packs_of(dims):
    """Parts of one pack, ..(d \\ axes) and ..(d & axes), count once."""
    seen, kept = set(), []
    for d in dims:
        if d.startswith(".."):
            pack = re.sub(r"[^a-zA-Z_].*", "", d.lstrip(".("))
            if pack in seen:
                continue
            seen.add(pack)
        kept.append(d)
    return kept


def arguments(op, attrs, rng):
    sizes, packs, words = {}, {}, []
    for name, kind, is_list in attrs:
        text = permuted(value(kind, is_list, rng), rng)
        words += ["-D", f"{name}={text}"]
        if kind == "int" and is_list:
            packs[name] = [int(n) for n in text.split(",")]
        elif kind == "int":
            sizes[name] = int(text)
    for tensor in op["inputs"]:
        numbers = shape(packs_of(tensor["dims"]), sizes, packs, rng)
        if numbers is None:
            return None
        words.append(f"--shape={tensor['name']}="
                     + "x".join(map(str, numbers)))
    return words or None


# ---- the formats -------------------------------------------------------------


class Rule:
    """Tensors as lists of dimensions, these as lists of factors; and a kind
    for each factor."""

    def __init__(self, inputs, outputs, kinds, sizes=None):
        self.inputs, self.outputs, self.kinds = inputs, outputs, kinds
        self.sizes = sizes or {}

    def renamed(self, names):
        def tensors(ts):
            return [[[names[f] for f in d] for d in t] for t in ts]
        return Rule(tensors(self.inputs), tensors(self.outputs),
                    {names[f]: k for f, k in self.kinds.items()},
                    {names[f]: n for f, n in self.sizes.items()})


def expect(condition, message):
    if not condition:
        raise ValueError(message)


def body(text, mark):
    lines = text.splitlines()
    said = [line[len(mark):].strip() for line in lines
            if line.startswith(mark)]
    rest = "\n".join(line for line in lines if not line.startswith(mark))
    return said, rest


LETTER = r"(?:z_\d+|[i-z])"


def shardy_tensors(text):
    """[i, jk],[] as lists."""
    expect(re.fullmatch(r"(\[[^\]]*\](, )?)*", text), text)
    tensors = []
    for inside in re.findall(r"\[([^\]]*)\]", text):
        dims = inside.split(", ") if inside else []
        for d in dims:
            expect(re.fullmatch(f"{LETTER}+", d), d)
        tensors.append([re.findall(LETTER, d) for d in dims])
    return tensors


def shardy(text):
    said, rest = body(text, "//")
    if not rest:
        return None
    m = re.fullmatch(
        r"#sdy\.op_sharding_rule<\((.*)\)->\((.*?)\)(?: \{(.*?)\})?"
        r"(?: reduction=\{(.*?)\})?(?: need_replication=\{(.*?)\})?"
        r"(?: permutation=\{(.*?)\})?>", rest)
    expect(m, rest)
    sizes = dict(s.split("=") for s in m[3].split(", ")) if m[3] else {}
    order = list(sizes)
    letters = [chr(ord("i") + i) if i < 18 else f"z_{i - 17}"
               for i in range(len(order))]
    expect(order == letters, f"factors {order}")
    kinds = {f: "pass" for f in order}
    for group, kind in ((m[4], "reduce"), (m[5], "whole"), (m[6], "permute")):
        listed = group.split(", ") if group else []
        expect(listed == sorted(listed, key=order.index), f"order {listed}")
        for f in listed:
            expect(kinds[f] == "pass", f"{f} is of two kinds")
            kinds[f] = kind
    rule = Rule(shardy_tensors(m[1]), shardy_tensors(m[2]), kinds,
                {f: int(n) for f, n in sizes.items()})
    used = [f for t in rule.inputs + rule.outputs for d in t for f in d]
    expect(set(used) == set(order), "a factor is not used, or not listed")
    for t in rule.inputs + rule.outputs:
        here = [f for d in t for f in d]
        expect(len(here) == len(set(here)), "a factor comes twice")
    for t in rule.inputs + rule.outputs:
        for d in t:
            expect(len(d) == 1 or all(rule.sizes[f] > 1 for f in d),
                   "a factor of 1 in a product")
    names = {}
    for line in said:
        if re.fullmatch(rf"({LETTER} = \w+(, )?)+", line):
            names = dict(p.split(" = ") for p in line.split(", "))
    expect(set(names) == set(order), f"names {names}")
    return rule.renamed(names)


def words_of(text):
    """a (b c) d as lists."""
    dims = []
    for m in re.finditer(r"\(([^()]*)\)|([^()\s]+)", text):
        dims.append(m[1].split() if m[1] is not None else [m[2]])
    return dims


def jax(text):
    _, rest = body(text, "#")
    if not rest:
        return None
    call = ast.parse(rest, mode="eval").body
    expect(isinstance(call, ast.Call) and call.func.id == "dict", rest)
    given = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
    left, right = given.pop("sharding_rule").split(" -> ") \
        if not given["sharding_rule"].startswith(" ->") \
        else ("", given.pop("sharding_rule")[4:])
    inputs = [words_of(t) for t in left.split(",")]
    outputs = [words_of(t) for t in right.split(",")]
    kinds = {f: "pass" for t in inputs + outputs for d in t for f in d}
    for key, kind in (("reduction_factors", "reduce"),
                      ("need_replication_factors", "whole"),
                      ("permutation_factors", "permute")):
        for f in given.pop(key, ()):
            expect(kinds[f] == "pass", f"{f} is of two kinds")
            kinds[f] = kind
    single = {d[0] for t in inputs + outputs for d in t if len(d) == 1}
    expect(set(given) == set(kinds) - single, f"sizes {given}")
    for f in kinds:
        expect(re.fullmatch(r"[A-Za-z]\w*", f) or f == "...", f)
    return Rule(inputs, outputs, kinds, given)


def nnscaler(text):
    _, rest = body(text, "#")
    if not rest:
        return None
    left, right = rest.split(" -> ")
    kinds = {}

    def tensor(t):
        dims = words_of(t)
        for d in dims:
            for i, word in enumerate(d):
                m = re.fullmatch(r"(\*|\d+|[A-Za-z_]\w*)([+^]?)", word)
                expect(m and m[1].isidentifier() + m[1].isdigit()
                       + (m[1] == "*"), word)
                kind = {"": "pass", "+": "reduce", "^": "whole"}[m[2]]
                expect(kinds.setdefault(m[1], kind) == kind, word)
                d[i] = m[1]
        return dims
    inputs = [tensor(t) for t in left.split(",")]
    known = set(kinds)
    outputs = [tensor(t) for t in right.split(",")]
    for t in outputs:
        for d in t:
            for f in d:
                expect(f.isdigit() or f in known, f"{f} is in no input")
    return Rule(inputs, outputs, kinds)


# ---- what they say -----------------------------------------------------------


def same(one, other):
    """JAX's rule is that of Shardy."""
    expect(one.inputs == other.inputs and one.outputs == other.outputs and
           one.kinds == other.kinds, "shardy and jax differ")


def below(one, other):
    """nnScaler's divides nothing that Shardy's does not."""
    for f, kind in other.kinds.items():
        if kind != "whole" and not f.isdigit():
            expect(one.kinds.get(f) == kind, f"nnscaler divides {f}")
    for a, b in zip(one.inputs + one.outputs, other.inputs + other.outputs):
        expect(len(a) == len(b) or (not a and b == [["1"]]), "rank")


def block(rule, tensor, factor, part):
    """Which elements the part of two has by the rule: by dimension, the
    numbers of the first digit of a product."""
    have = []
    for d in tensor:
        size, at = 1, None
        for f in reversed(d):
            if f == factor:
                at = size
            size *= rule.sizes[f]
        have.append((at, size))
    half = rule.sizes[factor] // 2

    def holds(d, lo, hi):
        at, _ = have[d]
        if at is None or lo >= hi:
            return True
        digits = {i // at % rule.sizes[factor] for i in range(lo, hi)}
        return digits <= set(range(part * half, (part + 1) * half))
    return holds


def is_major(tensor, factor):
    return all(d[0] == factor for d in tensor if factor in d)


def check_strategies(rule, strategies, shapes):
    """Of an operator of one stage: what a factor gives to a part is what a
    strategy needs; and every plain strategy is a factor."""
    n = 0
    for s in strategies:
        name = re.sub(r"\W", "_", s["variable"])
        major = name if name in rule.kinds else f"{name}_0"
        if major not in rule.kinds or s.get("derived") or \
                rule.sizes[major] % 2:
            continue
        n += 1
        kind = rule.kinds[major]
        expect(kind != "reduce" or s.get("reducer") == "Sum", "reducer")
        exact = True
        for p, part in enumerate(s["parts"]):
            tensors = list(zip(rule.inputs, part["inputs"]))
            if s["kind"] == "split":
                tensors.append((rule.outputs[0], part["outputs"][0]))
            for t, got in tensors:
                if kind in ("pass", "reduce") and is_major(t, major):
                    holds = block(rule, t, major, p)
                    expect(all(holds(d, *r)
                               for d, r in enumerate(got["region"])),
                           f"{major}: {got['name']} {got['region']}")
            for t, got in tensors:
                whole = shapes[got["name"]]
                for d, (lo, hi) in enumerate(got["region"]):
                    exact &= [lo, hi] in ([0, whole[d]],
                                          [p * whole[d] // 2,
                                           (p + 1) * whole[d] // 2])
        plain = exact and s["kind"] == "split"
        expect(not plain or kind in ("pass", "permute") or
               not all(is_major(t, major)
                       for t in rule.inputs + rule.outputs),
               f"{major} can be divided and is {kind}")
    return n


class Jax:
    """JAX's own reading of rules; of OpShardingRule too, which it brings."""

    def __init__(self):
        from jax._src import custom_partitioning_sharding_rule as rules
        from jax._src.interpreters import mlir
        from jax._src.lib.mlir import ir
        from jax._src.lib.mlir.dialects import sdy
        self.rules, self.ir, self.sdy = rules, ir, sdy
        self.context = mlir.make_ir_context()

    def types(self, tensors):
        f32 = self.ir.F32Type.get()
        return [self.ir.RankedTensorType.get(shape, f32) for shape in tensors]

    def check(self, shardy_text, jax_text, inputs, outputs):
        """Shapes are lists of numbers."""
        with self.context, self.ir.Location.unknown():
            attribute = self.ir.Attribute.parse(
                "\n".join(line for line in shardy_text.splitlines()
                          if not line.startswith("//")))
            expect(self.sdy.OpShardingRuleAttr.isinstance(attribute),
                   "no OpShardingRule")
            given = eval(body(jax_text, "#")[1])  # it is a call of dict
            made = self.rules.sdy_sharding_rule_to_mlir(
                self.rules.str_to_sdy_sharding_rule(
                    given.pop("sharding_rule"), **given),
                self.types(inputs), self.types(outputs))
            expect(str(made).replace(", custom>", ">") == str(attribute),
                   f"JAX makes {made} of it, not {attribute}")


def load_jax():
    """None where JAX is not installed."""
    try:
        return Jax()
    except ImportError:
        return None


def tdlc(*words):
    return subprocess.run([TDLC, *words], capture_output=True, text=True,
                          timeout=60, check=False)


def shapes_of(words, text):
    """By name; those of the results, which are in the first comment, again in
    their order."""
    shapes, results = {}, []
    for w in words:
        m = re.fullmatch(r"--shape=(\w+)=(.*)", w)
        if m:
            shapes[m[1]] = [int(n) for n in m[2].split("x") if n]
    head = text.splitlines()[0].partition(" -> ")[2]
    for name, dims in re.findall(r"(\w+)\[([^\]]*)\]", head):
        shapes[name] = [int(n) for n in dims.split(", ") if n]
        results.append(shapes[name])
    return shapes, results


def check_sizes(rule, tensors, shapes):
    for t, shape_ in zip(tensors, shapes):
        expect(len(t) == len(shape_), "rank")
        for d, n in zip(t, shape_):
            product = 1
            for f in d:
                product *= rule.sizes[f]
            expect(product == n or rule.kinds[d[0]] == "permute",
                   f"{d} is not {n}")


def check(op, words, with_jax):
    """The number of its strategies that a rule was held against."""
    rules, texts = {}, {}
    for name, read in (("shardy", shardy), ("jax", jax),
                       ("nnscaler", nnscaler)):
        done = tdlc("explain", op["name"], op["file"], *words,
                    f"--format={name}")
        expect(done.returncode == 0, f"--format={name}: {done.stderr}")
        rules[name], texts[name] = read(done.stdout), done.stdout
    rule = rules["shardy"]
    if not op["inputs"]:
        expect(not any(rules.values()), "a rule without inputs")
        return 0
    same(rule, rules["jax"])
    below(rule, rules["nnscaler"])
    shapes, outputs = shapes_of(words, texts["shardy"])
    inputs = [shapes[i["name"]] for i in op["inputs"]]
    check_sizes(rule, rule.inputs + rule.outputs, inputs + outputs)
    if with_jax:
        with_jax.check(texts["shardy"], texts["jax"], inputs, outputs)
    done = tdlc("explain", op["name"], op["file"], *words, "-k", "2", "--json")
    said = json.loads(done.stdout)
    if "stages" in said:
        return 0
    order = [i["name"] for i in op["inputs"]]
    for s in said["strategies"]:
        for part in s["parts"]:
            part["inputs"].sort(key=lambda i: order.index(i["name"]))
    return check_strategies(rule, said["strategies"], shapes)


def symbolic(op):
    """Without shapes there is a rule or a clear message."""
    n = 0
    for name, read in (("jax", jax), ("nnscaler", nnscaler)):
        done = tdlc("explain", op["name"], op["file"], f"--format={name}")
        expect(done.returncode in (0, 2), done.stderr)
        expect(done.returncode == 0 or "--shape" in done.stderr, done.stderr)
        if done.returncode == 0:
            read(done.stdout)
            n += 1
    return n


def main():
    verbose = "-v" in sys.argv
    only = [a for a in sys.argv[1:] if a != "-v"]
    files = [os.path.join(OPDEFS, f) for f in sorted(os.listdir(OPDEFS))
             if f.endswith(".tdl")]
    done = tdlc("compile", *files, "--emit=json", "-o", "-")
    if done.returncode:
        sys.exit(done.stderr)
    known, with_jax = signatures(OPDEFS), load_jax()
    ops = [op for op in json.loads(done.stdout)["operators"]
           if op["name"] in known and (not only or op["name"] in only)]
    if not only:
        ops = sample(ops, 3 if SANITIZED else 1)
    good, tried, strategies, forms = True, 0, 0, 0
    for op in ops:
        rng = random.Random(op["name"])
        op["file"], attrs = known[op["name"]]
        forms += symbolic(op)
        rounds = 0
        for _ in range(TRIES):
            words = arguments(op, attrs, rng)
            if words is None or tdlc("explain", op["name"], op["file"],
                                     *words).returncode:
                continue
            try:
                strategies += check(op, words, with_jax)
            except ValueError as e:
                print(f"FAIL: {op['name']} {' '.join(words)}: {e}")
                good = False
            rounds += 1
            if rounds == ROUNDS:
                break
        tried += rounds > 0
        if verbose and not rounds:
            print(f"no arguments found: {op['name']}")
    print(f"{tried} of {len(ops)} operators, {strategies} strategies, "
          f"{forms} rules before shapes"
          + (", read by JAX" if with_jax else ""))
    if len(ops) >= MANY and tried < (1 - UNTRIED) * len(ops):
        print("FAIL: too few")
        good = False
    sys.exit(0 if good and ops else 1)


if __name__ == "__main__":
    main()
