"""A second judge of placements, and random cost graphs, for the tests.

The judge is written from its rules (compiler/placement/judge.h) with lists
that are searched from end to end, so that it shares nothing with the first but
them.  Times are whole nanoseconds.
"""
import json
import math
import random


class Graph:
    """Operators with times, resident bytes, results [bytes, ms, readers]."""

    def __init__(self):
        self.ids, self.ms, self.resident, self.backward = [], [], [], []
        self.colour, self.results = [], []

    def add(self, name, ms, resident=0, backward=False, colour=None):
        self.ids.append(name)
        self.ms.append(ms)
        self.resident.append(resident)
        self.backward.append(backward)
        self.colour.append(colour)
        self.results.append([])
        return len(self.ids) - 1

    def edges(self):
        return [(u, v) for u in range(len(self.ids))
                for _, _, readers in self.results[u] for v in readers]


def whole(x):
    """Rounded, halves up."""
    return math.floor(x + 0.5)


def levels(g, place, ns, move):
    """The longest path from each operator's begin to the end."""
    left = [sum(len(r[2]) for r in rs) for rs in g.results]
    ahead = [[] for _ in g.ids]
    for u, v in g.edges():
        ahead[v].append(u)
    level = [None] * len(g.ids)
    todo = [v for v in range(len(g.ids)) if left[v] == 0]
    while todo:
        v = todo.pop()
        level[v] = ns[v] + max(
            (level[c] + move(v, q, place[c])
             for q, r in enumerate(g.results[v]) for c in r[2]), default=0)
        for u in ahead[v]:
            left[u] -= 1
            if left[u] == 0:
                todo.append(u)
    return level


def judge(g, place, k, ports=True, link=None, span=None, lifetimes=False,
          factor=1, speed=None):
    """Makespan and peaks.  speed: of each device, 1 if None.  link: None for the file's costs, else a list of
    (seconds, bytes/s), the innermost level first; span: how many devices a
    group of each of these levels has."""
    n = len(g.ids)

    def move(u, q, to):
        nbytes, ms, _ = g.results[u][q]
        if to == place[u]:
            return 0
        if link is None:
            return whole((ms or 0) * 1e6)
        at = 0
        while at + 1 < len(link) and place[u] // span[at] != to // span[at]:
            at += 1
        return whole(link[at][0] * 1e9 + nbytes / (link[at][1] / 1e9))

    ns = [whole(t * 1e6 / (speed[place[v]] if speed else 1))
          for v, t in enumerate(g.ms)]
    level = levels(g, place, ns, move)
    missing = [0] * n
    for _, v in g.edges():
        missing[v] += 1
    begin, end = [None] * n, [None] * n
    waiting, sending, arrived = [], [], {}
    running, free = {}, [True] * k
    out, into = [True] * k, [True] * k
    now = 0
    while True:
        # Ends.
        for d in [d for d, v in running.items() if end[v] == now]:
            u = running.pop(d)
            free[d] = True
            for q, (_, _, readers) in enumerate(g.results[u]):
                for v in readers:
                    missing[v] -= place[v] == d
                for to in sorted({place[v] for v in readers} - {d}):
                    top = max(level[v] for v in readers if place[v] == to)
                    waiting.append((-top, u, q, to))
        for t in [t for t in sending if arrived[t[1:]][1] == now]:
            sending.remove(t)
            _, u, q, to = t
            out[place[u]] = into[to] = True
            for v in g.results[u][q][2]:
                missing[v] -= place[v] == to
        # Begins of transfers, then of operators.
        for t in sorted(waiting):
            _, u, q, to = t
            if ports and not (out[place[u]] and into[to]):
                continue
            waiting.remove(t)
            sending.append(t)
            out[place[u]] = into[to] = False
            arrived[u, q, to] = (now, now + move(u, q, to))
        for d in range(k):
            ready = [(-level[v], v) for v in range(n) if place[v] == d and
                     begin[v] is None and missing[v] == 0]
            if free[d] and ready:
                v = min(ready)[1]
                begin[v], end[v] = now, now + ns[v]
                running[d] = v
                free[d] = False
        later = [end[v] for v in running.values()] + \
                [arrived[t[1:]][1] for t in sending]
        if not later:
            break
        now = min(later)
    assert None not in end
    return now, peaks(g, place, k, begin, end, arrived, now, lifetimes, factor)


def peaks(g, place, k, begin, end, arrived, span, lifetimes, factor):
    """The most bytes of each device, looked for at each begin of anything."""
    held = []                                   # device, from, to, bytes
    for u in range(len(g.ids)):
        for q, (nbytes, _, readers) in enumerate(g.results[u]):
            mine = [end[v] for v in readers if place[v] == place[u]]
            moves = {to: t for (a, b, to), t in arrived.items()
                     if (a, b) == (u, q)}
            last = max([end[u]] + mine + [t[1] for t in moves.values()])
            held.append((place[u], begin[u], last if readers else span,
                         whole(nbytes)))
            for to, (since, _) in moves.items():
                held.append((to, since, max(end[v] for v in readers
                                            if place[v] == to), whole(nbytes)))
    most = []
    for d in range(k):
        base = sum(whole(g.resident[v] * factor) for v in range(len(g.ids))
                   if place[v] == d)
        times = {x[1] for x in held if x[0] == d} if lifetimes else ()
        most.append(base + max((sum(x[3] for x in held if x[0] == d and
                                    x[1] <= t < x[2]) for t in times),
                               default=0))
    return most


# ---- random graphs -------------------------------------------------------------

def draw_json(r, n):
    """A graph for dnn-partitioning's format, with ties on purpose."""
    g = Graph()
    names = r.sample(range(10 * n), n)
    for name in names:
        ms = r.choice((0, 0.5, 1, 1, 2, r.random() * 5))
        g.add(name, ms, r.randrange(1000), colour=r.randrange(n))
        g.results[-1].append([r.choice((0, 500, 1000, r.randrange(5000))),
                              r.choice((0, 0.5, 1, r.random() * 3)), []])
    order = r.sample(range(n), n)
    for j in range(1, n):
        for i in r.sample(range(max(0, j - 8), j), min(j, r.randint(0, 3))):
            g.results[order[i]][0][2].append(order[j])
    for v in range(n):
        if not g.results[v][0][2]:      # no edge says what it is
            g.results[v][0][:2] = [0, 0]
    return g


def as_json(g, k):
    """The text of it."""
    nodes = [{"id": g.ids[v], "fpgaLatency": g.ms[v], "cpuLatency": 1,
              "size": g.resident[v], "isBackwardNode": int(g.backward[v]),
              "supportedOnFpga": 1, "colorClass": g.colour[v]}
             for v in range(len(g.ids))]
    edges = [{"sourceId": g.ids[u], "destId": g.ids[v], "cost": ms,
              "size": nbytes} for u in range(len(g.ids))
             for nbytes, ms, readers in g.results[u] for v in readers]
    return json.dumps({"maxSizePerFPGA": 1e12, "maxFPGAs": k, "maxCPUs": 0,
                       "nodes": nodes, "edges": edges})


def draw_profile(r, n):
    """The text of a PipeDream profile, and its training pass."""
    g, text = Graph(), ""
    layers = [(r.choice((0, 1.5, 2.25, 3)), r.choice((0, 1, 4.5)),
               r.choice(((0,), (1000,), (2000, 500), (r.randrange(9999),))),
               r.randrange(3000)) for _ in range(n)]
    for i, (f, b, sizes, parameters) in enumerate(layers):
        size = f"{sizes[0]}.0" if len(sizes) == 1 else \
            "[" + r.choice(("; ", ", ")).join(f"{x}.0" for x in sizes) + "]"
        text += (f"node{i} -- Layer(1, {i}) -- forward_compute_time={f:.3f}, "
                 f"backward_compute_time={b:.3f}, activation_size={size}, "
                 f"parameter_size={parameters}.000\n")
        g.add(f"node{i}", f, parameters)
        g.results[i].append([sum(sizes), None, []])
    for i, (_, b, _, _) in enumerate(layers):
        g.add(f"node{i}'", b, backward=True)
    for j in range(1, n):
        for i in r.sample(range(max(0, j - 4), j), min(j, r.randint(1, 2))):
            text += f"\tnode{i} -- node{j}\n"
            g.results[i][0][2].append(j)
            g.results[n + j].append([sum(layers[i][2]), None, [n + i]])
    for i in range(n):
        g.results[i][0][2].append(n + i)
        if not g.results[n + i]:
            g.results[n + i].append([0, None, []])
    return text, g


def tied(g, layers):
    """A layer training graph, backward operators behind the `layers` forward
    ones, as a graph that can be run."""
    t = Graph()
    for v in range(len(g.ids)):
        t.add(g.ids[v], g.ms[v], g.resident[v], g.backward[v], g.colour[v])
    for u in range(layers):
        nbytes, ms, readers = g.results[u][0]
        t.results[u].append([nbytes, ms, readers + [layers + u]])
    for u in range(layers, 2 * layers):
        for v in g.results[u][0][2]:
            t.results[v].append([g.results[u][0][0], g.results[u][0][1], [u]])
    return t


def draw_layers(r, n):
    """A layer training graph as published: the backward pass a second copy."""
    g = draw_json(r, n)
    for v in range(n):
        g.colour[v] = v
    for v in range(n):
        g.add(10 * n + v, r.choice((0, 1, 2.5)), r.randrange(1000), True, v)
        nbytes, ms, readers = g.results[v][0]
        g.results[-1].append([nbytes, ms, [n + c for c in readers]])
    return g


def placement(g, place, k):
    """The text of a placement file."""
    return json.dumps({"format": "tdl-placement", "version": 1, "devices": k,
                       "placement": [{"id": g.ids[v], "device": place[v]}
                                     for v in range(len(g.ids))]})
