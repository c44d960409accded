"""Draws models: statements are added one by one, and what comes of each is
computed by the twin at once, so that all of a model is finite and small."""
import random

import torch

import described
import lambdas_drawn
import library

EXTENTS = [1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 12, 13]
ELEMENTS = 1500  # of a tensor, at most
GREATEST = 100.0  # of a number


class Model:
    """A model while it is drawn."""

    def __init__(self, seed, data, training):
        self.rng = random.Random(seed)
        names = "ABCDE"[:self.rng.randint(2, 5)]
        self.description = {
            "sizes": {n: self.rng.choice(EXTENTS) for n in names},
            "operators": [], "defs": {}, "body": []}
        if self.rng.random() < 0.03:
            self.description["sizes"][names[0]] = 0
        self.training = training
        self.twin = described.Twin(self.description, data, {},
                                   training=training)
        self.scope = self.twin.scope = dict(self.description["sizes"])
        self.made, self.used = 0, set()

    def chance(self, p):
        return self.rng.random() < p

    # ---- what is there ------------------------------------------------------

    def names(self, kind):
        dtype = {"f32": torch.float64, "i64": torch.int64,
                 "bool": torch.bool}[kind]
        return [n for n, x in self.scope.items()
                if isinstance(x, torch.Tensor) and x.dtype == dtype]

    def shape(self, name):
        return list(self.scope[name].shape) if name in self.scope else []

    def dims(self, name):
        """The extents as expressions: sizes where they are equal by name."""
        return [f"shape({name})[{i}]" if self.chance(0.5) or n not in
                self.description["sizes"].values() else self.of_extent(n)
                for i, n in enumerate(self.shape(name))]

    def of_extent(self, n):
        return self.rng.choice([s for s, v in self.description["sizes"].items()
                                if v == n])

    def size(self):
        return self.rng.choice(list(self.description["sizes"])) \
            if self.chance(0.8) else str(self.rng.choice(EXTENTS))

    def floats(self, ranks=(0, 1, 2, 3, 4, 5)):
        """A tensor, rather one that nobody has read yet."""
        fit = [n for n in self.names("f32") if len(self.shape(n)) in ranks]
        fresh = [n for n in fit if n not in self.used]
        if fresh and self.chance(0.7):
            return self.rng.choice(fresh)
        return self.rng.choice(fit) if fit else None

    def axes(self, x, least):
        n = len(self.shape(x))
        return str(sorted(self.rng.sample(range(n), min(
            self.rng.randint(least, 2), n))))

    # ---- what is added ------------------------------------------------------

    def name(self, letter):
        self.made += 1
        return f"{letter}{self.made}"

    def add(self, statement, results):
        """Adds it if what it makes is tame."""
        try:
            self.twin.body([statement], self.scope, "")
        except (ValueError, RuntimeError, IndexError, ZeroDivisionError):
            return None
        for name in results:
            x = self.scope[name]
            # a mask makes -inf, which softmax takes
            bound = x[x > -torch.inf].double()
            if x.numel() > ELEMENTS or x.isnan().any() \
                    or bound.numel() and bound.abs().max() > GREATEST:
                del self.scope[name]
                return None
        self.description["body"].append(statement)
        return results[0] if results else statement

    def input(self, dims, kind="f32", below="1"):
        name = self.name("x")
        return self.add(["input", name, dims, kind, below], [name])

    def weight(self, dims):
        """A parameter; now and then one that is there, or an input."""
        try:
            shape = [self.twin.evaluate(d, self.scope) for d in dims]
        except ZeroDivisionError:
            return None
        same = [s[1] for s in self.description["body"] if s[0] == "param"
                and self.shape(s[1]) == shape]
        if same and self.chance(0.35):
            return self.rng.choice(same)
        if self.chance(0.1):
            return self.input(dims)
        name = self.name("w")
        return self.add(["param", name, dims], [name])

    def call(self, word, arguments, attributes=None, results=1):
        if None in arguments:
            return None
        names = [self.name("t") for _ in range(results)]
        done = self.add(["call", word, arguments, attributes or {}, names],
                        names)
        if done:
            self.used |= set(arguments)
        return done

    def block(self, word, arguments):
        name = self.name("t")
        done = self.add(["block", word, arguments, name], [name])
        if done:
            self.used |= set(arguments)
        return done

    def lambda_call(self):
        """An operator of the model's own."""
        x = self.floats(ranks=(1, 2, 3))
        if not x:
            return None
        op = lambdas_drawn.draw(self.rng, f"own{self.made}", self.shape(x),
                                self.training)
        sizes, arguments = dict(zip(op["takes"][0][1], self.dims(x))), [x]
        for _, dims, kind in op["takes"][1:]:
            own = [sizes.setdefault(d, str(op["sizes"][d])) for d in dims]
            arguments.append(
                self.input(own, "i64", sizes.get(op["below"], "1"))
                if kind == "i64" else self.weight(own))
        self.description["operators"].append(op)
        self.twin.operators[op["name"]] = op
        done = self.call(op["name"], arguments)
        if not done:
            self.description["operators"].remove(op)
        return done

    def drawn_def(self):
        """A block of layers, called once or twice."""
        x = self.floats(ranks=(2, 3))
        if not x:
            return None
        name, body, h = f"block{self.made}", [], "x"
        for i in range(self.rng.randint(1, 3)):
            kind = self.rng.choice(["linear", "norm", "gate"])
            if kind == "linear":
                body += [["param", f"w{i}", [f"shape({h})[-1]",
                                             "shape(x)[-1]"]],
                         ["call", "matmul", [h, f"w{i}"], {}, [f"m{i}"]],
                         ["call", "tanh", [f"m{i}"], {}, [f"h{i}"]]]
            elif kind == "norm":
                body += [["param", f"s{i}", [f"shape({h})[-1]"]],
                         ["call", "rms_norm", [h, f"s{i}"],
                          {"epsilon": "0.01"}, [f"h{i}"]]]
            else:
                body += [["call", "sigmoid", ["x"], {}, [f"g{i}"]],
                         ["call", "mul", [h, f"g{i}"], {}, [f"h{i}"]]]
            h = f"h{i}"
        self.description["defs"][name] = {"takes": ["x"], "body": body,
                                          "gives": h}
        y = self.block(name, [x])
        if y and self.chance(0.5):
            y = self.block(name, [y])
        if not y:
            del self.description["defs"][name]
        return y

    def loop(self):
        """Layers with weights of their own, or one for all."""
        x = self.floats(ranks=(2, 3))
        if not x:
            return None
        d = self.dims(x)[-1]
        h, v, times = self.name("h"), self.name("i"), self.rng.randint(1, 4)
        if not self.add(["alias", h, x], [h]):
            return None
        shared = self.chance(0.4)
        w = self.weight([d, d]) if shared else f"w{v}_{{{v}}}"
        if not w:
            return None
        t = [self.name("t") for _ in range(3)]
        body = [] if shared else [["param", w, [d, d]]]
        body += [["call", "matmul", [h, w], {}, [t[0]]],
                 ["call", self.rng.choice(["tanh", "sigmoid", "softsign"]),
                  [t[0]], {}, [t[1]]]]
        last = ["call", self.rng.choice(["add", "mul", "sub"]),
                [t[1], self.rng.choice([x, h])], {}, [h]]
        done = self.add(["loop", v, self.rng.choice([str(times), "C"])
                         if self.description["sizes"].get("C", 9) in (1, 2, 3)
                         else str(times), [*body, last]], [h])
        for name in [*t, w] if not shared else t:
            self.scope.pop(name, None)
        if done:
            self.used |= {x}
        return done and h

    def running_mean(self):
        """A state that follows what comes."""
        x = self.floats(ranks=(2, 3))
        if not x:
            return None
        d = self.dims(x)
        s = self.name("s")
        if not self.add(["state", s, d[1:]], [s]):
            return None
        m = self.call("reduce_mean", [x], {"axes": "[0]"})
        a = m and self.call("mul", [m, "0.25"])
        b = a and self.call("mul", [s, "0.75"])
        n = b and self.call("add", [a, b])
        if n:
            self.add(["next", s, n], [])
        return n and self.call("sub", [x, s])

    def statement(self):
        kind = self.rng.random()
        if kind < 0.25:
            return self.lambda_call()
        if kind < 0.32:
            return self.loop()
        if kind < 0.37:
            return self.drawn_def()
        if kind < 0.40:
            return self.running_mean()
        return self.rng.choice(library.DRAWS)(self)

    # ---- the whole ----------------------------------------------------------

    def whole(self):
        for _ in range(self.rng.randint(1, 2)):
            rank = self.rng.choice([1, 2, 2, 3, 3, 4, 4])
            self.input([self.size() for _ in range(rank)])
        wanted, tries = self.rng.choice([1, 2, 3, 4, 6, 8, 12]), 0
        while wanted and tries < 60:
            tries += 1
            wanted -= bool(self.statement())
        self.end()
        return self.description

    def end(self):
        results = [n for s in described.statements(self.description["body"])
                   for n in ([s[3]] if s[0] == "block" else s[4]
                             if s[0] == "call" else [])]
        loose = [n for n in self.names("f32") if n not in self.used
                 and n in results and self.scope[n].isfinite().all()]
        total = None
        for n in loose:  # what has no part in it is not trained through
            part = loss_part(self, n)
            total = part if total is None else \
                self.call("add", [total, part]) if part else total
        if total is None:
            raise ValueError("no loss")
        self.add(["alias", "loss", total], ["loss"])
        self.add(["output", "loss"], [])
        for n in self.rng.sample(loose, min(len(loose), 2)):
            self.add(["output", n], [])


def loss_part(g, n):
    x = library.loss_of(g, n)
    return x and g.call("mul", [x, "0.5"])


def draw(seed, data, training):
    return Model(seed, data, training).whole()
