"""Writes a model of random contractions, as TDL: drawn.py SEED COUNT.

Every variable is a row, a column, a batch, one of a group that shares a matrix,
or is summed over, with extents that are 0, 1, odd, or large enough that copies are
worth it; dimensions are in any order."""
import random
import sys

rng = random.Random(int(sys.argv[1]))
ROLES = {"row": "xz", "col": "yz", "batch": "xyz", "group": "xyz", "sum": "xy"}
ops, inputs, outputs = [], [], []


def draw_roles():
    roles = ["row", "col", "sum"]
    roles += rng.choices(list(ROLES), k=rng.randint(0, 3))
    rng.shuffle(roles)
    return roles


def extent(role):
    if rng.random() < 0.03:
        return 0
    if role in ("batch", "group"):
        return rng.choice([1, 2, 3, 4, 6])
    return rng.choice([1, 2, 5, 8, 13, 21, 34, 48])


def operator(i):
    roles, kind = draw_roles(), rng.choice(["f32", "f64", "f16", "bf16"])
    of = {"x": [], "y": [], "z": []}
    repeat = {}
    for v, role in enumerate(roles):
        if role == "group":
            repeat[v] = rng.choice([2, 3])
        for side in ROLES[role]:
            of[side].append(v)
    for dims in of.values():
        rng.shuffle(dims)
    n = [extent(role) for role in roles]

    def shape(side):
        return [f"{'G' if v in repeat and side != 'y' else 'V'}{v}"
                for v in of[side]]

    def size(side):
        return [n[v] * (repeat[v] if v in repeat and side != "y" else 1)
                for v in of[side]]

    def index(side):
        return ", ".join(f"i{v} / {repeat[v]}" if v in repeat and side == "y"
                         else f"i{v}" for v in of[side])
    bound = ", ".join(f"i{v}" for v in of["z"])
    summed = ", ".join(f"i{v}" for v, r in enumerate(roles) if r == "sum")
    ops.append(f"op p{i}(x[{', '.join(shape('x'))}]: {kind}, "
               f"y[{', '.join(shape('y'))}]: {kind}) "
               f"-> z[{', '.join(shape('z'))}]: {kind} =\n"
               f"    lambda {bound}: Sum(lambda {summed}: "
               f"x[{index('x')}] * y[{index('y')}])\n")
    for side in "xy":
        inputs.append(f"    input {side}{i}[{', '.join(map(str, size(side)))}]"
                      f": {kind}\n")
    outputs.append(f"    z{i} = p{i}(x{i}, y{i})\n    output z{i}\n")


for op in range(int(sys.argv[2])):
    operator(op)
print("".join(ops) + "model contractions() {\n" + "".join(inputs + outputs) +
      "}")
