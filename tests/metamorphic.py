# Tests: compiler/planners compiler/cost compiler/portfolio
"""What a planner finds must not depend on what means nothing.

Random small models are planned, and the same written otherwise: statements in
another order, other names, operands of commutative operators swapped, elements
of twice as many bytes, other numbers for the devices, the plan's own cuts as
pins, more and less memory.
Where a plan is proven to be the best, what it is the best in has to be equal,
to 1e-9, and nothing may be better; with more memory `auto` has to be no worse,
and never worse than any planner with the same limit.  Where nothing is proven
a difference is the spread of a heuristic: it is counted, and printed.  Reordered
statements are the same graph, so that a planner without choices of its own finds
the same plan of both, proven or not.

	metamorphic.py [--seeds FROM:TO | --count N] [--save FOLDER]
	               [--log FILE] [MODEL.tdl ...]

Seeds that are in FILE already are not tried again; of a model that fails what
was planned lies in FOLDER.
"""
import argparse
import collections
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from programs import ALL, TDLC, sample

PLANNERS = ("tofu", "joint", "extended", "levels", "optcnn", "equalchop",
            "spartan", "allrow", "data-parallel", "megatron", "pase")
KEYS = {"time": "predicted_seconds", "bytes": "communication_bytes",
        "memory": "peak_bytes_per_device"}
COMMUTATIVE = ("add", "mul", "maximum", "minimum")
UNARY = ("tanh", "relu", "sigmoid", "square", "exp")
# Without overlap, and with.
MACHINES = ("cpu", "8xh100-nvlink")
MACHINES_OF_DEVICES = ("cpu", 4), ("8xh100-nvlink", 8), ("2x8xh100", 16)
SAME = 1e-9


# ---- models -------------------------------------------------------------------

class Model:
    """Declarations and statements: (result, operator, operands, attributes)."""

    def __init__(self, declared, statements, outputs, train, dtype="f32"):
        self.declared = declared      # (kind, name, shape)
        self.statements = statements
        self.outputs = outputs
        self.train = train
        self.dtype = dtype

    def text(self):
        lines = [f"    {kind} {name}[{', '.join(map(str, shape))}]: "
                 f"{self.dtype}" for kind, name, shape in self.declared]
        lines += [f"    {to} = {op}({', '.join([*operands, *attributes])})"
                  for to, op, operands, attributes in self.statements]
        if self.train:
            lines.append("    output loss")
        lines.append(f"    output {', '.join(self.outputs)}")
        return "model m() {\n" + "\n".join(lines) + "\n}\n"

    def copy(self, **changes):
        return Model(**{**vars(self), **changes})


class Drawer:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.sizes = self.rng.sample((2, 3, 4, 5, 6, 8, 12, 16, 24, 64), 3)
        self.declared, self.statements, self.shapes = [], [], {}

    def declare(self, kind, shape):
        name = f"{kind[0]}{len(self.shapes)}"
        self.declared.append((kind, name, shape))
        self.shapes[name] = shape
        return name

    def add(self, op, operands, shape, *attributes):
        name = f"t{len(self.shapes)}"
        self.statements.append((name, op, operands, attributes))
        self.shapes[name] = shape
        return name

    def another(self, x):
        """One of the shape of x."""
        like = [n for n, s in self.shapes.items() if s == self.shapes[x]]
        if self.rng.random() < 0.3:
            return self.declare("param", self.shapes[x])
        return self.rng.choice(like)

    def step(self):
        x = self.rng.choice(list(self.shapes)[-4:])
        m, n = self.shapes[x]
        kind = self.rng.randrange(8)
        if kind < 2:
            self.add(self.rng.choice(UNARY), [x], (m, n))
        elif kind < 4:
            self.add(self.rng.choice(COMMUTATIVE + ("sub",)),
                     [x, self.another(x)], (m, n))
        elif kind < 6:
            p = self.rng.choice(self.sizes)
            w = self.declare("param", (n, p))
            self.add("matmul", [x, w], (m, p))
        elif kind < 7:
            self.add("transpose", [x], (n, m), "perm = [1, 0]")
        else:
            self.add("softmax", [x], (m, n), "axes = [1]")

    def model(self):
        m, n = self.rng.choice(self.sizes), self.rng.choice(self.sizes)
        self.declare("input", (m, n))
        if self.rng.random() < 0.5:
            self.declare("input", (m, n))
        for _ in range(self.rng.randint(2, 7)):
            self.step()
        read = {o for _, _, operands, _ in self.statements for o in operands}
        made = [s[0] for s in self.statements]
        outputs = [t for t in made if t not in read]
        train = self.rng.random() < 0.35 and any(
            kind == "param" for kind, _, _ in self.declared)
        if train:
            self.sum_up(outputs)
        return Model(self.declared, self.statements, outputs, train)

    def sum_up(self, outputs):
        parts = []
        for t in outputs:
            self.statements.append((f"s{t}", "reduce_sum", [t],
                                    ("axes = [0, 1]",)))
            parts.append(f"s{t}")
        while len(parts) > 1:
            x, y = parts.pop(), parts.pop()
            name = f"u{x}"
            self.statements.append((name, "add", [x, y], ()))
            parts.append(name)
        self.statements.append(("loss", "tanh", [parts[0]], ()))


# ---- the same, written otherwise ------------------------------------------------

def reordered(model, rng):
    """Statements and declarations in another order that is possible."""
    declared = model.declared[:]
    rng.shuffle(declared)
    left, done = model.statements[:], {name for _, name, _ in declared}
    order = []
    while left:
        ready = [s for s in left if set(s[2]) <= done]
        s = rng.choice(ready)
        left.remove(s)
        order.append(s)
        done.add(s[0])
    return model.copy(declared=declared, statements=order)


def renamed(model, rng):
    names = [n for _, n, _ in model.declared] + \
            [s[0] for s in model.statements if s[0] != "loss"]
    new = [f"{rng.choice('abcxyz')}_{i}" for i in range(len(names))]
    rng.shuffle(new)
    to = {**dict(zip(names, new)), "loss": "loss"}
    return model.copy(
        declared=[(k, to[n], s) for k, n, s in model.declared],
        statements=[(to[t], op, [to[o] for o in operands], a)
                    for t, op, operands, a in model.statements],
        outputs=[to[t] for t in model.outputs])


def swapped(model, rng):
    return model.copy(statements=[
        (t, op, operands[::-1] if op in COMMUTATIVE and rng.random() < 0.7
         else operands, a) for t, op, operands, a in model.statements])


def doubled(model, _):
    return model.copy(dtype="f64")


# ---- plans --------------------------------------------------------------------

class Case:
    """A model, the options that it is planned with, and what was found."""

    def __init__(self, seed, folder):
        rng = random.Random(f"case {seed}")
        self.seed, self.folder, self.rng = seed, folder, rng
        self.model = Drawer(seed).model()
        self.k = rng.choice((2, 2, 3, 4, 4, 6, 8))
        self.machine = MACHINES[rng.random() < 0.25]
        self.faults, self.spread = [], {}
        self.nplans = self.nrenumbered = 0

    def write(self, name, model):
        path = os.path.join(self.folder, name + ".tdl")
        with open(path, "w") as f:
            f.write(model.text())
        return path

    def options(self):
        return ["-k", str(self.k), "--topology", self.machine,
                *["--train"] * self.model.train]

    def call(self, command, path, *options):
        """What is found, None where nothing is."""
        words = [TDLC, command, path, *self.options(), *options, "--json"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.nplans += 1
        if done.returncode == 3:
            return None
        assert done.returncode == 0, (words, done.stderr[-500:])
        return json.loads(done.stdout)

    def plan(self, path, *options):
        return self.call("plan", path, *options)

    def fault(self, what):
        self.faults.append(what)

    def compare(self, what, x, y, key, proven):
        """Two that should be equal; is an int or float."""
        if math.isclose(x[key], y[key], rel_tol=SAME):
            return
        more = max(x[key], y[key]) / max(min(x[key], y[key]), 1e-30) - 1
        if proven:
            self.fault(f"{what}: {key} {x[key]} and {y[key]}")
        else:
            self.spread[what] = max(more, self.spread.get(what, 0))


def check_order(case, path):
    """However statements are ordered, the graph is the same: in a step of
    training a tensor's gradient is summed up in one order of its readers, and
    the norm of all gradients in one order of the weights."""
    clip = ["--clip-norm", "1"] * case.model.train
    other = case.write("order", reordered(case.model, case.rng))
    for options in [[], clip] if clip else [[]]:
        x, y = (case.plan(p, "--algorithm", "tofu", *options)
                for p in (path, other))
        for key in KEYS.values():
            case.compare(f"order, tofu {' '.join(options)}", x, y, key, True)


def check_written_otherwise(case, path):
    ways = {"order": reordered, "names": renamed, "operands": swapped}
    first = {o: case.plan(path, "--algorithm", "auto", "--objective", o)
             for o in KEYS}
    joint = case.plan(path, "--algorithm", "joint")
    for name, change in ways.items():
        other = case.write(name, change(case.model, case.rng))
        for o, key in KEYS.items():
            x, y = first[o], case.plan(other, "--algorithm", "auto",
                                       "--objective", o)
            check_pair(case, f"{name}, auto {o}", x, y, key)
        y = case.plan(other, "--algorithm", "joint")
        for p in joint, y:
            p["total"] = p["byte_model"]["total"]
        check_pair(case, f"{name}, joint", joint, y, "total")
    return first, joint


def check_pair(case, what, x, y, key):
    case.compare(what, x, y, key, x["proven"] and y["proven"])
    for p, q in (x, y), (y, x):
        if p["proven"] and q[key] < p[key] * (1 - SAME):
            case.fault(f"{what}: {q[key]} is better than {p[key]}, which is "
                       "said to be the best")


def check_bytes(case, joint):
    """With elements of twice the bytes everything moves twice as much."""
    twice = case.write("doubled", doubled(case.model, None))
    y = case.plan(twice, "--algorithm", "joint")
    total = y["byte_model"]["total"] / 2
    case.compare("doubled, joint", {"total": total}, joint, "total",
                 joint["proven"] and y["proven"])


def pins_of(plan):
    for t in plan["tensor_layouts"]:
        yield f"{t['name']}={','.join(t['layout'])}\n"
    for o in plan["operator_strategies"]:
        words = [f"by {v}" if v else "whole" for v in o["strategy"]]
        yield f"{o['name']}={','.join(words)}\n"


def renumbered(plan, order):
    """The plan's pins with the mesh's axes in another order: the same work on
    the same devices, which have other numbers."""
    def turned(of):
        return [of[i] for i in order]
    layouts = [t | {"layout": turned(t["layout"])}
               for t in plan["tensor_layouts"]]
    strategies = [o | {"strategy": turned(o["strategy"])}
                  for o in plan["operator_strategies"]]
    return {"tensor_layouts": layouts, "operator_strategies": strategies}


def is_renumbering(plan, order):
    """Whether axes that cut the same keep their order: which of them is the
    outer one is more than a number."""
    cuts = [t["layout"] for t in plan["tensor_layouts"]]
    cuts += [o["strategy"] for o in plan["operator_strategies"]]
    swapped_axes = [(i, j) for i, j in itertools.combinations(order, 2)
                    if i > j]
    return not any(c[i] == c[j] and c[i] not in (None, "replicated")
                   for c in cuts for i, j in swapped_axes)


def score_pins(case, path, plan, *options):
    pins = os.path.join(case.folder, "pins")
    with open(pins, "w") as f:
        f.writelines(pins_of(plan))
    return case.call("score", path, "--pins", pins, "--algorithm", "tofu",
                     *options)["pinned"]


def check_devices(case, path):
    """Other numbers for the devices, where all are joined alike, change
    nothing: axes of one extent change places, in two machines those inside
    one."""
    for machine, k in MACHINES_OF_DEVICES:
        options = "--topology", machine, "-k", str(k)
        plan = case.plan(path, "--algorithm", "tofu", *options)
        if plan is None:
            continue
        axes = range(len(plan["mesh"]))
        fixed = machine.startswith("2x")
        orders = [o for o in itertools.permutations(axes)
                  if o != tuple(axes) and o[:fixed] == tuple(axes[:fixed])
                  and is_renumbering(plan, o)]
        if not orders:
            continue
        order = case.rng.choice(orders)
        case.nrenumbered += 1
        x = score_pins(case, path, plan, *options)
        y = score_pins(case, path, renumbered(plan, order), *options)
        for key in KEYS.values():
            case.compare(f"devices of {machine} renumbered {order}", x, y, key,
                         True)


def check_pins(case, path, first, joint):
    """A plan's own cuts as pins are that plan, and no better than the best."""
    if not joint["mesh"]:
        return
    name = case.rng.choice(PLANNERS)
    plan = case.plan(path, "--algorithm", name)
    if plan is None:
        return
    is_so = score_pins(case, path, plan)
    for key in KEYS.values():
        case.compare(f"pins of {name}", is_so, plan, key, True)
    if is_so["byte_model"]["total"] != plan["byte_model"]["total"]:
        case.fault(f"pins of {name}: {is_so['byte_model']}")
    for o in "time", "memory":
        key, best = KEYS[o], first[o]
        if best["proven"] and is_so[key] < best[key] * (1 - SAME):
            case.fault(f"pins of {name} are better in {o} than what is said "
                       f"to be the best: {is_so[key]}, {best[key]}")


def check_memory(case, path, first):
    """With more memory no worse, and never worse than another planner."""
    free = {p: plan for p in PLANNERS
            if (plan := case.plan(path, "--algorithm", p))}
    peaks = sorted({p["peak_bytes_per_device"] for p in
                    [*free.values(), *first.values()]})
    limits = case.rng.sample(peaks, min(len(peaks), 3))
    limits += [case.rng.randint(peaks[0], peaks[-1])]
    before = {}
    for limit in sorted({n for n in limits if n > 0}):
        memory = "--memory", str(limit)
        named = {p: plan for p in free
                 if (plan := case.plan(path, "--algorithm", p, *memory))}
        for o, key in KEYS.items():
            auto = case.plan(path, "--algorithm", "auto", "--objective", o,
                             *memory)
            check_limit(case, f"{limit} bytes, {o}", auto, named, before.get(o),
                        key)
            before[o] = auto or before.get(o)
    for o, key in KEYS.items():
        check_limit(case, f"no limit, {o}", first[o], free, None, key)


def check_limit(case, what, auto, named, before, key):
    """What auto finds with a limit, what others find, and what auto did with
    less memory."""
    others = {**named, "auto with less": before} if before else named
    for p, plan in others.items():
        if not auto:
            case.fault(f"{what}: auto finds nothing, {p} does")
        elif auto[key] > plan[key] * (1 + SAME):
            case.fault(f"{what}: auto has {auto[key]}, {p} {plan[key]}")


def check(seed, folder):
    case = Case(seed, folder)
    path = case.write("model", case.model)
    check_order(case, path)
    first, joint = check_written_otherwise(case, path)
    check_bytes(case, joint)
    check_devices(case, path)
    check_pins(case, path, first, joint)
    check_memory(case, path, first)
    case.proven = [o for o in KEYS if first[o]["proven"]]
    return case


# ---- many ---------------------------------------------------------------------

def save(case, to):
    folder = os.path.join(to, str(case.seed))
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(case.folder):
        with open(os.path.join(case.folder, name)) as f, \
                open(os.path.join(folder, name), "w") as g:
            g.write(f.read())
    with open(os.path.join(folder, "faults"), "w") as f:
        f.write(" ".join(case.options()) + "\n" + "\n".join(case.faults))


def tried_before(log):
    if not log or not os.path.exists(log):
        return set()
    with open(log) as f:
        return {json.loads(line)["seed"] for line in f}


def try_seed(seed, args):
    with tempfile.TemporaryDirectory() as folder:
        case = check(seed, folder)
        if case.faults and args.save:
            save(case, args.save)
    entry = {"seed": seed, "options": case.options(), "faults": case.faults,
             "spread": case.spread, "proven": case.proven}
    if args.log:
        with open(args.log, "a") as f:
            f.write(json.dumps(entry) + "\n")
    return entry


def check_orders(seeds):
    """The number of models that are another graph when reordered."""
    failed = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(seed, folder)
            check_order(case, case.write("model", case.model))
        failed += bool(case.faults)
        for fault in case.faults:
            print(f"FAIL: seed {seed}: {fault}", flush=True)
    return failed


def span(text):
    first, last = text.split(":")
    return range(int(first), int(last))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=span, metavar="FROM:TO")
    parser.add_argument("--save", metavar="FOLDER")
    parser.add_argument("--log", metavar="FILE")
    args = parser.parse_args()
    seeds = args.seeds or sample(range(100 if ALL else 6), 2)
    known, spread = tried_before(args.log), collections.Counter()
    failed = 0 if args.seeds else check_orders(range(60))
    proven = collections.Counter()
    for seed in seeds:
        if seed in known:
            continue
        entry = try_seed(seed, args)
        failed += bool(entry["faults"])
        proven.update(entry["proven"])
        for what, more in entry["spread"].items():
            spread[what] = max(spread[what], more)
        for fault in entry["faults"]:
            print(f"FAIL: seed {seed}: {fault}", flush=True)
    for what, more in sorted(spread.items()):
        print(f"spread, {what}: up to {100 * more:.3g} %")
    print(f"{len(seeds)} models, {failed} with faults; proven: {dict(proven)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
