"""Models of ours as cost graphs.

For some models, with and without training: the cost graph of `tdlc show
--costs' has all bytes of states and weights of `tdlc show --json'; on one
device it takes as long as the plan for one device without fusion; its
placements cost the same by a second judge (tests/placement/reference.py);
`tdlc place MODEL' gives the same as `tdlc place' of that file.  The least peak
of stages is that of all splits, by the formula in docs/stages.md.  Steps and places in the cost graph are those of the plan's
program; where nothing is trained, one stage needs the plan's arena.

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


class Device:
    """Runs passes of a stage and holds what later steps of it need."""

    def __init__(self, layers, mine, first, recompute):
        self.layers, self.mine, self.first = layers, mine, first
        self.recompute, self.now, self.peak = recompute, {}, 0

    def hold(self, batch, v):
        if (batch, v) not in self.now and v not in self.layers.has_place and \
                not self.layers.nodes[v].get("constant"):
            self.now[batch, v] = self.layers.bytes[v]

    def look(self):
        self.peak = max(self.peak, sum(self.now.values()))

    def is_input(self, v):
        return self.layers.layer[v] < self.first and \
            self.layers.turn[v][0] == 0

    def drop(self, batch, done, stays):
        """What is not read again, unless it stays."""
        for b, v in list(self.now):
            if b == batch and v not in stays and \
                    not self.layers.readers[v] & self.mine - done:
                del self.now[b, v]

    def arrive(self, batch, at):
        """What comes from other stages before a pass; its steps here."""
        rest = [v for v in self.layers.runs[at] if v in self.mine]
        for v in range(len(self.layers.nodes)):
            early = at == 0 and self.is_input(v) and \
                self.layers.readers[v] & self.mine
            if v not in self.mine and (
                    early or self.layers.readers[v] & set(rest)):
                self.hold(batch, v)
        self.look()
        return rest

    def run(self, batch, at, done):
        """One pass of a micro-batch; done: what ran before."""
        layers, steps = self.layers, self.arrive(batch, at)
        end = 1 if layers.runs[1] else 0
        stays = {v for v in range(len(layers.nodes))
                 if v in self.mine and layers.nodes[v].get("output") or
                 self.recompute and self.is_input(v)} if at <= end else \
                {v for v in self.mine if layers.nodes[v].get("output") and
                 layers.turn[v][0] == 2}
        for v in steps:
            u = layers.over.get(v)
            if u is not None and not (u in stays and self.is_input(u)):
                self.now.pop((batch, u), None)
            self.hold(batch, v)
            self.look()
            done.add(v)
            self.drop(batch, done, stays)
        if at == end:
            self.drop(batch, done, ())

    def forget(self, batch):
        """Behind a forward pass that is run again: all but ends of it."""
        for b, v in list(self.now):
            if b == batch and not self.is_input(v) and \
                    not (v in self.mine and self.layers.nodes[v].get(
                        "output")):
                del self.now[b, v]


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
        at = {v: i for i, v in enumerate(self.forward)}
        self.layer = [at[nodes[v].get("forwardId", self.forward[-1])]
                      if nodes[v]["isBackwardNode"] else at[v]
                      for v in range(n)]
        self.set_turns(order)
        self.set_places()

    def once(self, v):
        return self.nodes[v]["isBackwardNode"] == 1 and \
            self.nodes[v].get("oncePerStep") == 1 and \
            all(self.once(c) for c in self.readers[v])

    def late(self, v, known):
        """Needs, through operators of B, a result of a later layer."""
        if v not in known:
            known[v] = self.is_b(v) and any(
                self.layer[u] > self.layer[v] or self.late(u, known)
                for u in self.reads[v])
        return known[v]

    def is_b(self, v):
        return self.nodes[v]["isBackwardNode"] == 1 and not self.once(v)

    def set_turns(self, order):
        rank = sorted(order, key=lambda v: (self.nodes[v].get("step", 0),
                                            order.index(v)))
        known = {}
        late = [v for v in rank if self.late(v, known)]
        first = rank.index(late[0]) if late else len(rank)
        self.turn = [None] * len(order)
        for i, v in enumerate(rank):
            at = 2 if self.once(v) else \
                1 if self.is_b(v) and i >= first else 0
            self.turn[v] = (at, i)
        self.runs = [[v for v in rank if self.turn[v][0] == at]
                     for at in range(3)]

    def set_places(self):
        """over: whose place is taken over; has_place: there all the time."""
        self.over, self.has_place = {}, set()
        for v in sorted(range(len(self.nodes)), key=lambda v: self.turn[v]):
            node, u = self.nodes[v], self.nodes[v].get("overId")
            if u in self.reads[v] and not self.nodes[u].get("constant") and \
                    not self.nodes[u].get("output") and \
                    self.turn[u] < self.turn[v] and \
                    max(self.turn[c] for c in self.readers[u]) == self.turn[v]:
                self.over[v] = u
            if node.get("overState") or self.over.get(v) in self.has_place or \
                    node["isBackwardNode"] and self.turn[v][0] < 2 and \
                    any(self.turn[c][0] == 2 for c in self.readers[v]):
                self.has_place.add(v)

    def memory(self, i, j, in_flight, recompute):
        mine = {v for v in range(len(self.nodes)) if i <= self.layer[v] < j}
        colours = {self.nodes[v]["colorClass"] for v in self.forward[i:j]}
        with_layer = {self.nodes[v]["colorClass"] for v in self.forward}
        states = sum(
            x["size"] + x.get("gradientSize", 0)
            for v, x in enumerate(self.nodes) if x["colorClass"] in colours or
            x["colorClass"] not in with_layer and v in mine)
        constants = sum(self.bytes[v] for v, x in enumerate(self.nodes)
                        if x.get("constant") and
                        (v in mine or self.readers[v] & mine))
        recompute = recompute and self.runs[1]
        device = Device(self, mine, i, recompute)
        for batch in range(in_flight):
            done = set()
            device.run(batch, 0, done)
            if recompute:
                device.forget(batch)
        if recompute:
            done = set()
            device.run(batch, 0, done)
        device.run(batch, 1, done)
        device.run(batch, 2, done)
        return states + constants + device.peak


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


def draw_program(r, nodes, edges):
    """Steps in any order that may be, places, constants, outputs."""
    reads = [{u for u, w in edges if w == v} for v in range(len(nodes))]
    done, ordered = [], r.random() < 0.8
    while len(done) < len(nodes):
        v = r.choice([v for v in range(len(nodes))
                      if v not in done and reads[v] <= set(done)])
        done.append(v)
        if ordered and (reads[v] or r.random() < 0.5):
            nodes[v]["step"] = len(done)
        if reads[v] and r.random() < 0.5:
            nodes[v]["overId"] = r.choice(sorted(reads[v]))
        elif r.random() < 0.1:
            nodes[v]["overState"] = 1
        if r.random() < 0.15:
            nodes[v][r.choice(("output", "constant"))] = 1


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
    draw_program(r, nodes, edges)
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


def check_program(name, model, costs, folder):
    """Steps and shared places are those of the plan file, but for chains, whose
    runs are brought together and whose results have no places."""
    path = os.path.join(folder, "alone.tdlplan")
    subprocess.run([TDLC, "plan", *model, "-k", "1", "--no-fuse", "-o", path],
                   check=True, capture_output=True)
    with open(path) as f:
        plan = json.load(f)
    runs = [i for i in plan["program"] if "run" in i]
    names = {n["id"]: n["name"] for n in costs["nodes"]}
    chained = {plan["nodes"][i["run"]]["name"] for i in runs if "chain" in i}
    steps = sorted((n["step"], n["name"]) for n in costs["nodes"]
                   if "step" in n)
    expect(f"{name}: {len(steps)} steps in the order of the program",
           {n for _, n in steps} >= chained and
           [n for _, n in steps if n not in chained] ==
           [plan["nodes"][i["run"]]["name"] for i in runs if "chain" not in i])
    nodes = {n["name"]: n for n in costs["nodes"]}
    maker = {i["to"]: plan["nodes"][i["run"]]["name"] for i in runs}
    place = [(b["offset"], b["bytes"]) for b in plan["buffers"]]
    states = {place[b] for b, x in enumerate(plan["buffers"])
              if plan["tensors"][x["tensor"]]["role"] == "state"}
    wrong = []
    for i in runs:
        n = nodes[maker[i["to"]]]
        if n["name"] in chained:
            continue
        over = {b for b in i["from"]
                if place[b] == place[i["to"]] and place[b][1] > 0}
        if place[i["to"]] in states and n.get("overState"):
            continue
        took = names.get(n.get("overId"))
        if over and took not in {maker.get(b, took) for b in over} or \
                took is not None and not over:
            wrong.append(n["name"])
    expect(f"{name}: places of {wrong}", not wrong)
    if not plan.get("training"):
        got = call(TDLC, "place", *model, "-k", "1", "--algorithm", "mcap",
                   "--micro-batches", "1")["peak_bytes_max"]
        expect(f"{name}: {got} of {plan['arena_bytes']} bytes of the arena",
               0 <= plan["arena_bytes"] - got < 64 * len(plan["tensors"]))


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
    check_program(name, model, costs, folder)
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
