"""Models of ours as cost graphs.

For some models, with and without training: the cost graph of `tdlc show
--costs' has all bytes of states and weights of `tdlc show --json'; on one
device it takes as long as the plan for one device without fusion; its
placements cost the same by a second judge (tests/placement/reference.py);
`tdlc place MODEL' gives the same as `tdlc place' of that file.  The least peak
of stages is that of all splits, by the formula in docs/stages.md.

	models.py [--seed S]
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
import reference as ref  # noqa: E402
from programs import ALL, MODELS, TDLC, call, expect, finish  # noqa: E402

CASES = (("mlp", {"batch": 8}, ()),
         ("mlp", {"batch": 8}, ("--train", "--optimizer", "adamw")),
         ("mlp", {"batch": 4096, "width": 64}, ("--train",)),
         ("gpt2", {"layers": 2, "batch": 2}, ()),
         ("gpt2", {"layers": 2, "batch": 2}, ("--train",)),
         ("resnet", {"batch": 2}, ("--train",)),
         ("rnn", {"layers": 2, "hidden": 64, "batch": 4}, ("--train",)))


def as_graph(costs):
    """The file as a graph of the second judge, and its colours."""
    g, number = ref.Graph(), {}
    for n in costs["nodes"]:
        number[n["id"]] = g.add(n["id"], n["fpgaLatency"], n["size"],
                                n["isBackwardNode"] == 1, n["colorClass"])
    for r in costs["results"]:
        g.results[number[r["id"]]].append([r["size"], r["cost"], []])
    for e in costs["edges"]:
        g.results[number[e["sourceId"]]][0][2].append(number[e["destId"]])
    return g


def judged(model, g, place, folder):
    path = os.path.join(folder, "placement.json")
    with open(path, "w") as f:
        f.write(ref.placement(g, place, 3))
    return subprocess.run(
        [TDLC, "score", *model, "-k", "3", "--placement", path, "--json"],
        capture_output=True, text=True)


def check_placements(name, model, g, r, folder):
    """Placements that keep colours together are judged; others are refused."""
    device = {c: r.randrange(3) for c in set(g.colour)}
    place = [device[c] for c in g.colour]
    done = judged(model, g, place, folder)
    want = ref.judge(g, place, 3, lifetimes=True)
    got = json.loads(done.stdout)
    expect(f"{name}: {want[0]} ns, {want[1]} bytes",
           round(got["makespan_seconds"] * 1e9) == want[0] and
           got["peak_bytes"] == want[1])
    parted = [v for v in range(len(place)) if g.colour.count(g.colour[v]) > 1]
    if parted:
        place[parted[0]] = (place[parted[0]] + 1) % 3
        done = judged(model, g, place, folder)
        expect(f"{name}: two devices for one state",
               done.returncode == 1 and "share memory" in done.stderr)


def in_order(n, reads):
    """Topological order; of the ready nodes the lowest number first."""
    order, done = [], set()
    while len(order) < n:
        v = min(v for v in range(n) if v not in done and reads[v] <= done)
        order.append(v)
        done.add(v)
    return order


class Layers:
    """The memory of a stage of a model, by the definition."""

    def __init__(self, costs):
        nodes, n = costs["nodes"], len(costs["nodes"])
        self.nodes, self.bytes = nodes, [x["size"] for x in costs["results"]]
        self.reads = [set() for _ in nodes]
        self.readers = [set() for _ in nodes]
        for e in costs["edges"]:
            self.reads[e["destId"]].add(e["sourceId"])
            self.readers[e["sourceId"]].add(e["destId"])
        order = in_order(n, self.reads)
        self.forward = [v for v in order if not nodes[v]["isBackwardNode"]]
        self.backward = {v for v in range(n) if nodes[v]["isBackwardNode"]}
        self.at = {v: i for i, v in enumerate(order)}
        self.last = [max([self.at[v]] + [self.at[c] for c in self.readers[v]])
                     for v in range(n)]

    def is_kept(self, v):
        return v not in self.backward and bool(self.readers[v] & self.backward)

    def is_transient(self, v):
        return not self.is_kept(v) and not (
            v in self.backward and any(self.nodes[c].get("oncePerStep")
                                       for c in self.readers[v]))

    def memory(self, i, j, in_flight, recompute):
        mine = set(self.forward[i:j])
        ops = mine | {v for v in self.backward
                      if self.nodes[v].get("forwardId", self.forward[-1])
                      in mine}
        colours = {self.nodes[v]["colorClass"] for v in mine}
        with_layer = {self.nodes[v]["colorClass"] for v in self.forward}
        states = sum(
            x["size"] + x.get("gradientSize", 0)
            for v, x in enumerate(self.nodes) if x["colorClass"] in colours or
            x["colorClass"] not in with_layer and v in ops)
        transient = max(sum(self.bytes[u] for u in range(len(self.nodes))
                            if self.is_transient(u) and
                            self.at[u] <= self.at[v] <= self.last[u])
                        for v in ops)
        kept = sum(self.bytes[v] for v in mine if self.is_kept(v))
        incoming = sum(self.bytes[u] for u in self.forward[:i]
                       if self.readers[u] & mine)
        return states + transient + in_flight * incoming + \
            kept * (1 if recompute else in_flight)


def check_stages(name, model, costs, recompute):
    layers, stages, micro = Layers(costs), 3, 8
    n, table = len(layers.forward), {}

    def memory(s, i, j):
        if (s, i, j) not in table:
            table[s, i, j] = layers.memory(i, j, min(micro, stages - s),
                                           recompute)
        return table[s, i, j]
    want = min(max(memory(0, 0, i), memory(1, i, j), memory(2, j, n))
               for i in range(1, n) for j in range(i + 1, n))
    got = call(TDLC, "place", *model, "-k", str(stages), "--algorithm", "mcap",
               "--micro-batches", str(micro),
               *(("--recompute",) if recompute else ()))
    expect(f"{name}: a peak of {want} bytes, not {got['peak_bytes_max']}",
           got["peak_bytes_max"] == math.ceil(want))


def draw_costs(r):
    """A small training step: weights that are tied, gradients, updates."""
    n = r.randint(3, 9)
    nodes = [{"id": v, "fpgaLatency": r.randrange(5), "supportedOnFpga": 1,
              "size": r.choice((0, r.randrange(500))), "isBackwardNode": 0,
              "colorClass": r.choice((v, v, r.randrange(n)))}
             for v in range(n)]
    for x in nodes:
        x["gradientSize"] = r.choice((0, x["size"]))
    edges = {(r.randrange(max(0, v - 3), v), v) for v in range(1, n)
             for _ in range(2)}
    for v in range(n, n + r.randint(0, 2 * n)):
        of = r.choice((None, *range(n)))
        nodes.append({"id": v, "fpgaLatency": r.randrange(5),
                      "supportedOnFpga": 1, "size": r.choice((0, 0, 70)),
                      "isBackwardNode": 1, "colorClass": r.randrange(2 * n)})
        if of is not None:
            nodes[-1]["forwardId"] = of
        if r.random() < 0.3:
            nodes[-1]["oncePerStep"] = 1
        edges |= {(r.randrange(v), v) for _ in range(r.randint(0, 3))}
    results = [{"id": v, "cost": 1, "size": r.choice((0, r.randrange(900)))}
               for v in range(len(nodes))]
    return {"format": "tdl-costs", "version": 1, "nodes": nodes,
            "results": results,
            "edges": [{"sourceId": u, "destId": v, "cost": 1,
                       "size": results[u]["size"]} for u, v in edges]}


def check_drawn(r, folder):
    for i in range(300 if ALL else 60):
        costs = draw_costs(r)
        path = os.path.join(folder, "drawn.json")
        with open(path, "w") as f:
            json.dump(costs, f)
        check_stages(f"drawn {i}", [path], costs, r.random() < 0.5)


def check(name, sizes, options, r, folder):
    model = [os.path.join(MODELS, f"{name}.tdl"), *options,
             *(f"-D{k}={v}" for k, v in sizes.items())]
    costs = json.loads(subprocess.run(
        [TDLC, "show", *model, "--costs"], check=True, capture_output=True,
        text=True).stdout)
    g, shown = as_graph(costs), call(TDLC, "show", *model)
    kept = sum(t["bytes"] for t in shown["tensor_list"]
               if t["kind"] in ("state", "parameter") or
               "--train" not in options and t["kind"] == "constant" and
               len(t["shape"]) > 0)
    resident = sum(g.resident)
    name = " ".join([name, *options])
    expect(f"{name}: {resident} of {kept} bytes of states",
           resident <= kept and ("--train" not in options or
                                 kept - resident < 1000))
    expect(f"{name}: {shown['operators']} operators",
           sum(1 for n in costs["nodes"] if n["fpgaLatency"] > 0) <=
           shown["operators"] <= len(costs["nodes"]))
    expect(f"{name}: results and nodes",
           [n["id"] for n in costs["nodes"]] ==
           [x["id"] for x in costs["results"]])
    alone = call(TDLC, "place", *model, "-k", "1", "--algorithm", "single")
    plan = call(TDLC, "plan", *model, "-k", "1", "--no-fuse")
    ratio = alone["makespan_seconds"] / plan["predicted_seconds"]
    expect(f"{name}: {ratio} of the plan's time", 0.999 < ratio < 1.001)
    path = os.path.join(folder, f"{os.path.basename(model[0])}")
    with open(path + ".json", "w") as f:
        json.dump(costs, f)
    for algorithm in "heft", "pardnn":
        a = call(TDLC, "place", *model, "-k", "3", "--algorithm", algorithm)
        b = call(TDLC, "place", path + ".json", "-k", "3", "--algorithm",
                 algorithm)
        for j in a, b:
            del j["graph"], j["seconds"]
        expect(f"{name}: {algorithm} of the model and of its file", a == b)
    check_placements(name, model, g, r, folder)
    if len(costs["nodes"]) < 120:
        check_stages(name, model, costs, r.random() < 0.5)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    r = random.Random(p.parse_args().seed)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES if ALL else CASES[:3] + CASES[4:6]:
            check(*case, r, folder)
        check_drawn(r, folder)
    finish()


main()
