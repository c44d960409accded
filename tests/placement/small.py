"""All placements of small graphs, by a second judge.

No algorithm's placement takes less than the best of all, nor than its bound;
what it says is what the second judge says of it; best is never above another
row, nor above one device that fits; what is called optimal is.  With a limit of
memory, what is placed keeps it, and best finds a placement wherever there is
one.

	small.py [--seed S] [--rounds N]
"""
import itertools
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
import json  # noqa: E402

import reference as ref  # noqa: E402
from programs import TDLC, expect, over_seeds  # noqa: E402


def compare(path, k, network, *options):
    done = subprocess.run([TDLC, "compare", path, "-k", str(k), "--network",
                           network, "--json", *options], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["algorithms"]


def every(g, k, ports, limit):
    """The least makespan within the limit; None."""
    best = None
    for place in itertools.product(range(k), repeat=len(g.ids)):
        makespan, peak = ref.judge(g, place, k, ports)
        if max(peak) <= limit and (best is None or makespan < best):
            best = makespan
    return best


def check_row(seed, g, k, ports, limit, row, best):
    place = {x["id"]: x["device"] for x in row["placement"]}
    makespan, peak = ref.judge(g, [place[i] for i in g.ids], k, ports)
    name = f"seed {seed}, {row['algorithm']}"
    expect(f"{name}: {makespan} ns, peaks {peak}",
           makespan == round(row["makespan_seconds"] * 1e9) and
           peak == row["peak_bytes"])
    expect(f"{name}: not within {limit} bytes",
           not row["fits"] or max(peak) <= limit)
    bound = round(row["lower_bound_seconds"] * 1e9)
    if best is not None:
        expect(f"{name}: bound {bound} above the least, {best}", bound <= best)
    if row["fits"]:
        expect(f"{name}: {makespan} below the least, {best}",
               best is not None and makespan >= best)
        expect(f"{name}: {makespan} is not optimal, {best} is",
               not row["optimal"] or makespan == best)


def check(seed, folder):
    r = random.Random(seed)
    g = ref.draw_json(r, r.randint(1, 6))
    k, ports = r.choice((1, 2, 3)), r.random() < 0.7
    path = os.path.join(folder, "graph.json")
    with open(path, "w") as f:
        f.write(ref.as_json(g, k))
    limit = r.choice((10**9, max(1, int(sum(g.resident) * 0.6))))
    rows = compare(path, k, "ports" if ports else "free", "--memory",
                   str(limit))
    best = every(g, k, ports, limit)
    for row in rows:
        if "placement" in row:
            check_row(seed, g, k, ports, limit, row, best)
    mine = next(x for x in rows if x["algorithm"] == "best")
    expect(f"seed {seed}: best finds none within {limit} bytes",
           mine["fits"] == (best is not None))
    for row in rows:
        expect(f"seed {seed}: {row['algorithm']} is better than best",
               not row["fits"] or
               mine["makespan_seconds"] <= row["makespan_seconds"])


over_seeds(check, 60)
