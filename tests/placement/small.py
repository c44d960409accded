# Tests: compiler/placement
"""All placements of small graphs, by a second judge.

No algorithm's placement takes less than the best of all, nor than its bound;
what it says is what the second judge says of it; best is never above another
row, nor above one device that fits; what is called optimal is.  With a limit of
memory, what is placed keeps it, and best finds a placement wherever there is
one.  Half of the machines have devices that differ in speed and memory.

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


class Machine:
    """Devices, their network and limits, and the options that say so."""

    def __init__(self, r, g, folder):
        self.k, self.ports = r.choice((1, 2, 3)), r.random() < 0.7
        total = sum(g.resident)
        self.limit = [r.choice((10**9, max(1, int(total * 0.6))))] * self.k
        self.link = self.speed = None
        self.options = ["--memory", str(self.limit[0])]
        if r.random() < 0.5:
            self.differ(r, total, folder)

    def differ(self, r, total, folder):
        self.link = [(1e-4, 1e7)]
        self.speed = [r.choice((0.5, 1, 3)) for _ in range(self.k)]
        self.limit = [r.choice((10**9, max(1, int(total * r.random()))))
                      for _ in range(self.k)]
        path = os.path.join(folder, "machine.json")
        with open(path, "w") as f:
            json.dump({"format": "tdl-topology", "version": 1,
                       "device": {"bandwidth": 1e9, "flops": {"f32": 1e9}},
                       "levels": [{"latency": 1e-4, "bandwidth": 1e7}],
                       "devices": [{"speed": s, "memory": m} for s, m in
                                   zip(self.speed, self.limit)]}, f)
        self.options = ["--topology", path]

    def judge(self, g, place):
        return ref.judge(g, place, self.k, self.ports, self.link, [self.k],
                         speed=self.speed)

    def holds(self, peak):
        return all(p <= m for p, m in zip(peak, self.limit))


def every(g, m):
    """The least makespan within the limits; None."""
    best = None
    for place in itertools.product(range(m.k), repeat=len(g.ids)):
        makespan, peak = m.judge(g, place)
        if m.holds(peak) and (best is None or makespan < best):
            best = makespan
    return best


def check_row(seed, g, m, row, best):
    place = {x["id"]: x["device"] for x in row["placement"]}
    makespan, peak = m.judge(g, [place[i] for i in g.ids])
    name = f"seed {seed}, {row['algorithm']}"
    expect(f"{name}: {makespan} ns, peaks {peak}",
           makespan == round(row["makespan_seconds"] * 1e9) and
           peak == row["peak_bytes"])
    expect(f"{name}: not within {m.limit} bytes",
           not row["fits"] or m.holds(peak))
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
    m = Machine(r, g, folder)
    path = os.path.join(folder, "graph.json")
    with open(path, "w") as f:
        f.write(ref.as_json(g, m.k))
    rows = compare(path, m.k, "ports" if m.ports else "free", *m.options)
    best = every(g, m)
    for row in rows:
        if "placement" in row:
            check_row(seed, g, m, row, best)
    mine = next(x for x in rows if x["algorithm"] == "best")
    expect(f"seed {seed}: best finds none within {m.limit} bytes",
           mine["fits"] == (best is not None))
    for row in rows:
        expect(f"seed {seed}: {row['algorithm']} is better than best",
               not row["fits"] or
               mine["makespan_seconds"] <= row["makespan_seconds"])


over_seeds(check, 60)
