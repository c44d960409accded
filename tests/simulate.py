# Tests: compiler/simulate libtdl compiler/driver
"""Simulated steps of plans: what simulate says beside show, plan and report;
traces, event by event; diagrams; and files that cannot be written.

    simulate.py
"""
import copy
import importlib.util
import json
import os
import subprocess
import tempfile
import xml.etree.ElementTree

import programs
from programs import expect

TDLC = programs.TDLC
SIZES = "-D batch=16 -D width=32 -D depth=6".split()
# options of plan, machine
PLANS = [("-k 4 --stages 2 --micro-batches 4 --train", "8xh100-nvlink"),
         ("-k 4 --stages 4 --micro-batches 8 --train --schedule gpipe", "cpu"),
         ("-k 3 --stages 3 --micro-batches 6 --train --schedule zb",
          "2x8xh100"),
         ("-k 2 --stages 2 --micro-batches 4 --train --schedule interleaved:2",
          "8xh100-nvlink"),
         ("-k 4 --stages 2 --micro-batches 1", "cpu"),
         ("-k 4 --train --micro-batches 3", "8xh100-nvlink"),
         ("-k 4 --train", "8xh100-nvlink")]


def near(what, a, b, rounded=0):
    """`rounded' seconds apart at most."""
    expect(f"{what}: {a}, not {b}", abs(a - b) <= rounded +
           1e-9 * max(abs(a), abs(b)))


def same(what, a, b):
    expect(f"{what}: {a}, not {b}", a == b)


# ---- traces ------------------------------------------------------------------

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data",
                      "trace_events.schema.json")


def schema_judge():
    """A function that judges a trace by the schema; None without
    fastjsonschema."""
    if not importlib.util.find_spec("fastjsonschema"):
        return None
    import fastjsonschema
    with open(SCHEMA, encoding="utf-8") as f:
        return fastjsonschema.compile(json.load(f))


def is_refused(judge, trace):
    import fastjsonschema
    try:
        judge(trace)
    except fastjsonschema.JsonSchemaException:
        return True
    return False


def check_judge(judge, trace):
    """It refuses what no viewer reads: an event of each phase, changed."""
    changes = {"X": [("ts", None), ("dur", -1), ("tid", "1"), ("pid", None),
                     ("bp", "e"), ("ph", "Y"), ("seconds", 1)],
               "C": [("args", {}), ("args", {"bytes": "1"}), ("ts", None)],
               "M": [("args", {}), ("name", "thread"), ("args", None)],
               "s": [("id", None), ("bp", "e"), ("dur", 1)],
               "f": [("bp", "s"), ("cat", None)]}
    for phase, some in changes.items():
        at = next((i for i, e in enumerate(trace["traceEvents"])
                   if e["ph"] == phase), None)
        for key, value in some if at is not None else ():
            bad = copy.deepcopy(trace)
            bad["traceEvents"][at][key] = value
            if value is None:
                del bad["traceEvents"][at][key]
            expect(f"{phase} with {key} {value}", is_refused(judge, bad))
    for bad in [], {}, {**trace, "displayTimeUnit": "s"}:
        expect("what is no trace", is_refused(judge, bad))


JUDGE = schema_judge()


def check_schema(trace):
    if JUDGE:
        JUDGE(trace)


def check_flows(events):
    """Each arrow begins and ends within a span of its thread: viewers draw it
    from that one to this."""
    spans = {}
    for e in events:
        if e["ph"] == "X":
            spans.setdefault((e["pid"], e["tid"]), []).append(
                (e["ts"], e["ts"] + e["dur"]))
    for e in events:
        if e["ph"] in "sf":
            inside = [b for b, end in spans[e["pid"], e["tid"]]
                      if b <= e["ts"] < end]
            expect(f"{e} is in {len(inside)} spans", len(inside) == 1)


def check_schema_of(path):
    """The judge itself, with a trace that has events of all phases."""
    if not JUDGE:
        print("note: without fastjsonschema (tests/requirements-trace.txt) "
              "traces are not held against the schema")
        return
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    same("phases", {e["ph"] for e in trace["traceEvents"]}, set("MXCsf"))
    check_judge(JUDGE, trace)


def nanoseconds(t):
    """As viewers have it."""
    return round(t * 1e3)


def check_threads(events):
    """A thread has one thing at a time, as viewers ask for."""
    rows = {}
    for e in events:
        if e["ph"] == "X":
            rows.setdefault((e["pid"], e["tid"]), []).append(
                (e["ts"], (nanoseconds(e["ts"]) + nanoseconds(e["dur"])) / 1e3))
    for row, spans in rows.items():
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            expect(f"{row}: two at {begin}", nanoseconds(end) <=
                   nanoseconds(begin))


def check_names(events):
    """Each process and each thread with something in it has one name."""
    names = {}
    for e in events:
        if e["ph"] == "M" and e["name"].endswith("_name"):
            key = (e["name"], e["pid"], e["tid"])
            expect(f"{key} has two names", key not in names)
            names[key] = e["args"]["name"]
    for e in events:
        if e["ph"] == "X":
            expect(f"{e}: no name", ("process_name", e["pid"], 0) in names and
                   ("thread_name", e["pid"], e["tid"]) in names)


def check_trace(path, simulated):
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    events = trace["traceEvents"]
    check_schema(trace)
    check_threads(events)
    check_names(events)
    check_flows(events)
    end = max(e["ts"] + e.get("dur", 0) for e in events if "ts" in e)
    near("the end", end, simulated["predicted_seconds"] * 1e6, 1e-3)
    same("processes", len({e["pid"] for e in events}),
         len(simulated["stages"]))
    same("messages", sum(e["ph"] == "s" for e in events),
         len(simulated["messages"]))
    same("ends of messages", {e["id"] for e in events if e["ph"] == "s"},
         {e["id"] for e in events if e["ph"] == "f"})
    for s, stage in enumerate(simulated["stages"]):
        own = [e for e in events if e["pid"] == s and e["ph"] == "X"]
        # Where all is on one stream, transfers are, too.
        work = sum(e["dur"] for e in own if e["tid"] in (2, 3))
        near(f"stage {s} works", work * 1e-6, stage["computing_seconds"] +
             stage["communicating_seconds"], 1e-9 * len(own))
        same(f"passes of stage {s}", len(stage["passes"]),
             sum(e["tid"] == 1 for e in own))
        same(f"memory of stage {s}", max(n for _, n in stage["memory"]),
             max(e["args"]["bytes"] for e in events
                 if e["ph"] == "C" and e["pid"] == s))


# ---- figures -----------------------------------------------------------------

def check_figures(simulated, shown):
    step = simulated["predicted_seconds"]
    for key in ("model", "algorithm", "devices", "predicted_seconds",
                "predicted_for"):
        same(key, simulated[key], shown[key])
    same("devices", sum(x["devices"] for x in simulated["stages"]),
         simulated["devices"])
    idle = sum(x["idle_seconds"] * x["devices"] for x in simulated["stages"])
    near("bubble", simulated["bubble"] * step * simulated["devices"], idle)
    for x in simulated["stages"]:
        near("a stage", x["seconds"] + x["idle_seconds"], step)
        expect("memory above the arena",
               max(n for _, n in x["memory"]) == x["bytes_in_use"] <=
               x["peak_bytes"])
        turns = [t for p, t, _, _ in x["passes"] if p == "F"]
        all_turns = simulated["micro_batches"]
        if turns:
            same("forward passes", sorted(set(turns)),
                 list(range(all_turns["turns"])))
    if "stages" in shown:
        for x, y in zip(simulated["stages"], shown["stages"]):
            for key in ("first_device", "devices", "peak_bytes", "seconds"):
                same(key, x[key], y[key])
        same("channels", simulated["channels"], shown["channels"])


def check_bytes(shown):
    """What moves within stages and between them is what the plan says."""
    if "stages" not in shown:
        return
    moved = sum(x["communication_bytes"] for x in shown["stages"])
    sent = sum(x["bytes"] for x in shown["channels"])
    same("bytes", moved + sent, shown["communication_bytes"])


def check_diagram(path, simulated):
    root = xml.etree.ElementTree.parse(path).getroot()
    passes = sum(e > b for x in simulated["stages"]
                 for _, _, b, e in x["passes"])
    name = "{http://www.w3.org/2000/svg}"
    drawn = [r for r in root.iter(name + "rect") if r.find(name + "title")
             is not None]
    same("bars", len(drawn), passes)
    lines = sum(e > b for _, _, b, e in simulated["messages"])
    same("lines", len(list(root.iter(name + "line"))), lines)


def check_text(*words):
    for line in programs.run(TDLC, *words).splitlines():
        expect(f"{words[0]}: {len(line)} columns: {line}", len(line) <= 80)


def check(tmp, options, machine):
    plan = f"{tmp}/a.plan"
    on = ["--topology", machine]
    programs.run(TDLC, "plan", f"{programs.MODELS}/mlp.tdl", *SIZES,
                 *options.split(), *on, "-o", plan)
    simulated = programs.call(TDLC, "simulate", plan, *on, "--trace",
                              f"{tmp}/a.json", "--diagram", f"{tmp}/a.svg")
    shown = programs.call(TDLC, "show", plan, *on)
    check_figures(simulated, shown)
    check_bytes(shown)
    check_trace(f"{tmp}/a.json", simulated)
    check_diagram(f"{tmp}/a.svg", simulated)
    check_beside(plan, on, tmp, shown)
    programs.run(TDLC, "show", plan, *on, "--diagram", f"{tmp}/b.svg")
    with open(f"{tmp}/a.svg", "rb") as f, open(f"{tmp}/b.svg", "rb") as g:
        expect("another diagram", f.read() == g.read())
    check_text("simulate", plan, *on)
    check_text("show", plan, *on, "--diagram", "-")
    return len(simulated["messages"]) > 0


# ---- measured steps ----------------------------------------------------------

TRANSFERS = {"receive", "all-gather", "all-to-all", "reduce-scatter", "halo",
             "send-receive"}


def measured_times(events, shown, rows):
    """By stage and instruction, of (stage, instruction) in rows: the most and
    the least seconds of a device. Other instructions are of a bucket that
    begins before."""
    stages = shown.get("stages", [shown])
    ends = [0]
    for x in stages:
        ends.append(ends[-1] + x["devices"])
    own = {}
    for e in events:
        if e["ph"] != "X" or e["cat"] == "send":  # as its receive
            continue
        s = next(i for i in range(len(stages)) if e["pid"] < ends[i + 1])
        key = (s, max(i for t, i in rows
                      if t == s and i <= e["args"]["instruction"]))
        by = own.setdefault(key, {})
        by[e["pid"]] = by.get(e["pid"], 0) + e["dur"] / 1e6
    return {k: (max(v.values()), min(v.values())) for k, v in own.items()}


def simulated_times(events):
    """By stage and instruction; what receives a message waits for it from the
    end of what is before it on."""
    all_of, ends = {}, {}
    for e in events:
        if e["ph"] == "X" and "instruction" in e["args"]:
            key = (e["pid"], e["args"]["instruction"])
            begin = e["ts"] if e["cat"] != "receive" else \
                ends.get(e["pid"], 0)
            ends[e["pid"]] = e["ts"] + e["dur"]
            all_of[key] = all_of.get(key, 0) + (ends[e["pid"]] - begin) / 1e6
    return all_of


def check_beside(plan, on, tmp, shown):
    """What tdlrun writes is a trace of the same schema, and what is said of it
    beside the simulation is what the two traces have."""
    programs.run(programs.TDLRUN, plan, "--kernels", "interpreter", "--trace",
                 f"{tmp}/m.json")
    with open(f"{tmp}/m.json", encoding="utf-8") as f:
        trace = json.load(f)
    with open(f"{tmp}/a.json", encoding="utf-8") as f:
        simulated = json.load(f)
    check_schema(trace)
    for check_one in check_threads, check_names:
        check_one(trace["traceEvents"])
    said = programs.call(TDLC, "simulate", plan, *on, "--beside",
                         f"{tmp}/m.json")
    near("measured", said["measured_seconds"], trace["otherData"]["seconds"])
    near("simulated", said["simulated_seconds"],
         simulated["otherData"]["seconds"])
    same("not measured", said["unmeasured"], 0)
    by_hand = measured_times(trace["traceEvents"], shown,
                             [(x["stage"], x["instruction"])
                              for x in said["instructions"]])
    model = simulated_times(simulated["traceEvents"])
    apart = [abs(x["measured_seconds"] - x["simulated_seconds"])
             for x in said["instructions"]]
    same("the order", apart, sorted(apart, reverse=True))
    sums, runs = {}, 0
    for x in said["instructions"]:
        key = (x["stage"], x["instruction"])
        sums.setdefault(x["kind"], [0, 0])
        sums[x["kind"]][0] += x["simulated_seconds"]
        sums[x["kind"]][1] += x["measured_seconds"]
        if key in model:
            near(f"{x['name']}, simulated", x["simulated_seconds"],
                 model[key], 1e-9 * x["times"])
        transfer = x["kind"] in TRANSFERS
        if not transfer:
            runs += 1
        near(f"{x['name']}, measured", x["measured_seconds"],
             by_hand[key][1 if transfer else 0])
    for x in said["kinds"]:
        near(x["kind"], x["simulated_seconds"], sums[x["kind"]][0])
        near(x["kind"], x["measured_seconds"], sums[x["kind"]][1])
    same("kinds", len(said["kinds"]), len(sums))
    expect("few kernels", runs > 5)
    check_text("simulate", plan, *on, "--beside", f"{tmp}/m.json")


def check_hostile(plan, tmp):
    """Traces that are none of the plan's: the place is said."""
    with open(f"{tmp}/m.json", encoding="utf-8") as f:
        good = json.load(f)
    spans = [i for i, e in enumerate(good["traceEvents"]) if e["ph"] == "X"]
    at = spans[len(spans) // 2]
    where = f"traceEvents[{at}]"
    changes = [(where, ("pid",), -1), (where, ("pid",), 99),
               (where, ("pid",), 0.5), (where, ("ts",), -1),
               (where, ("dur",), "1"), (where, ("dur",), 1e300),
               (where, ("args",), None), (where, ("ph",), 7),
               (where, ("args", "instruction"), 1 << 40),
               (where, ("args", "micro_batch"), 1000),
               (where, (), []),
               ("otherData", (), None), ("otherData", ("seconds",), -1),
               ("otherData", ("devices",), 3),
               ("otherData", ("measured",), "0" * 16)]
    for place, keys, value in changes:
        bad = json.loads(json.dumps(good))
        path = (["traceEvents", at] if place == where else [place]) + list(keys)
        to = bad
        for key in path[:-1]:
            to = to[key]
        to[path[-1]] = value
        with open(f"{tmp}/bad.json", "w", encoding="utf-8") as f:
            json.dump(bad, f)
        done = subprocess.run([TDLC, "simulate", plan, "--beside",
                               f"{tmp}/bad.json"], capture_output=True,
                              text=True, check=False)
        same(f"{path} is {value}", (done.returncode, done.stdout), (1, ""))
        if place == where:
            expect(f"no place: {done.stderr}", place in done.stderr)


# ---- neighbours --------------------------------------------------------------

def check_neighbours():
    """No cut of a small plan is better a layer earlier or later, simulated."""
    sizes = ("-D layers=3 -D width=32 -D heads=2 -D vocabulary=64 -D tokens=8 "
             "-D batch=8")
    why = programs.call(
        TDLC, "explain", f"{programs.MODELS}/gpt2.tdl", *sizes.split(),
        *"--train -k 4 --stages 4 --micro-batches 4".split())
    for cut in why["cuts"]:
        for move in cut["earlier"], cut["later"]:
            expect(f"a cut before {move['before']} is better",
                   move.get("predicted_seconds", 1) >=
                   why["predicted_seconds"])
    same("cuts", len(why["cuts"]), 3)


# ---- files -------------------------------------------------------------------

def check_failures(tmp):
    """Nothing is written, or all."""
    os.mkdir(f"{tmp}/folder")
    with open(f"{tmp}/broken.plan", "w", encoding="utf-8") as f:
        f.write("{}")
    for words, status in ((["broken.plan", "--trace", "no.json"], 1),
                          (["a.plan", "--trace", "folder"], 4),
                          (["a.plan", "--trace", "none/no.json"], 4),
                          (["a.plan", "--topology", "none", "--trace",
                            "no.json"], 1)):
        done = subprocess.run([TDLC, "simulate", *words], cwd=tmp,
                              capture_output=True, check=False)
        same(" ".join(words), done.returncode, status)
        same("output", done.stdout, b"")
    expect("a trace of nothing", not os.path.exists(f"{tmp}/no.json"))
    same("in the folder", os.listdir(f"{tmp}/folder"), [])


def main():
    with tempfile.TemporaryDirectory() as tmp:
        judged = False
        for options, machine in PLANS:
            if check(tmp, options, machine) and not judged:
                check_schema_of(f"{tmp}/a.json")
                judged = True
        check_hostile(f"{tmp}/a.plan", tmp)
        check_failures(tmp)
    check_neighbours()
    programs.finish()


if __name__ == "__main__":
    main()
