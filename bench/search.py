"""How long the exact solver takes beside toulbar2, on the same problems.

	search.py [--repeat R] [--limit S] [FILE.wcsp...]

Without files it makes some up.  Each solve is the first in a fresh process;
the least of R is printed, of both: what the solvers themselves say, without
reading the file.  Ends with an error if the optima differ.
"""
import argparse
import json
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
    """Operators in a row with a few that skip ahead: what layers cost, and
    what it costs where neighbours are cut differently."""
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


def graph(kind, n, values, seed):
    """Random costs, on a tree, a grid or a sparse graph."""
    rng = random.Random(seed)
    pairs = {
        "tree": lambda: {(rng.randrange(v), v) for v in range(1, n)},
        "grid": lambda: {(v, v + s) for v in range(n) for s in (1, 6)
                         if v + s < n and (s > 1 or (v + 1) % 6)},
        "sparse": lambda: {tuple(sorted(rng.sample(range(n), 2)))
                           for _ in range(n * 5 // 4)},
    }[kind]()
    return tables(f"{kind}_{n}_{values}", [values] * n, sorted(pairs),
                  lambda scope, at: rng.randrange(10 ** 6))


def made_up(folder):
    problems = [network(100, 20, 1), network(200, 40, 2), network(300, 60, 3),
                graph("tree", 200, 40, 4), graph("grid", 36, 6, 5),
                graph("sparse", 60, 8, 6)]
    for text in problems:
        path = os.path.join(folder, text.split(maxsplit=1)[0] + ".wcsp")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        yield path


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    reference = shutil.which("toulbar2")
    if not reference:
        print("toulbar2 is not installed: no ratios")
    differ = False
    print(f"{'problem':24} {'optimum':>16} {'tdlc':>12} {'toulbar2':>12} ratio")
    with tempfile.TemporaryDirectory() as folder:
        for path in args.files or made_up(folder):
            a, b = [], []
            for _ in range(args.repeat):    # in turn: the machine is the same
                a.append(ours(path, args.limit))
                if reference:
                    b.append(theirs(path, args.limit))
            mine, other = least(a), least(b) if b else (None, None)
            name = os.path.basename(path).removesuffix(".wcsp")
            line = f"{name:24} {mine[0]!s:>16} {mine[1] * 1e3:9.3f} ms"
            if other[1] is not None:
                ratio = other[1] / mine[1]
                line += f" {other[1] * 1e3:9.0f} ms {ratio:5.0f}"
                if mine[0] != other[0]:
                    line += " DIFFER"
                    differ = True
            print(line, flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
