"""Makes a case smaller as long as it fails in the same way."""
import copy
import time

SECONDS = 120
PLAIN = {"clip": 0, "freeze": [], "recompute": "", "memory": 0,
         "no_fuse": False, "topology": "", "feed": "same", "warmup": 0,
         "schedule": "constant", "precision": "f32", "steps": 1,
         "optimizer": "sgd", "attributes": {}, "algorithm": "tofu",
         "kernels": ["interpreter", "interpreter"], "train": False, "k": 2}


def reads(statement):
    """The names that a statement hangs on."""
    word = statement[0]
    if word == "call":
        return [*statement[2], *statement[3].values()]
    if word == "block":
        return statement[2]
    if word == "loop":
        return [x for s in statement[3] for x in reads(s)] + [statement[1]]
    if word in ("input", "param", "state"):
        return [*statement[2], statement[4] if word == "input" else ""]
    return statement[1:]


def results(statement):
    if statement[0] == "call":
        return statement[4]
    if statement[0] == "block":
        return [statement[3]]
    return []


def without(case, at):
    """Without a statement: what it made is an input instead, or is not
    needed."""
    body = case["model"]["body"]
    gone = body[at]
    later = " ".join(" ".join(map(str, reads(s))) for s in body[at + 1:])
    needed = [n for n in results(gone) if n in later]
    if gone[0] in ("input", "param", "state") and gone[1] in later:
        return None
    smaller = copy.deepcopy(case)
    smaller["model"]["body"][at:at + 1] = [
        ["input", n, [str(d) for d in case["shapes"][n]], "f32", "1"]
        for n in needed]
    return smaller


def smaller_ones(case):
    """All that are a step smaller."""
    how = case["how"]
    for name, value in PLAIN.items():
        if how[name] != value:
            yield {**case, "how": {**how, name: value}}
    body = case["model"]["body"]
    for at in reversed(range(len(body))):
        one = without(case, at)
        if one:
            yield one
    used = str(body)
    model = case["model"]
    kept = [op for op in model["operators"] if op["name"] in used]
    if len(kept) < len(model["operators"]):
        yield {**case, "model": {**model, "operators": kept}}
    for name, n in model["sizes"].items():
        for less in {1, 2, n - 1}:
            if 0 < less < n:
                sizes = {**model["sizes"], name: less}
                yield {**case, "model": {**model, "sizes": sizes}}
    yield from smaller_operators(case)


def smaller_operators(case):
    """An operator of the model's own with a part of its expression."""
    model = case["model"]
    for i, op in enumerate(model["operators"]):
        for part in parts(op["body"]):
            ops = copy.deepcopy(model["operators"])
            ops[i]["body"] = part
            yield {**case, "model": {**model, "operators": ops}}


def parts(e):
    """Expressions in which a subexpression stands in the place of what it is
    a part of."""
    if not isinstance(e, list) or e[0] in ("read", "guard", "number", "cast",
                                           "compare"):
        return
    for i, x in enumerate(e[1:], 1):
        if isinstance(x, list) and x and isinstance(x[0], str):
            if x[0] not in ("compare", "<", ">", "<=", ">="):
                yield x
            for y in parts(x):
                yield [*e[:i], y, *e[i + 1:]]


def shrunk(case, fails):
    """The smallest that was found in a while; fails(case) says whether one
    fails as the first did."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for one in smaller_ones(with_shapes(case)):
            if time.monotonic() > end:
                break
            try:
                if fails(one):
                    case = one
                    break
            except (ValueError, RuntimeError, IndexError, KeyError,
                    NameError, SyntaxError, ZeroDivisionError, TypeError):
                continue
        else:
            break
    return case


def with_shapes(case):
    """With the shape of every tensor, so that it can become an input."""
    import described
    data = described.Data(case["seed"], case.get("coarse", False))
    twin = described.Twin(case["model"], data, {},
                          training=case["how"]["train"])
    twin.run()
    shapes = {n: list(x.shape) for n, x in twin.scope.items()
              if hasattr(x, "shape")}
    return {**case, "shapes": shapes}
