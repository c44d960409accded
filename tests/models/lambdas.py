"""Random operators of TDL: the text of a lambda, and its twin in PyTorch.

An operator is a tree of lists, which both are made from.  The twin gives each
variable an axis of its own: a variable is a tensor of its values along that
axis, a read indexes with such tensors, a reduction reduces axes.  So whatever
can be written has a twin, and autograd the gradient.

	[["read", x, indices]]      x[..]; ["guard", x, indices, number] with else
	["number", c], ["cast", i]  constants; an index as a float
	[word of FUNCTIONS, e], [word of OPERATORS, a, b]
	["if", condition, a, b]     where a condition is [word of CONDITIONS, a, b]
	["Sum", variables, e]       and so on; a variable is [name, extent, whether
	                            the text says the extent]

Indices are trees of ["var", v], ["int", c], ["size", text], ["at", ids,
indices], and the words + - * / % min max.
"""
import torch


def softplus(x):
    """PyTorch's own is x above 20, where its derivative is 1 exactly."""
    return torch.logaddexp(x, torch.zeros_like(x))


FUNCTIONS = {
    "tanh": torch.tanh, "sin": torch.sin, "cos": torch.cos,
    "sigmoid": torch.sigmoid, "abs": torch.abs, "erf": torch.erf,
    "softplus": softplus, "atan": torch.atan,
    "asinh": torch.asinh, "neg": torch.neg,
    # of a number in (-inf, inf), kept to where the function is tame
    "exp_of": lambda x: torch.exp(torch.tanh(x)),
    "log_of": lambda x: torch.log(1.5 + x * x),
    "sqrt_of": lambda x: torch.sqrt(0.5 + x * x),
    "rsqrt_of": lambda x: torch.rsqrt(0.5 + x * x),
    "floor": lambda x: torch.floor(x).detach(),
    "sign": lambda x: torch.sign(x).detach(),
    "relu": lambda x: torch.where(x > 0, x, 0),
}
WRITTEN = {"neg": "(-{})", "exp_of": "exp(tanh({}))",
           "log_of": "log(1.5 + {0} * {0})",
           "sqrt_of": "sqrt(0.5 + {0} * {0})",
           "rsqrt_of": "rsqrt(0.5 + {0} * {0})", "relu": "max({}, 0)"}
OPERATORS = {
    "+": torch.add, "-": torch.sub, "*": torch.mul,
    "max": torch.maximum, "min": torch.minimum,
    "over": lambda a, b: a / (1.5 + b * b),
    "power": lambda a, b: torch.pow(0.5 + a * a, torch.tanh(b)),
}
BETWEEN = {"max": "max({}, {})", "min": "min({}, {})",
           "over": "({0} / (1.5 + {1} * {1}))",
           "power": "pow(0.5 + {0} * {0}, tanh({1}))"}
STRICT = {"max": torch.gt, "min": torch.lt}
CONDITIONS = {"<": torch.lt, "<=": torch.le, ">": torch.gt, ">=": torch.ge,
              "==": torch.eq, "!=": torch.ne, "and": torch.logical_and,
              "or": torch.logical_or}
REDUCERS = {
    "Sum": lambda x, axes: x.sum(axes, True),
    "Mean": lambda x, axes: x.mean(axes, True),
    "Max": lambda x, axes: x.amax(axes, True),
    "Min": lambda x, axes: x.amin(axes, True),
    "Prod": lambda x, axes: product(x, axes),
}
INDICES = {"+": torch.add, "-": torch.sub, "*": torch.mul,
           "/": lambda a, b: torch.div(a, b, rounding_mode="floor"),
           "%": torch.remainder, "min": torch.minimum, "max": torch.maximum}


def product(x, axes):
    for axis in axes:
        x = x.prod(axis, True)
    return x


# ---- text -------------------------------------------------------------------

def text_of_index(e):
    word = e[0]
    if word in ("var", "int", "size"):
        return str(e[1]) if str(e[1]).isalnum() else f"({e[1]})"
    if word == "at":
        return f"cast({e[1]}[{', '.join(map(text_of_index, e[2]))}], i64)"
    a, b = map(text_of_index, e[1:])
    return f"{word}({a}, {b})" if word in ("min", "max") \
        else f"({a} {word} {b})"


def text_of_lambda(variables, body, like):
    names = ", ".join(f"{v} < {n}" if said else v for v, n, said in variables)
    return f"lambda {names}: ".replace(" :", ":") + text_of(body, like)


def text_of(e, like):
    """`like` is a tensor of the type that indices are cast to."""
    word = e[0]
    if word == "number":
        return f"({e[1]})" if e[1] < 0 else str(e[1])
    if word == "cast":
        return f"cast({text_of_index(e[1])}, {like})"
    if word in ("read", "guard"):
        read = f"{e[1]}[{', '.join(map(text_of_index, e[2]))}]"
        return read if word == "read" else f"({read} else {e[3]})"
    if word == "if":
        c, a, b = e[1], *(text_of(x, like) for x in e[2:])
        return f"(if {text_of(c, like)} then {a} else {b})"
    if word == "compare":
        return f"({text_of_index(e[2])} {e[1]} {text_of_index(e[3])})"
    if word in REDUCERS:
        return f"{word}({text_of_lambda(e[1], e[2], like)})"
    parts = [text_of(x, like) for x in e[1:]]
    if len(parts) == 1:
        return WRITTEN.get(word, word + "({})").format(*parts)
    return BETWEEN.get(word, "({} " + word + " {})").format(*parts)


def text_of_operator(op):
    """The definition of an operator: its name, `takes` [name, dims, type],
    `gives` dims, `lets` [name, variables, body], `variables` and `body`."""
    takes = ", ".join(f"{n}[{', '.join(dims)}]" + (": int" if t == "i64" else
                                                   "")
                      for n, dims, t in op["takes"])
    like = op["takes"][0][0]
    lines = [f"op {op['name']}({takes}) -> y[{', '.join(op['gives'])}] ="]
    for name, variables, body in op["lets"]:
        lines.append(f"    let {name} = "
                     + text_of_lambda(variables, body, like))
    lines.append("    " + text_of_lambda(op["variables"], op["body"], like))
    return "\n".join(lines) + "\n"


# ---- the twin ---------------------------------------------------------------

class Evaluator:
    """One call: the sizes that the arguments bind, an axis per variable."""

    def __init__(self, op, arguments):
        self.tensors, self.sizes = {}, {}
        self.extents = {}
        for (name, dims, _), x in zip(op["takes"], arguments):
            self.tensors[name] = x
            for d, n in zip(dims, x.shape, strict=True):
                if d.isidentifier() and self.sizes.setdefault(d, n) != n:
                    raise ValueError(f"{d} is {self.sizes[d]} and {n}")
            if x.is_floating_point():
                self.dtype = x.dtype
        self.varying = {name for name, _, kind in op["takes"] if kind == "f32"}
        self.axes = {}
        for variables in variables_of(op):
            for v, n, _ in variables:
                self.axes.setdefault(v, len(self.axes))
                self.extents[v] = n

    def size(self, text):
        return eval(text.replace("/", "//"), {"min": min, "max": max},
                    self.sizes)

    def along(self, v, n):
        shape = [1] * len(self.axes)
        shape[self.axes[v]] = n
        return torch.arange(n).reshape(shape)

    def index(self, e):
        word = e[0]
        if word == "var":
            return self.along(e[1], self.size(self.extents[e[1]]))
        if word in ("int", "size"):
            return torch.tensor(self.size(str(e[1])))
        if word == "at":
            return self.read(self.tensors[e[1]], e[2])[0]
        return INDICES[word](*map(self.index, e[1:]))

    def read(self, x, indices):
        """The elements, and whether they are inside."""
        if not indices:
            return x, torch.tensor(True)
        at = torch.broadcast_tensors(*map(self.index, indices))
        inside = torch.ones_like(at[0], dtype=torch.bool)
        kept = []
        for i, n in zip(at, x.shape, strict=True):
            inside = inside & (i >= 0) & (i < n)
            kept.append(i.clamp(0, max(n - 1, 0)))
        if x.numel() == 0:
            return x.sum().to(x.dtype).expand(at[0].shape), inside & False
        return x[tuple(kept)], inside

    def value(self, e):
        word = e[0]
        if word == "number":
            return torch.tensor(e[1], dtype=self.dtype)
        if word == "cast":
            return self.index(e[1]).to(self.dtype)
        if word == "read":
            x, inside = self.read(self.tensors[e[1]], e[2])
            if not inside.all():
                raise RuntimeError("a read is outside")
            return x
        if word == "guard":
            x, inside = self.read(self.tensors[e[1]], e[2])
            return torch.where(inside, x, e[3])
        if word == "compare":
            return CONDITIONS[e[1]](self.index(e[2]), self.index(e[3]))
        if word in CONDITIONS:
            return CONDITIONS[word](self.value(e[1]), self.value(e[2]))
        if word == "if":
            return torch.where(self.value(e[1]), self.value(e[2]),
                               self.value(e[3]))
        if word in REDUCERS:
            return self.reduced(word, e[1], self.value(e[2]))
        parts = [self.value(x) for x in e[1:]]
        if word in STRICT:
            a, b = (self.varies(x) for x in e[1:])
            if a != b:  # the constant wins a tie
                x, c = parts if a else reversed(parts)
                return torch.where(STRICT[word](x, c), x, c)
        table = FUNCTIONS if len(parts) == 1 else OPERATORS
        return table[word](*parts)

    def varies(self, e):
        """Whether it hangs on a parameter of floats."""
        if not isinstance(e, list):
            return False
        return e[:1] in (["read"], ["guard"]) and e[1] in self.varying \
            or any(map(self.varies, e))

    def spread(self, x, variables):
        """x with all points of the variables, also where it hangs on none."""
        shape = [1] * (len(self.axes) - x.ndim) + list(x.shape)
        for v, *_ in variables:
            shape[self.axes[v]] = self.size(self.extents[v])
        return x.expand(shape)

    def reduced(self, word, variables, x):
        x = self.spread(x, variables)
        return REDUCERS[word](x, [self.axes[v] for v, *_ in variables])

    def tensor(self, variables, body):
        x = self.spread(self.value(body), variables)
        own = {self.axes[v] for v, *_ in variables}
        for axis in reversed(range(x.ndim)):
            if axis not in own:
                x = x.squeeze(axis)
        return x

    def run(self, op):
        for name, variables, body in op["lets"]:
            self.tensors[name] = self.tensor(variables, body)
            if self.varies(body):
                self.varying.add(name)
        return self.tensor(op["variables"], op["body"])


def reductions(e):
    """The variables of all reductions in an expression."""
    if not isinstance(e, list) or not e:
        return
    if e[0] in list(REDUCERS):
        yield e[1]
    for x in e:
        yield from reductions(x)


def variables_of(op):
    for _, variables, body in op["lets"]:
        yield variables
        yield from reductions(body)
    yield op["variables"]
    yield from reductions(op["body"])


def call(op, arguments):
    """What the operator makes of tensors."""
    return Evaluator(op, arguments).run(op)
