"""The least greatest load of any split, as an integer program, by HiGHS.

	highs.py FILE.json K LINK SECONDS

The file is dnn-partitioning's, without processor cores; LINK is GB/s,US.  The
output is a list of devices in the order of the file's nodes, colours together,
the best that was found in SECONDS.  bench/placement.py runs it with the Python
that $HIGHS_PYTHON names, which has the package highspy.
"""
import json
import sys

import highspy


def main():
    path, k, link, limit = sys.argv[1], int(sys.argv[2]), sys.argv[3], \
        float(sys.argv[4])
    with open(path, encoding="utf-8") as f:
        j = json.load(f)
    gb, us = map(float, (link + ",0").split(",")[:2])
    group = {x["id"]: ("c", x["colorClass"]) if "colorClass" in x else
             ("v", x["id"]) for x in j["nodes"]}
    work, results = dict.fromkeys(group.values(), 0), {}
    for x in j["nodes"]:
        work[group[x["id"]]] += x["fpgaLatency"]
    for e in j["edges"]:
        r = results.setdefault(e["sourceId"], [0, set()])
        r[0] = max(r[0], e.get("size", 0))
        r[1].add(group[e["destId"]])
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("time_limit", limit)
    on = {g: [h.addBinary() for _ in range(k)] for g in work}
    most = h.addVariable()
    load = [sum(work[g] * on[g][d] for g in work) for d in range(k)]
    for g in work:
        h.addConstr(sum(on[g]) == 1)
    for source, (nbytes, readers) in results.items():
        ends = readers | {group[source]}
        for d in range(k if len(ends) > 1 else 0):
            # cut >= on(u) - on(v) along a ring is 1 if some but not all are on
            cut, ring = h.addVariable(0, 1), list(ends)
            for u, v in zip(ring, ring[1:] + ring[:1]):
                h.addConstr(cut >= on[u][d] - on[v][d])
            load[d] = load[d] + (us * 1e-3 + nbytes / gb * 1e-6) * cut
    for x in load:
        h.addConstr(most >= x)
    h.minimize(most)
    value = h.getSolution().col_value
    at = {g: max(range(k), key=lambda d, v=v: value[v[d].index])
          for g, v in on.items()}
    print(json.dumps([at[group[x["id"]]] for x in j["nodes"]]))


main()
