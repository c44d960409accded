# Tests: compiler/placement
"""PipeDream's plans against its recurrence, over sets.

Random profiles with few layers: the least time of the longest stage over all
chains of sets that are closed under predecessors, with all replicas, and each
figure that is printed of a stage.

	pipedream.py [--seed S] [--rounds N]
"""
import functools
import itertools
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
from programs import TDLC, call, expect, over_seeds  # noqa: E402

BANDWIDTH, FACTOR = 4e6, 4


def draw(r):
    """Layers (forward, backward, activation, parameters) and edges."""
    n = r.randint(1, 7)
    layers = [(r.randint(1, 5), r.randint(0, 5), 1000 * r.randint(0, 9),
               1000 * r.choice((0, 0, 1, 5, 20))) for _ in range(n)]
    edges = [(i, j) for j in range(1, n)
             for i in sorted(r.sample(range(j), min(j, r.randint(1, 2))))]
    return layers, edges


def text_of(layers, edges, inputs):
    """The profile; with an input, which is none of the layers, before 0."""
    lines = []
    if inputs:
        lines.append("node99 -- Input -- forward_compute_time=300.0, "
                     "backward_compute_time=0.0, activation_size=5.0, "
                     "parameter_size=0.0")
    for i, (f, b, a, p) in enumerate(layers):
        lines.append(f"node{i} -- Layer{i} -- forward_compute_time={f}.0, "
                     f"backward_compute_time={b}.0, activation_size={a}.0, "
                     f"parameter_size={p}.0")
    if inputs:
        lines.append("\tnode99 -- node0")
    return "\n".join(lines + [f"\tnode{i} -- node{j}" for i, j in edges]) + "\n"


def stage_time(layers, stage, m):
    compute = sum(layers[v][0] + layers[v][1] for v in stage) * 1e-3
    exchange = 4 * (m - 1) / m * sum(layers[v][3] for v in stage) / BANDWIDTH
    return (compute + exchange) / m


def least(layers, edges, k):
    n = len(layers)

    @functools.lru_cache(None)
    def best(done, k):
        if k == 0:
            return 0 if not done else float("inf")
        least = float("inf")
        for size in range(1, len(done) + 1):
            for stage in itertools.combinations(sorted(done), size):
                if any(i in stage and j in done and j not in stage
                       for i, j in edges):
                    continue
                for m in range(1, k + 1):
                    least = min(least, max(stage_time(layers, stage, m),
                                           best(done - set(stage), k - m)))
        return least
    return best(frozenset(range(n)), k)


def near(x, y):
    return abs(x - y) <= 1e-9 * (abs(x) + abs(y))


def check_stages(seed, layers, edges, got, M):
    stages = [[int(x[4:]) for x in s["layers"] if x != "node99"]
              for s in got["stages"]]
    of = {v: s for s, stage in enumerate(stages) for v in stage}
    expect(f"seed {seed}: layers", sorted(of) == list(range(len(layers))) and
           all(of[i] <= of[j] for i, j in edges))
    total = sync = longest = predicted = 0
    for s, x in enumerate(got["stages"]):
        m, stage = x["devices"], stages[s]
        behind = sum(y["devices"] for y in got["stages"][s:])
        flight = min(M, -(-behind // m))
        into = sum(layers[u][2] for u in {i for i, j in edges if
                                          of[j] == s and of[i] != s})
        out = sum(layers[u][2] for u in {i for i, j in edges if
                                         of[i] == s and of[j] != s})
        params = sum(layers[v][3] for v in stage)
        nbytes = FACTOR * params + flight * (
            sum(layers[v][2] for v in stage) + into)
        seconds = sum(layers[v][0] + layers[v][1] for v in stage) * 1e-3 + \
            2 * (into + out) / BANDWIDTH
        mine = stage_time(layers, stage, m)
        expect(f"seed {seed}: stage {x}: {flight}, {nbytes}, {seconds}, {mine}",
               flight == x["in_flight"] and nbytes == x["peak_bytes"] and
               near(seconds, x["seconds"]) and
               near(mine, x["predicted_seconds"]))
        total += seconds
        longest = max(longest, seconds / m)
        predicted = max(predicted, mine)
        sync = max(sync, 2 * (m - 1) / m * params / BANDWIDTH)
    expect(f"seed {seed}: step {total + (M - 1) * longest + sync}, {longest}, "
           f"{predicted}",
           near(got["step_seconds"], total + (M - 1) * longest + sync) and
           near(got["bottleneck_seconds"], longest) and
           near(got["predicted_seconds"], predicted))
    expect(f"seed {seed}: devices", len(got["peak_bytes"]) == got["devices"])


def check(seed, folder):
    r = random.Random(seed)
    layers, edges = draw(r)
    k, M = r.randint(1, 5), r.randint(1, 8)
    path = os.path.join(folder, "graph.txt")
    inputs = r.random() < 0.5
    with open(path, "w") as f:
        f.write(text_of(layers, edges, inputs))
    got = call(TDLC, "place", path, "-k", str(k), "--algorithm", "pipedream",
               "--link", "0.004", "--micro-batches", str(M))
    want = least(layers, tuple(edges), k)
    expect(f"seed {seed}: {got['predicted_seconds']}, not {want}",
           near(got["predicted_seconds"], want))
    check_stages(seed, layers, edges, got, M)


over_seeds(check, 120)
