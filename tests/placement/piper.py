# Tests: compiler/placement
"""Piper's plans against enumeration.

Random tables by tensor degree, with few layers: all sequences of stages, all
replicas and degrees.  With one way for each layer and degree the plan is the
best of all and says so; with more, it is the best with ways by the rule (written
here a second time), no better than the best of all choices of ways, and its
bound is no better either.  The costs of its stages are those that a plan
states.  Tables that are none are refused with a place.

	piper.py [--seed S] [--rounds N]
"""
import argparse
import copy
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                ".."))
from programs import ALL, TDLC, expect, finish  # noqa: E402

INF = float("inf")


def draw(r):
    n, single = r.randint(1, 6), r.random() < 0.3
    ids = r.sample(range(50), n)
    edges = [{"sourceId": ids[i], "destId": ids[j],
              "communicationCost": r.choice((0, 5, 20, 100))}
             for j in range(n) for i in range(j) if r.random() < 0.5]
    nodes = []
    for v in ids:
        ways = {}
        for degree in {1, r.randint(1, 4)} - {r.choice((0, 0, 0, 1))} or {1}:
            ways[str(degree)] = [
                {"id": f"w{k}", "timePerSample": r.randint(0, 20) / degree,
                 "parameterSize": r.randint(0, 50),
                 "memoryUsageA": r.randint(0, 20) * 1e10,
                 "memoryUsageB": r.randint(0, 40) * 1e10,
                 "syncTimeFw": {str(e["sourceId"]): r.choice((0, 10))
                                for e in edges if e["destId"] == v},
                 "syncTimeBw": {str(e["destId"]): r.choice((0, 10))
                                for e in edges if e["sourceId"] == v}}
                for k in range(1 if single else r.randint(1, 3))]
        nodes.append({"id": v, "TMPCs": ways})
    r.shuffle(nodes)
    return {"maxDevices": r.randint(1, 5), "mbsInBatch": r.choice((1, 2, 4, 6)),
            "maxMemoryPerDevice": r.choice((100, 200, 400, 1e6)) * 1e10,
            "bandwidth": r.choice((10.0, 100.0)), "nodes": nodes,
            "edges": edges}, single


def choices(t, stage, d, degree):
    """For each layer of a stage: (seconds, kept, fixed) of each way."""
    N, B, found = t["mbsInBatch"], t["bandwidth"], []
    for v in stage:
        ways = next(x for x in t["nodes"] if x["id"] == v)["TMPCs"]
        row = []
        for w in ways.get(str(degree), []):
            cut = 0
            for e in t["edges"]:
                u, x = e["sourceId"], e["destId"]
                if x == v and u not in stage:
                    cut += 2 * (e["communicationCost"] +
                                w["syncTimeFw"][str(u)])
                if u == v and x not in stage:
                    cut += 2 * (e["communicationCost"] +
                                w["syncTimeBw"][str(x)])
            row.append(((cut / d + 4 * (d - 1) / d * w["parameterSize"] / N) / B
                        + w["timePerSample"] / d, w["memoryUsageA"],
                        w["memoryUsageB"], w["id"]))
        if not row:
            return None
        found.append(row)
    return found


def exact(rows, y, memory):
    return min((sum(w[0] for w in pick)
                for pick in itertools.product(*rows)
                if sum(y * w[1] + w[2] for w in pick) <= memory), default=INF)


def greedy(rows, y, memory):
    """The rule, for one number of micro-batches in flight."""
    def size(w):
        return y * w[1] + w[2]
    taken = [min(row, key=lambda w: (w[0], size(w))) for row in rows]
    over = sum(map(size, taken)) - memory
    steps = []
    for i, row in enumerate(rows):
        at = taken[i]
        while any(size(w) < size(at) for w in row):
            best = min((w for w in row if size(w) < size(at)), key=lambda w:
                       ((w[0] - at[0]) / (size(at) - size(w)), size(w)))
            steps.append(((best[0] - at[0]) / (size(at) - size(best)), i,
                          best[0] - at[0], at, best))
            at = best
    done = []
    for step in sorted(steps, key=lambda s: s[:3]):
        if over <= 0:
            break
        over -= size(step[3]) - size(step[4])
        taken[step[1]] = step[4]
        done.append(step)
    if over > 0:
        return INF
    for _, i, _, old, new in reversed(done):
        if taken[i] is new and over + size(old) - size(new) <= 0:
            over += size(old) - size(new)
            taken[i] = old
    return sum(w[0] for w in taken)


def tails(t, left):
    """What a last stage of these layers may be."""
    for k in range(1, len(left) + 1):
        for stage in itertools.combinations(sorted(left), k):
            if all(e["destId"] in stage for e in t["edges"]
                   if e["sourceId"] in stage and e["destId"] in left):
                yield frozenset(stage)


def least(t, cost):
    """The least time per sample of all plans."""
    K, N, known = t["maxDevices"], t["mbsInBatch"], {}

    def stage_cost(stage, d, degree, y):
        key = stage, d, degree, y
        if key not in known:
            rows = choices(t, stage, d, degree)
            most = -(-min(K, N) // d)
            known[key] = INF if rows is None else min(
                cost(rows, x, t["maxMemoryPerDevice"])
                for x in range(y, most + 1))
        return known[key]

    def go(left, devices, s):
        if not left:
            return 0
        best = INF
        for stage in tails(t, left):
            for d in range(1, min(devices, min(K, N) - s) + 1):
                for degree in range(1, devices // d + 1) if N % d == 0 else ():
                    mine = stage_cost(stage, d, degree, -(-(s + d) // d))
                    if mine < best:
                        best = min(best, max(mine, go(
                            left - stage, devices - d * degree, s + d)))
        return best
    return go(frozenset(x["id"] for x in t["nodes"]), K, 0)


def near(x, y):
    return abs(x - y) <= 1e-9 * (abs(x) + abs(y))


def check_stages(seed, t, got):
    """The figures of a plan's stages, from its ways."""
    behind, slowest = 0, 0
    seen = []
    for s in reversed(got["stages"]):
        stage = [x["id"] for x in s["layers"]]
        behind += s["replicas"]
        y = -(-behind // s["replicas"])
        rows = choices(t, stage, s["replicas"], s["tensor_degree"])
        picks = [next(w for w in row if w[3] == x["way"])
                 for row, x in zip(rows, s["layers"])]
        seconds = sum(w[0] for w in picks)
        nbytes = sum(y * w[1] + w[2] for w in picks)
        expect(f"seed {seed}: a stage of {s}: {seconds}, {nbytes}, {y}",
               near(seconds, s["seconds"]) and nbytes == s["peak_bytes"] and
               nbytes <= t["maxMemoryPerDevice"] and y == s["in_flight"])
        expect(f"seed {seed}: stages out of order", all(
            e["destId"] in stage + seen for e in t["edges"]
            if e["sourceId"] in stage))
        seen += stage
        slowest = max(slowest, s["seconds"])
    expect(f"seed {seed}: layers", sorted(seen) ==
           sorted(x["id"] for x in t["nodes"]))
    expect(f"seed {seed}: {slowest} is the longest stage",
           near(slowest, got["seconds_per_sample"]))
    used = sum(s["replicas"] * s["tensor_degree"] for s in got["stages"])
    expect(f"seed {seed}: {used} devices", used == got["devices"] and
           used <= t["maxDevices"] and behind <= t["mbsInBatch"])


def plan(path, t):
    with open(path, "w") as f:
        json.dump(t, f)
    return subprocess.run([TDLC, "place", path, "--algorithm", "capture",
                           "--json"], capture_output=True, text=True)


def check(seed, path):
    r = random.Random(seed)
    t, single = draw(r)
    done = plan(path, t)
    by_rule, best = least(t, greedy), least(t, exact)
    expect(f"seed {seed}: status {done.returncode}, {by_rule}: {done.stderr}",
           done.returncode == (3 if by_rule == INF else 0))
    if done.returncode != 0:
        return
    got = json.loads(done.stdout)
    time = got["seconds_per_sample"]
    expect(f"seed {seed}: {time}, not {by_rule}", near(time, by_rule))
    expect(f"seed {seed}: {time}, {best} is the least, bound "
           f"{got['lower_bound_seconds']}",
           best <= time * (1 + 1e-9) and
           got["lower_bound_seconds"] <= best * (1 + 1e-9))
    expect(f"seed {seed}: {time} is not optimal, {best} is",
           not got["optimal"] or near(time, best))
    expect(f"seed {seed}: one way each, and not optimal",
           not single or got["optimal"])
    check_stages(seed, t, got)


def check_refused(path):
    """One thing wrong at a time: status 1, one error with a place."""
    def way(x):
        return x["nodes"][0]["TMPCs"]["1"][0]
    base = {"maxDevices": 2, "maxMemoryPerDevice": 1e9, "bandwidth": 1e9,
            "mbsInBatch": 4, "nodes": [
                {"id": i, "TMPCs": {"1": [
                    {"id": "w", "timePerSample": 1e-3, "parameterSize": 1,
                     "memoryUsageA": 1e7, "memoryUsageB": 1,
                     "syncTimeFw": {"1": 0} if i == 2 else {},
                     "syncTimeBw": {"2": 0} if i == 1 else {}}]}}
                for i in (1, 2)],
            "edges": [{"sourceId": 1, "destId": 2, "communicationCost": 5}]}
    wrong = [
        lambda x: x.update(maxDevices=0), lambda x: x.update(maxDevices=1e9),
        lambda x: x.update(bandwidth=-1), lambda x: x.pop("mbsInBatch"),
        lambda x: x.update(nodes=[]), lambda x: x.update(edges={}),
        lambda x: x["nodes"].append(7),
        lambda x: x["nodes"].append(x["nodes"][0]),
        lambda x: x["nodes"][0].update(TMPCs={}),
        lambda x: x["nodes"][0].update(TMPCs={"1": []}),
        lambda x: x["nodes"][0].update(TMPCs={"many": [way(x)]}),
        lambda x: x["nodes"][0]["TMPCs"]["1"].append(way(x)),
        lambda x: way(x).update(timePerSample=-1),
        lambda x: way(x).update(memoryUsageA=1e300),
        lambda x: way(x).update(parameterSize="1"),
        lambda x: way(x).update(syncTimeBw={}),
        lambda x: way(x).update(syncTimeBw={"2": 0, "3": 0}),
        lambda x: way(x).pop("syncTimeFw"), lambda x: way(x).pop("id"),
        lambda x: x["edges"].append(x["edges"][0]),
        lambda x: x["edges"].append({"sourceId": 1, "destId": 9,
                                     "communicationCost": 5}),
        lambda x: x["edges"].append({"sourceId": 2, "destId": 1,
                                     "communicationCost": 5}),
        lambda x: x["edges"][0].update(communicationCost=-1),
    ]
    assert plan(path, base).returncode == 0
    for i, change in enumerate(wrong):
        t = copy.deepcopy(base)
        change(t)
        done = plan(path, t)
        lines = done.stderr.splitlines()
        expect(f"fault {i}: status {done.returncode}, {done.stderr}",
               done.returncode == 1 and not done.stdout and
               sum("error:" in x for x in lines) == 1 and
               "[layers-invalid]" in lines[0] and path in lines[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--rounds", type=int, default=1000 if ALL else 150)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.json")
        check_refused(path)
        for seed in range(a.seed, a.seed + a.rounds):
            check(seed, path)
    finish()


main()
