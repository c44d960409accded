"""Models of ours as cost graphs.

For some models, trained and not: `tdlc show --costs' has all bytes that
`tdlc show --json' says states and weights have, on one device takes as long as
the plan of one device without fusion, and is judged like the second judge does
(tests/placement/reference.py); `tdlc place MODEL' is `tdlc place' of that file.

	models.py [--seed S]
"""
import argparse
import json
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
    """Placements by colour are judged; one that parts a colour is refused."""
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


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    r = random.Random(p.parse_args().seed)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES if ALL else CASES[:2] + CASES[3:5]:
            check(*case, r, folder)
    finish()


main()
