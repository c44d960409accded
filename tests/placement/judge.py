# Tests: compiler/placement
"""The judge of placements against a second one, tie for tie.

Random graphs of three formats (dnn-partitioning's, its layer training graphs,
PipeDream's profiles), placed at random, over links of the file, of the command
line and of a topology of two levels, whose devices may differ, with ports and without: the makespan in
nanoseconds and the peaks in bytes are those of tests/placement/reference.py.

	judge.py [--seed S] [--rounds N]
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
import reference as ref  # noqa: E402
from programs import TDLC, call, expect, over_seeds  # noqa: E402

TOPOLOGY = {"format": "tdl-topology", "version": 1, "name": "boxes",
            "device": {"bandwidth": 1e9, "flops": {"f32": 1e9}},
            "levels": [{"latency": 2e-6, "bandwidth": 5e6},
                       {"size": 2, "latency": 1e-6, "bandwidth": 2e7}]}
KINDS = [{"count": 1, "speed": 0.7}, {"count": 2, "speed": 3},
         {"memory": 1e12}]
SPEEDS = [0.7, 3, 3, 1]


def draw(r, folder):
    """A graph's file and what it is: path, graph, has costs, lifetimes."""
    kind = r.choice(("json", "layers", "profile"))
    n = r.choice((1, 2, 5, 12, 40))
    if kind == "profile":
        text, g = ref.draw_profile(r, n)
        path = os.path.join(folder, "graph.txt")
    else:
        g = ref.draw_json(r, n) if kind == "json" else ref.draw_layers(r, n)
        text = ref.as_json(g, 2)
        path = os.path.join(folder, "graph.json")
        if kind == "layers":
            g = ref.tied(g, n)
    with open(path, "w") as f:
        f.write(text)
    return path, g, kind == "profile"


def check(seed, folder):
    r = random.Random(seed)
    path, g, profile = draw(r, folder)
    k = r.choice((1, 2, 4))
    place = [r.randrange(k) for _ in g.ids]
    with open(os.path.join(folder, "placement.json"), "w") as f:
        f.write(ref.placement(g, place, k))
    kind = r.choice(("link", "topology") if profile else
                    ("link", "topology", "file"))
    options, link, span, speed = [], None, None, None
    if kind == "link":
        options, link, span = ["--link", "0.004,3.5"], [(3.5e-6, 4e6)], [k]
    if kind == "topology":
        speed = r.choice((None, SPEEDS))
        options = ["--topology", os.path.join(folder, "kinds.json" if speed
                                              else "boxes.json")]
        link, span = [(1e-6, 2e7), (2e-6, 5e6)], [min(2, k), k]
    for network in "ports", "free":
        got = call(TDLC, "score", path, "-k", str(k), "--placement",
                   os.path.join(folder, "placement.json"), "--network",
                   network, *options)
        want = ref.judge(g, place, k, network == "ports", link, span, profile,
                         4 if profile else 1, speed)
        expect(f"seed {seed}, {network}, {kind}: {want}",
               round(got["makespan_seconds"] * 1e9) == want[0] and
               got["peak_bytes"] == want[1])
        expect(f"seed {seed}: the bound is above a placement",
               round(got["lower_bound_seconds"] * 1e9) <= want[0])


def write_topology(folder):
    with open(os.path.join(folder, "boxes.json"), "w") as f:
        json.dump(TOPOLOGY, f)
    with open(os.path.join(folder, "kinds.json"), "w") as f:
        json.dump({**TOPOLOGY, "devices": KINDS}, f)


over_seeds(check, 120, write_topology)
