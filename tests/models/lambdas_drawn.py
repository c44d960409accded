"""Draws operators: a description as lambdas.py takes it, for a first argument
of a shape that is given, and what the other arguments have to be."""
import itertools

import lambdas

POINTS = 20000  # of a lambda with all its reductions
NAMES = "NMKLPQRSTU"
SMOOTH = [f for f in lambdas.FUNCTIONS if f not in ("floor", "sign")]


class Drawing:
    """One operator while it is drawn.  `sizes` has a number for each size,
    `takes` the parameters."""

    def __init__(self, rng, name, shape, training):
        self.rng, self.name, self.training = rng, name, training
        self.sizes, self.takes, self.lets = {}, [], []
        self.free = iter(NAMES)
        self.counter = itertools.count()
        self.take("x", [self.size_of(n) for n in shape], "f32")
        if any(n > 1 for n in shape) and rng.random() < 0.5:
            self.sizes["W"] = rng.randint(1, min(3, max(shape)))
            self.take("w", ["W"], "f32")
        for other in "ab"[:rng.choice([0, 1, 1, 2])]:
            rank = min(rng.choice([0, 1, 1, 2]), len(self.sizes))
            self.take(other, rng.sample(list(self.sizes), rank), "f32")
        if rng.random() < 0.25 and shape:
            self.below = rng.choice([d for d in self.takes[0][1]])
            dims = rng.sample(list(self.sizes), 1)
            self.take("at", dims, "i64")

    def chance(self, p):
        return self.rng.random() < p

    def size_of(self, n):
        """A name for an extent; equal ones may be one."""
        equal = [d for d, m in self.sizes.items() if m == n]
        if equal and self.chance(0.5):
            return self.rng.choice(equal)
        d = next(self.free)
        self.sizes[d] = n
        return d

    def take(self, name, dims, kind):
        self.takes.append([name, dims, kind])

    def number(self, text):
        return eval(str(text).replace("/", "//"), {}, self.sizes)

    def variable(self, extent, said=False):
        return [f"{self.rng.choice('ijuv')}{next(self.counter)}", extent, said]

    def points(self, scope):
        n = 1
        for _, extent, _ in scope:
            n *= max(self.number(extent), 1)
        return n

    # ---- indices ------------------------------------------------------------

    def inside(self, dim, scope):
        """An index that is inside of a dimension whatever the sizes are, None
        where there is none."""
        found = []
        for v, extent, _ in scope:
            var = ["var", v]
            if extent == dim:
                found += [var] * 6 + [["-", ["size", f"{dim} - 1"], var]]
            elif extent == f"{dim} * 2":
                found += [["/", var, ["int", 2]]] * 3
            elif extent == f"({dim} + 1) / 2":
                found += [["*", ["int", 2], var]] * 3
            elif extent == f"{dim} - W + 1":
                found += [["+", var, ["var", w]] for w, e, _ in scope
                          if e == "W"] * 3
            elif self.number(dim) > 0 and self.chance(0.15):
                found.append(self.rng.choice([
                    ["%", var, ["size", dim]],
                    ["min", ["max", ["-", var, ["int", 1]], ["int", 0]],
                     ["size", f"{dim} - 1"]]]))
        at = self.lookup(dim, scope)
        return self.rng.choice(found + at) if found + at else None

    def lookup(self, dim, scope):
        """An index out of data; the data are below one of the sizes."""
        for name, dims, kind in self.takes:
            if kind == "i64" and self.below == dim:
                v = [s[0] for s in scope if s[1] == dims[0]]
                if v:
                    return [["at", name, [["var", self.rng.choice(v)]]]]
        return []

    def anywhere(self, dim, scope):
        """An index that needs a guard."""
        if not scope:
            return ["int", self.rng.randint(0, 2)]
        var = ["var", self.rng.choice(scope)[0]]
        other = ["var", self.rng.choice(scope)[0]]
        return self.rng.choice([
            ["+", var, ["int", self.rng.randint(0, 2)]],
            ["-", var, ["int", self.rng.randint(1, 2)]],
            ["-", ["*", ["int", 2], var], ["int", 1]],
            ["-", ["size", dim], var], ["+", var, other], ["-", var, other],
            ["/", var, ["int", 2]]])

    # ---- expressions --------------------------------------------------------

    def tensors(self):
        return [t for t in self.takes if t[2] == "f32"] \
            + [[n, [v[1] for v in vs], "f32"] for n, vs, _ in self.lets]

    def read(self, scope):
        name, dims, _ = self.rng.choice(self.tensors())
        indices = [self.inside(d, scope) for d in dims]
        if None not in indices and self.chance(0.85):
            return ["read", name, indices]
        indices = [i if i and self.chance(0.5) else self.anywhere(d, scope)
                   for i, d in zip(indices, dims)]
        return ["guard", name, indices, self.rng.choice([0, 0, 0, 0.5, -1])]

    def leaf(self, scope):
        if self.chance(0.8):
            return self.read(scope)
        if scope and self.chance(0.4):
            return ["*", ["number", 0.25],
                    ["cast", ["var", self.rng.choice(scope)[0]]]]
        return ["number", self.rng.choice([0.5, -0.75, 1.25, 2.0])]

    def reduction(self, scope, depth):
        """Over dimensions of a tensor that is read."""
        name, dims, _ = self.rng.choice(self.tensors())
        new, indices = [], []
        for d in dims:
            index = None if self.chance(0.6) else self.inside(d, scope)
            if index is None and self.points(scope + new) \
                    * max(self.number(d), 1) <= POINTS:
                new.append(self.variable(d, self.chance(0.3)))
                index = ["var", new[-1][0]]
            indices.append(index)
        if not new or None in indices:
            return self.read(scope)
        inner = scope + new
        body = ["read", name, indices]
        if self.chance(0.6):
            body = [self.rng.choice(["*", "*", "-", "over"]), body,
                    self.expression(inner, depth - 1)]
        elif self.chance(0.2):  # the first two cross: halos
            body = ["*", body, self.read(inner)]
        word = self.rng.choice(["Sum"] * 5 + ["Mean", "Max", "Min", "Prod"])
        if any(self.number(n) == 0 for _, n, _ in new):
            word = "Sum"
        if word == "Prod":
            body = ["exp_of", body]
        return [word, new, body]

    def condition(self, scope, depth):
        if scope and self.chance(0.5):
            v, extent, _ = self.rng.choice(scope)
            other = self.rng.choice([["int", 1], ["size", f"{extent} / 2"],
                                     ["var", self.rng.choice(scope)[0]]])
            return ["compare", self.rng.choice(["<", "<=", ">", ">=", "==",
                                                "!="]), ["var", v], other]
        return [self.rng.choice(["<", ">", "<=", ">="]),
                self.expression(scope, depth - 1), ["number", 0.25]]

    def expression(self, scope, depth):
        if depth <= 0:
            return self.leaf(scope)
        kind = self.rng.choice(["leaf", "function", "function", "two", "two",
                                "two", "if", "reduction", "reduction"])
        if kind == "function":
            words = SMOOTH if self.chance(0.9) else ["floor", "sign"]
            return [self.rng.choice(words), self.expression(scope, depth - 1)]
        if kind == "two":
            word = self.rng.choice(list(lambdas.OPERATORS) + ["+", "*", "*"])
            return [word, self.expression(scope, depth - 1),
                    self.expression(scope, depth - 1)]
        if kind == "if":
            return ["if", self.condition(scope, depth),
                    self.expression(scope, depth - 1),
                    self.expression(scope, depth - 1)]
        if kind == "reduction":
            return self.reduction(scope, depth)
        return self.leaf(scope)

    # ---- the whole ----------------------------------------------------------

    def extent(self):
        d = self.rng.choice(list(self.sizes) or ["1"])
        if d == "1" or self.chance(0.7):
            return d
        found = [f"{d} * 2", f"({d} + 1) / 2", f"{d} + 1", "3"]
        if "W" in self.sizes and d != "W" \
                and self.sizes[d] >= self.sizes["W"]:
            found += [f"{d} - W + 1"] * 6
        return self.rng.choice(found)

    def variables(self, said):
        n = min(self.rng.choice([0, 1, 2, 2, 2, 3]), 3)
        while True:
            found = [self.variable(self.extent(), said) for _ in range(n)]
            if self.points(found) <= 2000:
                return found
            n -= 1

    def operator(self):
        if self.chance(0.3):
            v = self.variables(True)
            body = self.expression(v, self.rng.randint(1, 2))
            self.lets.append(["mid", v, body])
        v = self.variables(False)
        body = self.expression(v, self.rng.randint(1, 3))
        if self.chance(0.3):
            body = ["tanh", body]
        body = without_unused(self, body)
        return {"name": self.name, "takes": self.takes, "lets": self.lets,
                "variables": v, "gives": [n for _, n, _ in v], "body": body,
                "sizes": self.sizes,
                "below": getattr(self, "below", None)}


def names_in(e):
    if isinstance(e, list):
        for x in e:
            yield from names_in(x)
    elif isinstance(e, str):
        yield e


def without_unused(drawing, body):
    """Every parameter has a part in the result, as has a `let`."""
    used = set(names_in(body))
    for name, variables, e in drawing.lets:
        if name not in used:
            body = ["+", body, ["Mean", [[v + "m", n, True]
                                         for v, n, _ in variables],
                                ["read", name, [["var", v + "m"] for v, *_ in
                                                variables]]]] if variables \
                else ["+", body, ["read", name, []]]
        used |= set(names_in(e))
    for name, dims, kind in drawing.takes:
        if name in used or kind != "f32":
            continue
        new = [drawing.variable(d, True) for d in dims]
        read = ["read", name, [["var", v[0]] for v in new]]
        body = ["+", body, ["Sum", new, read] if new else read]
    drawing.takes[:] = [t for t in drawing.takes
                        if t[2] == "f32" or t[0] in set(names_in(body)) | used]
    return body


def draw(rng, name, shape, training):
    return Drawing(rng, name, shape, training).operator()
