"""Makespans, loads and peaks beside a table of others', on the same graphs.

	rows.py [--folder GRAPHS] [POINT]...

$ROWS names the table, values separated by tabs with the header table,
workload, k, setting, algorithm, metric, value, unit, seconds, note; GRAPHS, or
$GRAPHS, has its workloads: FOLDER/NAME.json or .graph.txt, plain or with .xz.
Without them nothing is compared.  $INSTANCES names a program in Python that
prints the seed's instance with its least load, as `python X maxload SEED`.

Points: load, instances, split, makespan, alone (the list schedulers and pardnn
by themselves), memory, half, mcap, piper, gpt, zb; all of them without names.
Each line has the case, our value, the table's, their ratio and our seconds; the
last line of a point has the number of cases, and the geometric mean and the
maximum of the ratios.
"""
import argparse
import collections
import csv
import json
import lzma
import math
import os
import re
import subprocess
import sys
import tempfile
import time

TDLC = os.environ.get("TDLC", "./tdlc")
Row = collections.namedtuple("Row", "table workload k setting algorithm metric "
                                    "value unit seconds note")
FITTING = ("single", "balanced", "heft", "metf", "msct", "scotch", "pardnn")


class Bench:
    """The table, and where its workloads are."""

    def __init__(self, rows, graphs, folder):
        with open(rows, encoding="utf-8", newline="") as f:
            lines = list(csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
        self.rows = [Row(*x) for x in lines[1:] if len(x) == 10]
        self.graphs, self.folder, self.ratios = graphs, folder, []

    def of(self, table, **wanted):
        return [r for r in self.rows if r.table == table and
                all(getattr(r, name) == x for name, x in wanted.items())]

    def cases(self, table, *names):
        """The workloads, devices and settings of rows, in their order."""
        return list(dict.fromkeys(
            (r.workload, r.k, r.setting) for r in self.of(table)
            if not names or r.algorithm in names))

    def value(self, table, case, algorithm, metric):
        """The row's value, or None."""
        w, k, setting = case
        for r in self.of(table, workload=w, k=k, setting=setting,
                         algorithm=algorithm, metric=metric):
            if r.value and not r.note.startswith("over memory"):
                return float(r.value)
        return None

    def path(self, *names):
        """The workload as a plain file."""
        for name in names:
            for end in (".json", ".graph.txt"):
                source = os.path.join(self.graphs, name + end)
                for opener, file in ((open, source),
                                     (lzma.open, source + ".xz")):
                    if os.path.exists(file):
                        out = os.path.join(self.folder, os.path.basename(
                            source))
                        with opener(file, "rb") as f, open(out, "wb") as g:
                            g.write(f.read())
                        return out
        return None

    def line(self, what, ours, theirs, seconds):
        """One value beside its row; ours is None where tdlc found none."""
        if ours is None or theirs is None:
            print(f"{what:48} {'none' if ours is None else f'{ours:.6g}':>12}"
                  f" {'none' if theirs is None else f'{theirs:.6g}':>12}")
            return
        ratio = ours / theirs if theirs else float(ours == 0) or math.inf
        self.ratios.append(ratio)
        print(f"{what:48} {ours:12.6g} {theirs:12.6g} {ratio:8.4f} "
              f"{seconds:7.2f} s", flush=True)

    def summary(self, point):
        if self.ratios:
            mean = math.exp(sum(map(math.log, self.ratios)) /
                            len(self.ratios))
            print(f"= {point}: {len(self.ratios)} cases, mean {mean:.4f}, "
                  f"greatest {max(self.ratios):.4f}\n", flush=True)
        self.ratios = []


def place(path, k, *options):
    """The output of tdlc, and its seconds; None where nothing fits."""
    begin = time.monotonic()
    done = subprocess.run([TDLC, "place", path, "-k", str(k), "--json",
                           *map(str, options)], capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 3):
        sys.exit(f"{path}: status {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout) if done.returncode == 0 else None, seconds


def name_of(case):
    return f"{case[0].split('/', 1)[1][:34]} {case[1]}"


def ms(result, member="makespan_seconds"):
    return result and 1e3 * result[member]


# ---- loads --------------------------------------------------------------------

def loads(b, what, *options):
    for case in b.cases("maxload"):
        path = b.path("throughput/" + case[0], case[0])
        rows = [float(r.value) for r in b.of("maxload", workload=case[0],
                                             k=case[1], setting=case[2])
                if what(r.algorithm) and r.metric == "max load" and r.value]
        if path and rows:
            got, s = place(path, case[1], "--algorithm", "load", *options)
            b.line(name_of(case), ms(got, "max_load_seconds"), min(rows), s)


def load(b):
    loads(b, lambda a: a.startswith("exact contiguous"))


def split(b):
    loads(b, lambda a: not a.startswith("bound"), "--any-split")


def instances(b):
    """Random graphs with the least load of contiguous splits in the file."""
    program, wrong = os.environ.get("INSTANCES"), 0
    if not program:
        print("no program for instances is named ($INSTANCES)")
        return
    for seed in range(1, 1001):
        path = os.path.join(b.folder, "instance.json")
        with open(path, "w", encoding="utf-8") as f:
            subprocess.run([sys.executable, program, "maxload", str(seed)],
                           check=True, stdout=f)
        with open(path, encoding="utf-8") as f:
            j = json.load(f)
        got, _ = place(path, j["maxFPGAs"], "--algorithm", "load")
        want = j["optimum_contiguous"]
        want = want if math.isfinite(want) else None
        ours = ms(got, "max_load_seconds")
        if (ours is None) != (want is None) or \
                (want is not None and abs(ours - want) > 1e-6 * max(1, want)):
            wrong += 1
            print(f"seed {seed}: {ours}, not {want}")
    print(f"= instances: 1000 cases, {wrong} differ\n", flush=True)


# ---- makespans ----------------------------------------------------------------

def machine(b, path, setting):
    """The options of tdlc for the setting of a row."""
    link = re.search(r"link ([\d.]+) GB/s \+ ([\d.]+) us", setting)
    options = ["--link", f"{link[1]},{link[2]}"] if link else []
    if "memory" in setting:
        with open(path, encoding="utf-8") as f:
            options += ["--memory", int(json.load(f)["maxSizePerFPGA"])]
    return options


def makespans(b, algorithm, peers, wanted):
    for case in b.cases("makespan", *peers):
        w, k, setting = case
        path = b.path(w)
        rows = [x for x in (b.value("makespan", case, p, "makespan, ports")
                            for p in peers) if x is not None]
        if path and rows and wanted(setting):
            got, s = place(path, k, "--algorithm", algorithm,
                           *machine(b, path, setting))
            b.line(f"{name_of(case)} {setting[5:13]}", ms(got), min(rows), s)


def makespan(b):
    makespans(b, "best", FITTING, lambda s: "half" not in s)


def alone(b):
    for name in ("heft", "metf", "msct", "pardnn"):
        makespans(b, name, (name,), lambda s: "half" not in s)
        b.summary(f"{name} by itself")


def memory(b):
    for name in ("best", "pardnn"):
        makespans(b, name, ("long local search",), lambda s: "memory" in s)
        b.summary(f"{name} within the files' memory")


def half(b):
    for case in b.cases("makespan", "local-half"):
        path = b.path(case[0])
        one, _ = place(path, 1, "--algorithm", "single", "--link", "12,25")
        got, s = place(path, case[1], "--link", "12,25", "--memory",
                       one["peak_bytes"][0] // 2)
        b.line(name_of(case), ms(got), b.value(
            "makespan", case, "local-half", "makespan, ports"), s)


# ---- stages -------------------------------------------------------------------

def mcap(b):
    """From one frontier: the least peak, the least longest stage, and the
    least one within 1.1 and 1.25 times the least peak."""
    fastest, least = "time-balanced, exact", "least peak, exact"
    for case in b.cases("stages"):
        w, k, setting = case
        words = setting.split()
        got, s = place(b.path(w), k, "--algorithm", "mcap", "--link", 12,
                       "--frontier", "--schedule", words[1],
                       "--micro-batches", words[0][2:],
                       *["--recompute"] * ("recompute" in words))
        f = [(x["peak_bytes_max"], 1e3 * x["bottleneck_seconds"])
             for x in got["frontier"]]
        peak, longest = min(x for x, _ in f), min(y for _, y in f)
        figures = {(least, "peak"): peak, (fastest, "bottleneck"): longest,
                   (least + ", fastest of these", "bottleneck"):
                   min(y for x, y in f if x == peak)}
        for times in (1.1, 1.25):
            figures[f"within {times} x least peak", "bottleneck / fastest"] = \
                min(y for x, y in f if x <= times * peak) / longest
        for (algorithm, metric), ours in figures.items():
            b.line(f"{name_of(case)} {setting}, {algorithm[:14]}"[:48], ours,
                   b.value("stages", case, algorithm, metric), s)


def piper(b):
    for case in b.cases("piper", "Piper (published program)"):
        path = b.path(case[0])
        gib = re.match(r"(\d+) GB, batch (\d+)", case[2])
        got, s = place(path, case[1], "--algorithm", "capture", "--memory",
                       int(gib[1]) << 30, "--link", (25 << 30) / 1e9,
                       "--micro-batches", gib[2])
        b.line(f"{name_of(case)}, {gib[1]} GiB", got["seconds_per_sample"],
               b.value("piper", case, "Piper (published program)",
                       "time per sample"), s)


def layers_of_gpt(layers, h, heads, seq, vocab):
    block = {"params": 24.0 * h * h, "edge": 2.0 * seq * h, "ar": 2.0 * seq * h,
             "flops": 24.0 * seq * h * h + 4.0 * seq * seq * h,
             "act": 24.0 * seq * h + 5.0 * heads * seq * seq,
             "rep": 10.0 * seq * h}
    first = {"params": 2.0 * vocab * h, "flops": 0, "act": 0, "rep": seq * h,
             "edge": 2.0 * seq * h, "ar": seq * h}
    last = {"params": 2.0 * vocab * h, "flops": 2.0 * seq * vocab * h,
            "act": 4.0 * seq * vocab, "rep": 2.0 * seq * h, "edge": 0, "ar": 0}
    return [first] + [block] * layers + [last]


def gpt(b):
    """GPT-6.7B on 32 devices: the fastest plan, and of the frontier the
    fastest within some times the least peak."""
    path = os.path.join(b.folder, "gpt.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"format": "tdl-layers", "version": 1, "batch": 64,
                   "layers": layers_of_gpt(32, 4096, 32, 1024, 51200),
                   "machine": {"devices": 32, "node": 8, "flops": 1.4e14,
                               "intra": 2.4e11, "inter": 2.5e10,
                               "memory": 8e10}}, f)
    for case in b.cases("hybrid"):
        ways = {"no": ["--no-recompute"], "no+rec": []}.get(
            case[2].rsplit(" ", 1)[1])
        if case[:2] != ("gpt-6.7b", "32") or ways is None:
            continue
        zero = ["--zero"] if "zero1=1" in case[2] else []
        got, s = place(path, 32, "--algorithm", "capture", "--frontier", *ways,
                       *zero)
        f = [(x["step_seconds"], x["peak_bytes_max"]) for x in got["frontier"]]
        least = min(x for _, x in f)
        for algorithm, cap in (("time", math.inf), ("peak", 1),
                               ("time within 1.1 x least peak", 1.1),
                               ("time within 1.25 x least peak", 1.25)):
            step, peak = min(x for x in f if x[1] <= cap * least)
            for metric, ours in (("peak", peak / 1e9), ("step", step)):
                b.line(f"{case[2][16:]}, {algorithm[:22]}, {metric}", ours,
                       b.value("hybrid", case, algorithm, metric), s)


def zb(b):
    """Equal F, B and W of one unit: 3 M + S - 1 units and S in flight."""
    for S in (2, 4, 8):
        path = os.path.join(b.folder, "equal.graph.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(f"node{i} -- L -- forward_compute_time=1.0, "
                         "backward_compute_time=2.0, activation_size=1.0, "
                         "parameter_size=1.0\n" for i in range(S))
            f.writelines(f"\tnode{i} -- node{i + 1}\n" for i in range(S - 1))
        for M in (S, 2 * S, 4 * S, 32 * S):
            got, s = place(path, S, "--algorithm", "mcap", "--schedule", "zb",
                           "--micro-batches", M)
            b.line(f"zb, {S} stages, {M} micro-batches", ms(got),
                   3 * M + S - 1, s)
            b.line("    in flight", max(x["in_flight"]
                                        for x in got["stages"]), S, s)


POINTS = {f.__name__: f for f in (load, instances, split, makespan, alone,
                                  memory, half, mcap, piper, gpt, zb)}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folder", default=os.environ.get("GRAPHS"))
    p.add_argument("points", nargs="*", metavar="POINT")
    a = p.parse_args()
    rows = os.environ.get("ROWS")
    if not rows or not a.folder:
        print("no table is named ($ROWS), or no folder of graphs ($GRAPHS)")
        return
    for point in a.points or POINTS:
        if point not in POINTS:
            p.error(f"'{point}' is none of {', '.join(POINTS)}")
        with tempfile.TemporaryDirectory() as folder:
            b = Bench(rows, a.folder, folder)
            print(f"{point:48} {'ours':>12} {'row':>12}    ratio")
            POINTS[point](b)
            b.summary(point)


main()
