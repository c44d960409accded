"""Placements of cost graphs beside those of other programs, by one judge.

	placement.py [-k K] [--link GB/s,US] [--limit S] FILE.json[.xz]...

Files are dnn-partitioning's.  Rows are those of `tdlc compare` and, where they
are installed, Scotch's partition of the graph (`scotch_gpart` on the PATH, or the
program $SCOTCH_GPART), and ParDNN's program ($PARDNN).  Their placements are
judged by `tdlc score`.  A program that fails has its status in its row.
"""
import argparse
import json
import lzma
import os
import shutil
import subprocess
import tempfile

TDLC = os.environ.get("TDLC", "./tdlc")


class Graph:
    """Operators with ms, and edges with the ms of their transfers."""

    def __init__(self, text, gb, us):
        j = json.loads(text)
        self.ids = [x["id"] for x in j["nodes"]]
        self.ms = [x["fpgaLatency"] for x in j["nodes"]]
        number = {x: v for v, x in enumerate(self.ids)}
        nbytes = {}
        for e in j["edges"]:
            u = number[e["sourceId"]]
            nbytes[u] = max(nbytes.get(u, 0), e.get("size", 0))
        pairs = {(number[e["sourceId"]], number[e["destId"]])
                 for e in j["edges"]}
        self.nbytes = [nbytes.get(v, 0) for v in range(len(self.ids))]
        self.edges = sorted(pairs)
        self.move = [us * 1e-3 + x / gb * 1e-6 for x in self.nbytes]


def scotch(g, k, gpart, folder, limit):
    """The devices of operators; edges weigh the time of their transfers."""
    weight = {}
    for u, v in g.edges:
        pair = min(u, v), max(u, v)
        weight[pair] = weight.get(pair, 0) + g.move[u]
    near = [[] for _ in g.ids]
    for (u, v), ms in weight.items():
        near[u].append((max(1, int(1e3 * ms)), v))
        near[v].append((max(1, int(1e3 * ms)), u))
    with open(os.path.join(folder, "graph.grf"), "w") as f:
        f.write(f"0\n{len(g.ids)} {2 * len(weight)}\n0 011\n")
        for ms, of in zip(g.ms, near):
            f.write(" ".join([str(max(1, int(1e3 * ms))), str(len(of))] +
                             [f"{x} {v}" for x, v in of]) + "\n")
    out = os.path.join(folder, "graph.map")
    subprocess.run([gpart, str(k), os.path.join(folder, "graph.grf"), out],
                   check=True, timeout=limit, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    place = [0] * len(g.ids)
    with open(out) as f:
        for line in f.read().split("\n")[1:]:
            if line.strip():
                v, d = line.split()
                place[int(v)] = int(d)
    return place


def pardnn(g, k, program, link, folder, limit):
    """The devices of operators; the program takes microseconds and bytes, and
    wants one source and one sink."""
    gb, us = link
    heads = {v for _, v in g.edges}
    tails = {u for u, _ in g.edges}
    n = range(len(g.ids))
    files = {
        "graph": [f'"src" -> "n{v}"' for v in n if v not in heads] +
                 [f'"n{v}" -> "snk"' for v in n if v not in tails] +
                 [f'"n{u}" -> "n{v}"' for u, v in g.edges],
        "nodes_weights": ["src::0", "snk::0"] +
                         [f"n{v}::{round(1e3 * g.ms[v])}" for v in n],
        "edges_costs": ["src::0"] + [f"n{v}::{g.nbytes[v]:.0f}" for v in n],
        "var_nodes": [], "ref_nodes": [], "no_ops": [], "cpu_nodes": [],
        "vanilla_cleaned": []}
    settings = {"folder": folder, "K": k, "COMM_LATENCY": us,
                "COMM_TRANSFER_RATE": gb, "BALANCE_MEMORY": False}
    for name, lines in files.items():
        settings[name] = os.path.join(folder, name)
        with open(settings[name], "w") as f:
            f.write("".join(x + "\n" for x in lines))
    with open(os.path.join(folder, "settings.json"), "w") as f:
        json.dump(settings, f)
    subprocess.run([os.path.abspath(program)], cwd=folder, check=True,
                   timeout=limit, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    place = [0] * len(g.ids)
    with open(os.path.join(folder, "placement.place")) as f:
        for name, d in map(str.split, f):
            if name.startswith("n"):
                place[int(name[1:])] = max(0, int(d))
    return place


def score(path, g, place, options, folder):
    """The judge's result."""
    file = os.path.join(folder, "placement.json")
    with open(file, "w") as f:
        json.dump({"format": "tdl-placement", "version": 1,
                   "devices": int(options[1]), "placement": [
                       {"id": i, "device": d} for i, d in zip(g.ids, place)]},
                  f)
    done = subprocess.run([TDLC, "score", path, "--placement", file, "--json",
                           *options], check=True, capture_output=True)
    return json.loads(done.stdout)


def judged(*what):
    """The makespan in ms."""
    return 1e3 * score(*what)["makespan_seconds"]


def loads(path, g, a, options, folder):
    """Any split's greatest load, here and by HiGHS, without cores."""
    python = os.environ.get("HIGHS_PYTHON")
    if not python:
        return
    done = subprocess.run([TDLC, "place", path, *options, "--algorithm",
                           "load", "--any-split", "--cores", "0", "--json"],
                          check=True, capture_output=True)
    ours = json.loads(done.stdout)
    print(f"{'load':10} {1e3 * ours['max_load_seconds']:12.3f} ms "
          f"{ours['seconds']:8.2f} s")
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "highs.py")
    try:
        done = subprocess.run([python, program, path, str(a.k), a.link,
                               str(a.limit)], check=True, capture_output=True,
                              timeout=2 * a.limit)
        ms = 1e3 * score(path, g, json.loads(done.stdout), options,
                         folder)["max_load_seconds"]
        print(f"{'HiGHS':10} {ms:12.3f} ms")
    except (subprocess.SubprocessError, OSError) as e:
        print(f"{'HiGHS':10} {type(e).__name__}")


def others(g, a, link, folder):
    """Name and function of each program that is installed."""
    gpart = os.environ.get("SCOTCH_GPART") or shutil.which("scotch_gpart")
    program = os.environ.get("PARDNN")
    if gpart:
        yield "Scotch", lambda: scotch(g, a.k, gpart, folder, a.limit)
    if program:
        yield "ParDNN's", lambda: pardnn(g, a.k, program, link, folder,
                                         a.limit)


def bench(file, a, link, folder):
    opener = lzma.open if file.endswith(".xz") else open
    with opener(file, "rt") as f:
        text = f.read()
    path = os.path.join(folder, "graph.json")
    with open(path, "w") as f:
        f.write(text)
    g, options = Graph(text, *link), ["-k", str(a.k), "--link", a.link]
    done = subprocess.run([TDLC, "compare", path, "--json", *options],
                          check=True, capture_output=True)
    print(f"\n{os.path.basename(file)} on {a.k} devices, {a.link}")
    for row in json.loads(done.stdout)["algorithms"]:
        if "makespan_seconds" in row:
            print(f"{row['algorithm']:10} {1e3 * row['makespan_seconds']:12.3f}"
                  f" ms {row['seconds']:8.2f} s")
    for name, place in others(g, a, link, folder):
        try:
            ms = judged(path, g, place(), options, folder)
            print(f"{name:10} {ms:12.3f} ms")
        except (subprocess.SubprocessError, OSError) as e:
            print(f"{name:10} {type(e).__name__}")
    loads(path, g, a, options, folder)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-k", type=int, default=4)
    p.add_argument("--link", default="12,25")
    p.add_argument("--limit", type=float, default=120)
    p.add_argument("files", nargs="*")
    a = p.parse_args()
    if not a.files:
        print("no cost graphs are named (PLACEMENT_FLAGS='FILE.json')")
    gb, us = (a.link + ",0").split(",")[:2]
    for file in a.files:
        with tempfile.TemporaryDirectory() as folder:
            bench(file, a, (float(gb), float(us)), folder)


main()
