# Tests: plan
"""Broken plans: tdlrun trusts nothing in them."""
import copy
import json
import os
import random

from harness import Judge, SECONDS, TDLC, TDLRUN, sample
from wire import attribute_ints, graph, model, node, tensor, value

HERE = os.path.dirname(os.path.abspath(__file__))
MUTATIONS = 400
COMPILED = 2 * SECONDS  # with the C compiler's time for a small plan
NUMBERS = (-1, 0, 1, 2, 3, 7, 63, 64, 4096, 65537, 1 << 31, (1 << 31) - 1,
           1 << 46, (1 << 63) - 1, -(1 << 63))
OPTIONAL = {"fixed"}


def network():
    """Convolution, bias, pooling: halo, reduction and constants in a file."""
    weights = tensor("w", [4, 4, 3, 3], bytes(4 * 4 * 9 * 4))
    bias = tensor("b", [4], bytes(16))
    return model(graph(
        [node("Conv", ["x", "w", "b"], ["c"],
              [attribute_ints("pads", [1, 1, 1, 1])], name="conv"),
         node("Relu", ["c"], ["r"], name="relu"),
         node("GlobalAveragePool", ["r"], ["y"], name="pool")],
        [weights, bias], [value("x", (2, 4, 16, 16))],
        [value("y", (2, 4, 1, 1))]))


def places(tree, path=()):
    """The paths of all values in a JSON tree, but for the C sources."""
    yield path
    if isinstance(tree, dict):
        for key, x in tree.items():
            if key != "c":
                yield from places(x, path + (key,))
    elif isinstance(tree, list):
        for i, x in enumerate(tree):
            yield from places(x, path + (i,))


def replaced(tree, path, change):
    """A copy of the tree with change(container, key) done at a path."""
    out = copy.deepcopy(tree)
    at = out
    for key in path[:-1]:
        at = at[key]
    change(at, path[-1])
    return out


def mutation(rng, tree, paths):
    path = rng.choice(paths)
    kind = rng.randrange(5)

    def change(at, key):
        if kind == 0:
            del at[key]
        elif kind == 1:
            at[key] = rng.choice([None, "", [], {}, True, 0.5, "x" * 5000])
        elif kind == 2 and isinstance(at, list):
            at.append(at[key])
        elif kind == 3 and isinstance(at[key], int):
            at[key] += rng.choice((-64, -1, 1, 64))
        else:
            at[key] = rng.choice(NUMBERS)
    return path, replaced(tree, path, change)


def texts(sound):
    """Files that are not plans, with a word for each."""
    text = json.dumps(sound)
    yield "empty", ""
    yield "text", "this is no plan\n"
    yield "binary", random.Random(2).randbytes(100_000)
    yield "zeros", bytes(100_000)
    yield "brackets", "[" * 10_000_000
    yield "objects", '{"a":' * 1_000_000
    yield "closed brackets", "[" * 100_000 + "]" * 100_000
    yield "number", "1"
    yield "empty object", "{}"
    yield "long string", '{"' + "x" * 10_000_000 + '": 1}'
    yield "big number", '{"version": ' + "9" * 1000 + "}"
    yield "key twice", text[:-1] + ', "version": 1}'
    yield "two plans", text + text
    yield "invalid utf-8", b'{"model": "\xff"}'
    for n in range(1, 40):
        yield f"first {n}/40", text[:len(text) * n // 40]
    for key in (k for k in sound if k not in OPTIONAL):
        less = dict(sound)
        del less[key]
        yield f"without {key}", json.dumps(less)


def sound_plan(judge, name, model, options, run=(), seconds=SECONDS):
    """A plan for two workers that runs."""
    good = judge.folder + "/good.plan"
    path = judge.write(name, model)
    judge.run("plan " + name, [TDLC, "plan", path, "-k", "2", "-o", good,
                               *options], status=(0,))
    judge.run("run " + name, [TDLRUN, good, "--verify", *run],
              status=(0,), seconds=seconds)
    with open(good) as f:
        return json.load(f)


def mutate(judge, sound, seed, options=(), among=None, seconds=SECONDS):
    """Changes values anywhere, or at the paths for which among() is true."""
    rng = random.Random(seed)
    paths = [p for p in places(sound) if p and (not among or among(p))]
    mutations = [mutation(rng, sound, paths) for _ in range(MUTATIONS)]
    for i, (path, tree) in sample(list(enumerate(mutations))):
        bad = judge.write("bad.plan", json.dumps(tree))
        judge.run(f"mutation {i} at {'/'.join(map(str, path))}",
                  [TDLRUN, bad, *options], status=(0, 1), errors=None,
                  seconds=seconds)


def turns_plan(judge, run):
    """Micro-batches with statistics of their own, and a bucket."""
    with open(os.path.join(HERE, "..", "golden", "plan",
                           "statistics.tdl")) as f:
        plan = sound_plan(judge, "turns.tdl", f.read(), [
            "--model", "normal", "--train", "--micro-batches", "4",
            "--micro-batch-statistics", "--algorithm", "data-parallel",
            "--memory", "1M", "--bucket-bytes", "1M"], run)
    assert any("bucket" in row for row in plan["program"])
    assert plan["micro_batches"]["statistics"]
    return plan


def is_of_turns(path):
    """What a plan has for micro-batches and buckets, and all transfers."""
    return path[0] in ("micro_batches", "program") or \
        path[-1] in ("time", "then")


DEEP = """model deep(batch = 6, width = 5) {
    input x[batch, width]
    input t[batch, width]
    param v[width, width]
    param w[width, width]
    y = relu(matmul(x, v))
    z = matmul(y, w)
    loss = mse(z, t)
    output loss
}
"""


def stages_plan(judge, run):
    """Two stages, one of two workers: messages, slots and a schedule."""
    good = judge.folder + "/stages.plan"
    path = judge.write("deep.tdl", DEEP)
    judge.run("plan stages", [TDLC, "plan", path, "-k", "3", "--stages", "2",
                              "--micro-batches", "3", "--train", "-o", good],
              status=(0,))
    judge.run("run stages", [TDLRUN, good, "--verify", *run], status=(0,))
    with open(good) as f:
        plan = json.load(f)
    assert len(plan["stages"]) == 2 and plan["channels"]
    assert any("slots" in row for row in plan["buffers"])
    return plan


def is_of_stages(path):
    """What a plan has for its stages, and all instructions."""
    return path[0] in ("stages", "channels", "schedule", "program") or \
        path[-1] == "slots"


def main():
    judge = Judge()
    sound = sound_plan(judge, "net.onnx", network(), [], seconds=COMPILED)
    command = [TDLRUN, "--outputs", judge.out + "/y.npz"]
    for name, data in texts(sound):
        judge.run(name, command + [judge.write("bad.plan", data)], errors=None)
    mutate(judge, sound, 17, seconds=COMPILED)
    # Compiling all of its kernels would take longer than the time limit.
    slow = ["--kernels", "interpreter"]
    with open(os.path.join(HERE, "..", "golden", "plan", "kept.tdl")) as f:
        trained = sound_plan(judge, "kept.tdl", f.read(),
                             ["--train", "--optimizer", "adamw"], slow)
    mutate(judge, trained, 18, slow)
    turns = turns_plan(judge, slow)
    mutate(judge, turns, 19, slow)
    mutate(judge, turns, 20, slow, is_of_turns)
    stages = stages_plan(judge, slow)
    mutate(judge, stages, 21, slow)
    mutate(judge, stages, 22, slow, is_of_stages)
    judge.finish()


if __name__ == "__main__":
    main()
