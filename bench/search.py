"""The time of the exact solver beside toulbar2, on the same problems.

	search.py [--repeat R] [--limit S] [FILE.wcsp[.xz]|FOLDER...]

Without files it makes some up, a few of each family.  Each solve is the first
in a fresh process; the least of R is printed for both, as the solvers
report it, without the time to read the file.  Ends with an error if the optima
differ.
"""
import argparse
import json
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

TDLC = os.environ.get("TDLC", "./tdlc")
OPTIMUM = re.compile(r"Optimum: (\d+) .* and ([\d.]+) seconds")


def tables(name, domains, pairs, cost):
    """A problem in the WCSP format, with a cost per value and per pair."""
    scopes = [(v,) for v in range(len(domains))] + list(pairs)
    lines = [f"{name} {len(domains)} {max(domains)} {len(scopes)} {1 << 50}",
             " ".join(map(str, domains))]
    for scope in scopes:
        tuples = [()]
        for v in scope:
            tuples = [t + (x,) for t in tuples for x in range(domains[v])]
        lines.append(f"{len(scope)} {' '.join(map(str, scope))} 0 "
                     f"{len(tuples)}")
        lines += [f"{' '.join(map(str, t))} {cost(scope, t)}" for t in tuples]
    return "\n".join(lines) + "\n"


def network(n, values, seed):
    """A chain of operators with a few skips: costs of layers, and costs of
    neighbours that are cut differently."""
    rng = random.Random(seed)
    domains = [rng.randint(values // 2, values) for _ in range(n)]
    pairs = [(v, v + 1) for v in range(n - 1)]
    pairs += [(v, v + rng.randint(2, 4)) for v in range(0, n - 4, 5)]
    cuts = [[rng.sample(range(1, 9), 3) for _ in range(d)] for d in domains]
    size = [rng.randint(1, 1000) << 20 for _ in range(n)]

    def cost(scope, at):
        first = cuts[scope[0]][at[0]]
        if len(scope) == 1:
            return size[scope[0]] * sum(first)
        second = cuts[scope[1]][at[1]]
        return size[scope[0]] * sum(abs(a - b)
                                    for a, b in zip(first, second)) // 4
    return tables(f"network_{n}_{values}", domains, pairs, cost)


def branches(n, rng):
    """A chain of blocks of four parallel paths that join."""
    pairs, last, v = set(), 0, 1
    while v < n - 12:
        ends = []
        for _ in range(4):
            ends.append(last)
            for _ in range(rng.randint(1, 3)):
                pairs.add((ends[-1], v))
                ends[-1] = v
                v += 1
        pairs |= {(end, v) for end in ends}
        last = v
        v += 1
    return pairs | {(u - 1, u) for u in range(v, n)}


# The pairs of n variables that have a table.
SHAPES = {
    "chain": lambda n, rng: {(v, v + 1) for v in range(n - 1)},
    "tree": lambda n, rng: {(rng.randrange(v), v) for v in range(1, n)},
    "skips": lambda n, rng: {(v, v + 1) for v in range(n - 1)} |
             {(v, v + rng.randint(2, 5)) for v in range(0, n - 6, 4)},
    "ladder": lambda n, rng: {(v, v + 2) for v in range(n - 2)} |
              {(v, v + 1) for v in range(0, n - 1, 2)},
    "branches": branches,
    "near": lambda n, rng: {(rng.randrange(max(0, v - 4), v), v)
                            for v in range(1, n)
                            for _ in range(rng.choice((1, 1, 2)))},
    "grid": lambda n, rng: {(v, v + 1) for v in range(n - 1)
                            if (v + 1) % round(n ** .5)} |
            {(v, v + round(n ** .5)) for v in range(n - round(n ** .5))},
    "sparse": lambda n, rng: {tuple(sorted(rng.sample(range(n), 2)))
                              for _ in range(n * 5 // 4)},
    "dense": lambda n, rng: {(u, v) for v in range(n) for u in range(v)},
}

# The costs of values and of pairs of them.
COSTS = {
    "random": lambda rng, at: rng.randrange(10 ** 6),
    "unary": lambda rng, at: rng.randrange(10 ** (7 - len(at))),
    "small": lambda rng, at: rng.randrange(10),
    "potts": lambda rng, at: (30 * (at[0] != at[1]) if len(at) == 2
                              else rng.randrange(100)),
}


def graph(shape, costs, n, values):
    rng = random.Random(n * values)
    pairs = sorted(SHAPES[shape](n, rng))
    domains = [rng.randint((values + 1) // 2, values) for _ in range(n)]
    return tables(f"{shape}_{costs}_{n}_{values}", domains, pairs,
                  lambda scope, at: COSTS[costs](rng, at))


FAMILIES = [
    ("chain", "random", 200, 40), ("tree", "random", 200, 40),
    ("skips", "random", 200, 40), ("skips", "unary", 300, 30),
    ("skips", "potts", 300, 30), ("ladder", "random", 200, 30),
    ("branches", "random", 200, 30), ("branches", "unary", 200, 40),
    ("near", "random", 300, 40), ("near", "unary", 200, 20),
    ("grid", "random", 100, 4), ("grid", "random", 36, 12),
    ("grid", "small", 100, 4), ("grid", "potts", 400, 4),
    ("sparse", "random", 60, 8), ("sparse", "random", 200, 8),
    ("dense", "random", 25, 2), ("dense", "random", 15, 6),
    ("dense", "random", 10, 20), ("dense", "unary", 15, 6),
]


def made_up(folder):
    problems = (network(100, 20, 1), network(200, 40, 2), network(300, 60, 3))
    for text in (*problems, *(graph(*family) for family in FAMILIES)):
        path = os.path.join(folder, text.split(maxsplit=1)[0] + ".wcsp")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        yield path


def given(paths, folder):
    """The files, and all those in folders, the smallest first."""
    files = []
    for path in paths:
        inner = sorted(os.listdir(path)) if os.path.isdir(path) else None
        files += [path] if inner is None else [
            os.path.join(path, name) for name in inner
            if name.endswith((".wcsp", ".wcsp.xz"))]
    for path in sorted(files, key=os.path.getsize):
        if path.endswith(".xz"):
            name = os.path.basename(path).removesuffix(".xz")
            with lzma.open(path) as packed:
                text = packed.read()
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                f.write(text)
        yield path


def size(path):
    """Variables and the largest domain."""
    with open(path, encoding="ascii") as f:
        return f.readline().split()[1:3]


def ours(path, limit):
    done = subprocess.run([TDLC, "solve", "--json", "--time-limit", str(limit),
                           path], stdout=subprocess.PIPE, check=False)
    result = json.loads(done.stdout)
    return result["optimum"] if result["optimal"] else None, result["seconds"]


def theirs(path, limit):
    done = subprocess.run(["toulbar2", path, f"-timer={int(limit)}"],
                          stdout=subprocess.PIPE, text=True, check=False)
    found = OPTIMUM.search(done.stdout)
    return (int(found[1]), float(found[2])) if found else (None, None)


def least(runs):
    return min(runs, key=lambda r: (r[0] is None, r[1] or 0))


def compare(path, repeat, limit, reference):
    """Prints a line; returns whether the optima differ."""
    a, b = [], []
    for _ in range(repeat):    # in turn: the machine is the same
        a.append(ours(path, limit))
        if reference:
            b.append(theirs(path, limit))
    mine, other = least(a), least(b) if b else (None, None)
    name = os.path.basename(path).removesuffix(".wcsp")
    variables, values = size(path)
    line = f"{name:26} {variables:>5} {values:>6} {mine[0]!s:>16}"
    line += f" {mine[1] * 1e3:10.3f} ms"
    if other[1] is not None:
        line += f" {other[1] * 1e3:7.0f} ms {other[1] / mine[1]:6.1f}"
    elif reference:
        line += f" > {limit:.0f} s"
    differ = None not in (mine[0], other[0]) and mine[0] != other[0]
    print(line + " DIFFER" * differ, flush=True)
    return differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    reference = shutil.which("toulbar2")
    if not reference:
        print("toulbar2 is not installed: no ratios")
    print(f"{'problem':26} {'vars':>5} {'values':>6} {'optimum':>16} "
          f"{'tdlc':>13} {'toulbar2':>10} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        paths = given(args.files, folder) if args.files else made_up(folder)
        differ = [compare(path, args.repeat, args.limit, reference)
                  for path in paths]
    return 1 if any(differ) else 0


if __name__ == "__main__":
    sys.exit(main())
