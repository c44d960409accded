# Tests: libtdl compiler/driver runtime/run
"""Reports of plans: their figures beside those of the other commands, names
that try to be markup, and the page in a browser, by clicks and keys.

    report.py [FOLDER]      with a FOLDER, pictures of the page go there
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import programs

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "examples", "models")
TDLC = os.environ["TDLC"]
# model, options of plan, machine
PLANS = [("mlp", "-k 8 --train", "8xh100-nvlink"),
         ("unet", "-k 16 --train", "2x8xh100"),
         ("gpt2", "-k 6 --algorithm joint", "cpu"),
         ("mlp", "-k 4 --train --micro-batches 4", "cpu"),
         ("mlp", "-k 1", "cpu")]
HOSTILE = "</script><script>bad=1</script><img src=x onerror=bad=1>\u2028&<!--"


def tdlc(*words):
    done = subprocess.run([TDLC, *words], capture_output=True, text=True,
                          check=False)
    programs.expect(f"tdlc {' '.join(words)}: {done.stderr}",
                    done.returncode == 0)
    return done.stdout


def data_of(page):
    """The JSON in a page."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    found = re.findall('<script type="application/json" id="data">(.*?)'
                       "</script>", text, re.DOTALL)
    programs.expect(f"{page}: {len(found)} reports", len(found) == 1)
    return json.loads(found[0])


# ---- figures -----------------------------------------------------------------

def same(what, *values):
    programs.expect(f"{what}: {values}", all(x == values[0] for x in values))


def check_whole(report, shown, planned):
    for key in ("model", "algorithm", "devices", "mesh", "communication_bytes",
                "peak_bytes_per_device", "predicted_seconds"):
        same(key, report[key], shown[key], planned[key])
    for key in ("train", "micro_batches"):
        same(key, report[key], planned[key])
    same("machine", report["machine"]["name"], shown["predicted_for"])
    # Sums, in the order of the program, or in that from before it had chains.
    for part in ("computation", "communication"):
        x = report[part + "_seconds"], planned["predicted_parts"][part]
        programs.expect(f"{part}: {x}", abs(x[0] - x[1]) <= 1e-12 * x[1])


def check_lists(report, shown):
    layouts = report["layouts"]
    same("tensors", [{**x, "shape": layouts[x["layout"]]["shape"],
                      "cuts": layouts[x["layout"]]["cuts"]}.items() >=
                     y.items() for x, y in zip(report["tensors"],
                                               shown["tensors"])],
         [True] * len(shown["tensors"]))
    same("operators", [(x["name"], x["op"], x["strategy"],
                        report["tensors"][x["output"]]["name"])
                       for x in report["operators"]],
         [(x["name"], x["op"], x["strategy"], x["output"])
          for x in shown["operators"]])
    for kind in ("operators", "tensors"):
        members = [i for b in report["blocks"][kind] for i in b["members"]]
        same(f"blocks of {kind}", sorted(members),
             list(range(len(report[kind]))))


def check_bytes(report):
    moved = report["communication_bytes"]
    same("bytes", moved, sum(x["bytes"] for x in report["collectives"]),
         sum(x["bytes"] for x in report["links"]),
         sum(sum(row) for row in report["received"]),
         sum(x["bytes"] for x in report["program"]))
    own = sum(x["communication_bytes"] for x in report["operators"])
    programs.expect(f"operators move {own} of {moved}", own <= moved)
    programs.expect("a device receives from itself", not any(
        row[i] for i, row in enumerate(report["received"])))


def check_layouts(report):
    """The bounds against the sizes that devices keep of what they store."""
    for t in report["tensors"]:
        layout = report["layouts"][t["layout"]]
        for size, bounds, d in zip(layout["shape"], layout["bounds"],
                                   range(99)):
            parts = 1
            for cut, n in zip(layout["cuts"], report["mesh"]):
                parts *= n if cut == d else 1
            programs.expect(f"{t['name']}: {bounds}",
                            bounds == sorted(bounds) and bounds[0] == 0 and
                            bounds[-1] == size and len(bounds) == parts + 1)
        if t["bytes_per_device"] and "time" not in t:
            most = t["bytes"]
            for size, bounds in zip(layout["shape"], layout["bounds"]):
                widest = max(b - a for a, b in zip(bounds, bounds[1:]))
                most = most // max(size, 1) * widest
            same(t["name"], most, t["bytes_per_device"])


def check_time(report):
    rows = report["timeline"]
    end = max(begin + seconds for _, begin, seconds in rows)
    programs.expect(f"ends at {end}, not {report['predicted_seconds']}",
                    abs(end - report["predicted_seconds"]) <= 1e-9 * end)
    programs.expect("an instruction is left out",
                    {i for i, _, _ in rows} ==
                    set(range(len(report["program"]))))
    total = sum(seconds for _, _, seconds in rows)
    parts = report["computation_seconds"] + report["communication_seconds"]
    programs.expect(f"{total} s, not {parts}", abs(total - parts) <=
                    1e-9 * total)


def check_memory(report):
    memory, n = report["memory"], len(report["program"])
    used = [sum(x) for x in zip(*memory["in_use"].values())]
    peak = memory["peak"]
    same("instants", len(used), n + 2)
    same("peak", max(used), used[peak["instruction"] + 1], peak["bytes"],
         sum(x["bytes"] for x in peak["alive"]))
    programs.expect("the arena is smaller than the peak",
                    peak["bytes"] <= report["peak_bytes_per_device"])


def check_runners_up(report, planned):
    """Figures of the byte model, and others beside them."""
    if report["micro_batches"]:
        programs.expect("a runner-up", all(x["byte_model"] is None
                                           for x in report["operators"]))
        return
    same("byte model", planned["byte_model"]["total"],
         sum(x["byte_model"] for x in report["operators"]))
    for x in report["operators"]:
        if x["runner_up"]:
            other = x["runner_up"]["strategy"]
            same(x["name"], 1, sum(a != b for a, b in
                                   zip(x["strategy"], other)))


def check_plan(tmp, number, model, options, machine):
    """Plans, and returns the page."""
    plan, page = f"{tmp}/{number}.plan", f"{tmp}/{number}.html"
    planned = json.loads(tdlc("plan", f"{MODELS}/{model}.tdl",
                              *options.split(), "--topology", machine, "-o",
                              plan, "--report", f"{tmp}/p.html", "--json"))
    shown = json.loads(tdlc("show", plan, "--topology", machine, "--json"))
    report = json.loads(tdlc("report", plan, "--topology", machine, "--json",
                             "-o", page))
    same("the page's data", data_of(page), report)
    of_plan = data_of(f"{tmp}/p.html")
    for key, value in of_plan.pop("search").items():
        if key != "search_seconds":
            same(key, value, planned[key])
    same("plan --report", of_plan, report)
    check_whole(report, shown, planned)
    check_lists(report, shown)
    check_bytes(report)
    check_layouts(report)
    check_time(report)
    check_memory(report)
    check_runners_up(report, planned)
    return page


# ---- several stages ------------------------------------------------------------

STAGED = [("mlp", "-k 4 --stages 2 --micro-batches 4 --train",
           "8xh100-nvlink"),
          ("gpt2", "-k 8 --stages 4 --micro-batches 8 --train", "2x8xh100"),
          ("mlp", "-k 2 --stages 2 --micro-batches 3 --train --schedule zb",
           "cpu")]


def check_stage(stage, step, turns):
    """The report of a stage beside the figures of the simulation."""
    report = stage["report"]
    for key in ("devices", "mesh", "communication_bytes"):
        same(key, report[key], stage[key])
    same("memory", report["peak_bytes_per_device"], stage["peak_bytes"])
    same("step", report["predicted_seconds"], step)
    check_layouts(report)
    check_memory(report)
    rows = report["timeline"]
    programs.expect("an instruction is left out",
                    {i for i, _, _ in rows} ==
                    set(range(len(report["program"]))))
    work = {True: 0, False: 0}
    for i, begin, seconds in rows:
        does = report["program"][i]
        programs.expect("outside of the step", begin >= -1e-15 and
                        begin + seconds <= step * (1 + 1e-9))
        if does["does"] not in ("send", "receive"):
            work[does["collective"] not in (None, "local")] += seconds
    own = (stage["computing_seconds"], stage["communicating_seconds"])
    received = sum(s for i, _, s in rows
                   if report["program"][i]["does"] == "receive")
    # Where all is on one stream, received messages are moved by it.
    programs.expect(f"{work}, not {own}", abs(work[False] - own[0]) <=
                    1e-9 * step and min(abs(work[True] - own[1]),
                                        abs(work[True] + received - own[1]))
                    <= 1e-9 * step)
    for p in ("F", "B"):
        done = sorted(t for q, t, _, _ in stage["passes"] if q == p)
        same(f"passes {p}", sorted(set(done)), list(range(turns)))


def check_staged(tmp, number, model, options, machine):
    """The same of a plan of several stages."""
    plan, page = f"{tmp}/s{number}.plan", f"{tmp}/s{number}.html"
    tdlc("plan", f"{MODELS}/{model}.tdl", *options.split(), "--topology",
         machine, "-o", plan)
    shown = json.loads(tdlc("show", plan, "--topology", machine, "--json"))
    report = json.loads(tdlc("report", plan, "--topology", machine, "--json",
                             "-o", page))
    same("the page's data", data_of(page), report)
    for key in ("model", "algorithm", "devices", "schedule", "micro_batches",
                "communication_bytes", "predicted_seconds", "predicted_for",
                "bubble", "channels"):
        same(key, report[key], shown[key])
    for x, y in zip(report["stages"], shown["stages"]):
        check_stage(x, report["predicted_seconds"],
                    report["micro_batches"]["turns"])
        check_lists(x["report"], y)
    check_received(report)
    return page


def check_received(report):
    """Who receives from whom in all stages: what the stages say of theirs, and
    between them what channels bring."""
    received, between = report["received"], 0
    stage_of = [i for i, s in enumerate(report["stages"])
                for _ in range(s["devices"])]
    sent = {}
    for to, row in enumerate(received):
        for by, n in enumerate(row):
            pair = (stage_of[by], stage_of[to])
            if pair[0] != pair[1]:
                between += n
                sent[pair] = sent.get(pair, 0) + n
    for s in report["stages"]:
        first, end = s["first_device"], s["first_device"] + s["devices"]
        same("within a stage", s["report"]["received"],
             [row[first:end] for row in received[first:end]])
    same("all bytes", sum(map(sum, received)), report["communication_bytes"])
    want = {}
    for c in report["channels"]:
        pair = (c["from"], c["to"])
        want[pair] = want.get(pair, 0) + c["bytes"]
    same("between stages", {k: v for k, v in sent.items() if v},
         {k: v for k, v in want.items() if v})


# ---- what is beside a plan -----------------------------------------------------

SMALL = "-D batch=24 -D inputs=32 -D width=64 -D depth=3"
# options of plan, steps of the run
BESIDE = [("-k 4 --train --micro-batches 3", 1),
          ("-k 4 --train --stages 2 --micro-batches 4", 2)]
FIGURES = ("predicted_seconds", "peak_bytes_per_device",
           "communication_bytes")


def check_planners(report, compared, once):
    """The planners of a report; once: they were searched for once, so that
    seconds of searches are equal, too."""
    rows = compared["planners"] + compared.get("pipelines", [])
    same("planners", [x["algorithm"] for x in report["planners"]],
         [x["algorithm"] for x in rows])
    for x, y in zip(report["planners"], rows):
        of = x["algorithm"]
        if "error" in x:
            same(of, x, {"algorithm": of, "error": y["error"]})
            continue
        same(f"{of}: figures", sorted(x), sorted(
            ["algorithm", "predicted_seconds", "peak_bytes_per_device",
             "communication_bytes", "byte_model", "gap", "search_seconds",
             "predicted_for"]))
        y = {**y, "byte_model": y.get("byte_model", {}).get("total"),
             "gap": y.get("gap")}
        for key, value in x.items():
            if once or key != "search_seconds":
                same(f"{of}: {key}", value, y[key])


def check_frontier(report, frontier):
    f = report["frontier"]
    same("frontier", f["plans"], frontier["frontier"])
    for key in ("proven", "proof"):
        same(key, f[key], frontier[key])


def check_compared(tmp, words, compared, frontier):
    """The same planners and frontier, found by plan --report itself."""
    for more, beside in (("--compare --algorithm auto", "planners"),
                         ("--frontier=2", "frontier")):
        if beside == "frontier" and not frontier:
            continue
        plan = json.loads(tdlc("plan", *words, *more.split(), "--report",
                               f"{tmp}/own.html", "--json"))
        report = data_of(f"{tmp}/own.html")
        same("the plan", report["predicted_seconds"],
             plan["predicted_seconds"])
        same("beside it", [k for k in ("planners", "frontier") if report[k]],
             [beside])
        if frontier and beside == "frontier":
            check_frontier(report, frontier)
            second = report["frontier"]["plans"][1]
            same("its second plan", [second[k] for k in FIGURES],
                 [plan[k] for k in FIGURES])
            continue
        own = next(x for x in report["planners"] if x["algorithm"] == "auto")
        same("its own plan", [own[k] for k in FIGURES],
             [plan[k] for k in FIGURES])
        rows = compared["planners"]
        compared["planners"] = [plan if "stages" in plan and
                                x["algorithm"] == "auto" else x for x in rows]
        check_planners(report, compared, False)


def check_measured(report, trace):
    """The timelines of all stages beside the events of the trace."""
    near = lambda a, b: abs(a - b) <= 1e-9 + 1e-9 * abs(b)
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    stages = report.get("stages") or [
        {"report": report, "first_device": 0, "devices": report["devices"]}]
    for s in stages:
        devices = range(s["first_device"], s["first_device"] + s["devices"])
        own = [e for e in events if e["pid"] in devices]
        m, rows = s["report"]["measured"], s["report"]["program"]
        same("measured", m["seconds"], trace["otherData"]["seconds"])
        same("spans", len(m["timeline"]), len(own))
        sums = {}
        for (device, instr, begin, seconds), e in zip(m["timeline"], own):
            same("a span", (device, instr),
                 (e["pid"], e["args"]["instruction"]))
            programs.expect(f"{begin} {seconds} is not {e}", near(
                begin * 1e6, e["ts"]) and near(seconds * 1e6, e["dur"]))
            same("kind", e["cat"], rows[instr]["collective"] or
                 rows[instr]["does"])
            key = (instr, device)
            sums[key] = sums.get(key, 0) + e["dur"] / 1e6
        longest = [max(sums.get((i, d), 0) for d in devices)
                   for i in range(len(rows))]
        programs.expect("longest", all(near(a, b) for a, b in
                                       zip(m["longest"], longest)) and
                        len(m["longest"]) == len(rows))
    turns = report["micro_batches"]["turns"]
    same("micro-batches", {e["args"]["micro_batch"] for e in events},
         {None, *range(turns)})


def check_trace_order(trace):
    """A device does one thing after another, within the step."""
    last = {}
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            programs.expect(f"{e} begins too early",
                            e["ts"] >= last.get(e["pid"], 0) - 1e-6)
            last[e["pid"]] = e["ts"] + e["dur"]
    same("devices", sorted(last), list(range(trace["otherData"]["devices"])))
    programs.expect("the step is shorter", max(last.values()) <=
                    trace["otherData"]["seconds"] * 1e6 + 1e-3)


def check_beside(tmp, number, options, steps):
    """Planners, frontier and trace of a small model; returns the page."""
    plan, page = f"{tmp}/b{number}.plan", f"{tmp}/b{number}.html"
    model = [f"{MODELS}/mlp.tdl", *SMALL.split(), "-k", "4", "--train"]
    turns = ["--micro-batches", "4"] if number else []
    tdlc("plan", model[0], *SMALL.split(), *options.split(), "-o", plan)
    files = {}
    for key, words in (("planners", ("compare", *model, *turns)),
                       ("frontier", ("plan", *model, "--frontier"))):
        files[key] = f"{tmp}/{key}{number}.json"
        with open(files[key], "w", encoding="utf-8") as f:
            f.write(tdlc(*words, "--json"))
    files["trace"] = f"{tmp}/b{number}.trace"
    programs.run(programs.TDLRUN, plan, "--steps", str(steps), "--trace",
                 files["trace"])
    read = {}
    for key, path in files.items():
        with open(path, encoding="utf-8") as f:
            read[key] = json.load(f)
    words = [w for key, path in files.items() for w in (f"--{key}", path)]
    report = json.loads(tdlc("report", plan, *words, "--json", "-o", page))
    same("the page's data", data_of(page), report)
    check_trace_order(read["trace"])
    check_measured(report, read["trace"])
    check_planners(report, read["planners"], True)
    check_frontier(report, read["frontier"])
    check_compared(tmp, [*model, *turns], read["planners"],
                   None if turns else read["frontier"])
    return page


# ---- files ---------------------------------------------------------------------

def hostile_page(tmp):
    """A report of a plan whose names try to be markup."""
    with open(f"{tmp}/4.plan", encoding="utf-8") as f:
        plan = json.load(f)
    for kind in ("tensors", "nodes"):
        for x in plan[kind]:
            x["name"] = HOSTILE + x["name"]
    plan["model"] = HOSTILE
    with open(f"{tmp}/hostile.plan", "w", encoding="utf-8") as f:
        json.dump(plan, f)
    page = f"{tmp}/hostile.html"
    tdlc("report", f"{tmp}/hostile.plan", "-o", page)
    same("the model's name", data_of(page)["model"], HOSTILE)
    with open(page, encoding="utf-8") as f:
        programs.expect("a name is markup", "onerror=" not in
                        f.read().replace("\\u003cimg src=x onerror=", ""))
    return page


def check_failures(tmp):
    """Nothing is written, or all."""
    with open(f"{tmp}/broken.plan", "w", encoding="utf-8") as f:
        f.write("{}")
    for words, status in ((["broken.plan", "-o", "no.html"], 1),
                          (["4.plan"], 2), (["4.plan", "-o", "no/no.html"], 4),
                          (["b0.plan", "--trace", "b1.trace", "-o",
                            "no.html"], 1),
                          (["4.plan", "--planners", "planners0.json", "-o",
                            "no.html"], 1)):
        done = subprocess.run([TDLC, "report", *words], cwd=tmp,
                              capture_output=True, check=False)
        same(" ".join(words), done.returncode, status)
    programs.expect("a page of a broken plan",
                    not os.path.exists(f"{tmp}/no.html"))


# ---- in a browser --------------------------------------------------------------

MOST_MS = 1000  # far above what is measured: docs/report.md


class Visit:
    """A page in the browser, with what it says and asks for."""

    def __init__(self, browser, page, **how):
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.faults = []
        self.page.on("console", lambda m: self.faults.append(m.text))
        self.page.on("pageerror", lambda e: self.faults.append(str(e)))
        self.page.on("request", self.note)
        self.url = "file://" + page
        self.page.goto(self.url)

    def note(self, request):
        if request.url != "file://" + self.url[7:]:
            self.faults.append("asks for " + request.url)

    def text(self, where):
        return self.page.inner_text(where)

    def timed(self, script):
        """Milliseconds until what a script does is laid out."""
        return self.page.evaluate("""async () => {
            const from = performance.now();
            %s;
            document.body.offsetHeight;
            return performance.now() - from;
        }""" % script)

    def end(self, what):
        same(what, self.faults, [])
        self.context.close()


def count_of(visit, kind="operator"):
    return visit.text(f"#{kind}-tools .count")


def check_lists_of(visit, report):
    page, n = visit.page, len(report["operators"])
    groups = len(report["blocks"]["operators"])
    same("count", count_of(visit), f"{n} of {n} in {groups} rows")
    rows = page.locator("#operator-list .row")
    programs.expect("all rows are elements", rows.count() < 60)
    page.keyboard.press("/")
    page.keyboard.type("grad_b")
    found = [x for x in report["operators"]
             if "grad_b" in (x["name"] + " " + x["op"]).lower()]
    programs.expect(f"{count_of(visit)}: not {len(found)}",
                    count_of(visit).startswith(f"{len(found)} of {n}"))
    rows.first.click()
    detail = visit.text("#operator-detail b")
    programs.expect(f"shows {detail}", "grad_b" in detail)
    page.locator("#operator-detail .link").first.click()
    programs.expect("no tensor is shown", visit.text("#tensor-detail b") in
                    {x["name"] for x in report["tensors"]})
    page.locator("#operator-tools input").fill("")
    page.click("#operator-tools >> text=unfold all")
    programs.expect("nothing unfolds", int(count_of(visit).split()[0]) == n)
    page.locator("#operator-list .body").focus()
    page.keyboard.press("End")
    programs.expect("the end is not in sight",
                    page.locator("#operator-list .row.at").is_visible())
    page.click("#operator-tools >> text=fold all >> nth=-1")


def check_order(visit, report):
    """The figures of a sorted column fall."""
    visit.page.click("#operator-list .head >> text=computes")
    first = visit.page.locator("#operator-list .row").first
    name = first.locator("> div").first.get_attribute("title")
    best = max(report["blocks"]["operators"], key=lambda b: sum(
        report["operators"][i]["seconds"] for i in b["members"]))
    shown = [b for b in report["blocks"]["operators"] if b["name"] == name]
    seconds = [sum(report["operators"][i]["seconds"] for i in b["members"])
               for b in shown + [best]]
    programs.expect(f"{name} first, not {best['name']}",
                    min(seconds) == max(seconds))


def check_charts(visit, report):
    page = visit.page
    want = 2 + (2 if report["communication_bytes"] else 0)
    same("charts", page.locator(".uplot").count(), want)
    chart = page.locator("#timeline-view .u-over")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * .3, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * .5, box["y"] + 20)
    page.mouse.up()
    shown = page.evaluate("(() => { const x = charts[charts.length - 1].plot"
                          ".scales.x; return x.max - x.min; })()")
    share = shown / report["predicted_seconds"]
    programs.expect(f"zoomed to {share}", .15 < share < .25)
    page.mouse.dblclick(box["x"] + 40, box["y"] + 20)


def held(report, layout, rank):
    """The region of a device, axis after axis, as the page writes it."""
    coords = []
    for n in reversed(report["mesh"]):
        coords.insert(0, rank % n)
        rank //= n
    region = [[0, size] for size in layout["shape"]]
    for cut, at, n in zip(layout["cuts"], coords, report["mesh"]):
        if isinstance(cut, int):
            lo, hi = region[cut]
            region[cut] = [lo + (hi - lo) * i // n for i in (at, at + 1)]
    return "[" + ", ".join(f"{lo}:{hi}" for lo, hi in region) + "]"


def check_drawn(visit, report):
    """Who holds what, as the page computes it, beside the definition."""
    drawn = visit.page.evaluate("""() => report.layouts.map(layout =>
        blocksOf(layout, 1e9).map(parts => [regionText(layout, parts),
            firstRank(layout, parts), ranksOf(layout, parts)]))""")
    for layout, blocks in zip(report["layouts"], drawn):
        want = {rank: held(report, layout, rank)
                for rank in range(report["devices"])}
        got = {rank: region for region, _, ranks in blocks for rank in ranks}
        same(f"who holds {layout}", got, want)
        same("first devices", [first for _, first, _ in blocks],
             [min(ranks) for _, _, ranks in blocks])


# ---- figures that are shown ----------------------------------------------------

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "s": 1,
         "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "%": .01}


def shows(what, text, value):
    """Whether a text of the page is a figure, to three digits."""
    number, _, unit = text.partition(" ")
    shown = float(number) * UNITS.get(unit, 1)
    programs.expect(f"{what}: {text}, not {value}",
                    abs(shown - value) <= .0051 * max(abs(value), 1e-9))


def figures(text):
    """The figures with a unit in a text."""
    return re.findall(r"(?<![\w.])([0-9.]+ (?:[kMGTPE]?B|[mµn]?s|%))(?!\w)",
                      text)


def show(what, text, *values):
    """Whether these are all figures of a text, in this order."""
    found = figures(text)
    same(f"figures in {text!r} of {what}", len(found), len(values))
    for shown, value in zip(found, values):
        shows(what, shown, value)


def rows_of(visit, table):
    """The cells of a table, without its head."""
    return visit.page.evaluate("""where => [...document.querySelectorAll(
        where + ' tr')].slice(1).map(r => [...r.cells].map(
        c => c.innerText.trim()))""", table)


def check_tables(visit, report):
    """The tables of a plan of one stage, or of a stage, beside its data."""
    moving = [c for c in report["collectives"] if c["bytes"]]
    rows = rows_of(visit, "#collectives")
    same("collectives", len(rows), len(moving))
    for row, c in zip(rows, moving):
        same("collective", row[:2], [c["name"], str(c["transfers"])])
        shows("received", row[2], c["bytes"])
        shows("takes", row[3], c["seconds"])
    rows = rows_of(visit, "#links")
    same("links", len(rows), len(report["links"] or []) if moving else 0)
    for row, c, level in zip(rows, report["links"] or [],
                             report["machine"]["levels"]):
        same("link", row[0], c["name"])
        shows("by link", row[1], c["bytes"])
        shows("bandwidth", row[2].removesuffix("/s"), level["bandwidth"])
        shows("latency", row[3], level["latency"])
    alive = report["memory"]["peak"]["alive"]
    rows = rows_of(visit, "#peak")
    programs.expect("nothing is alive", rows or not alive)
    by_name = {}
    for u in alive:
        by_name.setdefault(report["tensors"][u["tensor"]]["name"],
                           []).append(u["bytes"])
    for name, n, _, nbytes in rows:
        if n == "1":
            programs.expect(f"{name}: {nbytes}", any(
                abs(float(nbytes.split()[0]) * UNITS[nbytes.split()[1]] - b)
                <= .0051 * b for b in by_name[name]))


def check_rows(visit, report, kind, columns):
    """The first rows of an unfolded list: cells by column beside the data."""
    visit.page.click(f"#{kind}-tools >> text=unfold all")
    rows = visit.page.evaluate("""kind => [...document.querySelectorAll(
        `#${kind}-list .row`)].filter(r => r.querySelector('.fold')
        .textContent === '').map(r => [r.children[0].title,
        ...[...r.children].map(c => c.innerText.trim())])""", kind)
    found = {x["name"]: x for x in report[kind + "s"]}
    programs.expect(f"no rows of {kind}s", rows)
    for name, *cells in rows:
        for at, key in columns:
            if found[name][key] is not None:
                shows(f"{name}: {key}", cells[at], found[name][key])
    visit.page.click(f"#{kind}-tools >> text=fold all >> nth=-1")


def check_overview(visit, report, whole):
    """The figures in front, but for those in the planner's note."""
    texts = visit.page.evaluate("""() => [...document.querySelectorAll(
        '#facts .fact')].map(f => f.firstChild.innerText + ' | ' +
        f.lastChild.innerText).filter(t => !t.startsWith('note | '))""")
    want, of = [], report["machine"]["memory"]
    if whole is not report:
        want += [whole["predicted_seconds"], whole["bubble"],
                 whole["communication_bytes"],
                 sum(c["bytes"] for c in whole["channels"])]
    want += [report["communication_bytes"], report["peak_bytes_per_device"],
             *([of] if of else []), report["predicted_seconds"],
             report["computation_seconds"], report["communication_seconds"]]
    search = report.get("search")
    if search:
        want += [search["predicted_seconds_one_device"],
                 search["peak_bytes_one_device"],
                 search["byte_model"]["total"]]
        if search["lower_bound"] is not None:
            want.append(search["lower_bound"])
    show("overview", "; ".join(texts), *want)
    same("counts", [f"{len(report['operators'])} operators | and "
                    f"{len(report['tensors'])} tensors, after fusing"],
         [t for t in texts if " operators | " in t])
    peak = visit.text("#memory-view p.hint")
    shows("peak", figures(peak)[0], report["memory"]["peak"]["bytes"])
    shows("arena", figures(peak)[-1], report["peak_bytes_per_device"])


def runner_up_of(op):
    """The figures of the runner-up: none where it costs as much."""
    other = op["runner_up"]
    more = other["byte_model"] - op["byte_model"] if other else 0
    return [abs(more)] if more else []


def check_details(visit, report):
    """The details of some operators and tensors, and the column of
    runners-up."""
    for kind, name, values in (
            ("operator", "showOperator", lambda x: [
                x["seconds"], x["communication_bytes"],
                x["communication_seconds"],
                *([] if x["byte_model"] is None else [x["byte_model"]]),
                *runner_up_of(x)]),
            ("tensor", "showTensor", lambda x: [x["bytes"],
                                                x["bytes_per_device"]])):
        rows = report[kind + "s"]
        for i in range(0, len(rows), max(1, len(rows) // 30)):
            visit.page.evaluate(f"{name}({i})")
            show(rows[i]["name"], visit.text(f"#{kind}-detail dl"),
                 *values(rows[i]))
    rows = visit.page.evaluate("""() => operatorList.list.columns
        .filter(c => c.title === 'runner-up').flatMap(c => operators.map(
        (op, i) => { const e = el('div', {}); c.cell({ of: [i] }, e);
        return e.textContent; }))""")
    same("runners-up", len(rows), len(report["operators"]))
    for text, op in zip(rows, report["operators"]):
        show(op["name"], text, *runner_up_of(op))


def check_folded(visit, report):
    """The sums of folded rows."""
    rows = visit.page.evaluate("""() => operatorList.facts.groups.map(g =>
        [g.members, ...operatorList.list.columns.filter(c => c.number).map(c =>
        { const e = el('div', {}); c.cell({ of: g.members }, e);
        return e.textContent; })])""")
    same("groups", len(rows), len(report["blocks"]["operators"]))
    for members, moves, computes in rows:
        of = [report["operators"][i] for i in members]
        shows("moves", moves, sum(x["communication_bytes"] for x in of))
        shows("computes", computes, sum(x["seconds"] for x in of))


def block_of(name):
    """The block in the name of an operator: up to the first part with a number,
    else the first part."""
    parts = [p for p in re.split("[./:]+", name) if p]
    n = next((i + 1 for i, p in enumerate(parts) if re.search("[0-9]", p)), 1)
    if len(parts) < 2:
        return name
    return ".".join(parts[:n if n < len(parts) else 1])


# The text below a chart, for the pointer at some places.
TIPS = """([view, nth, at]) => {
    const box = document.getElementById(view).querySelectorAll('.chart')[nth];
    const c = charts.find(c => c.box === box);
    return at.map(([x, y]) => { c.plot.setCursor({
        left: c.plot.valToPos(x, 'x'), top: c.plot.valToPos(y, 'y') });
        return c.tip.textContent; }); }"""


def tips(visit, view, nth, at):
    return visit.page.evaluate(TIPS, [view, nth, at])


def check_traffic_drawn(visit, report):
    want = {}
    for x in report["operators"]:
        block = block_of(x["name"])
        old = want.get(block, (0, 0))
        want[block] = (old[0] + x["communication_bytes"],
                       old[1] + x["seconds"])
    want = {k: v for k, v in want.items() if v[0]}
    if want:
        bars = tips(visit, "traffic-view", 0,
                    [(i, 1) for i in range(len(want))])
        same("blocks", sorted(t.split(": ")[0] for t in bars), sorted(want))
        for text in bars:
            show("a block", text, *want[text.split(": ")[0]])
    rows = report["received"]
    if not rows or not report["communication_bytes"]:
        return
    at = [(i, j) for i in range(len(rows)) for j in range(len(rows))]
    heat = tips(visit, "traffic-view", 1 if want else 0,
                [(j + .5, i + .5) for i, j in at])
    for text, (i, j) in zip(heat, at):
        show("the map", text, rows[i][j])


def check_instants_drawn(visit, report):
    """Memory at some instants, and the instructions of the timeline."""
    use, n = report["memory"]["in_use"], len(report["program"]) + 2
    some = sorted({*range(0, n, max(1, n // 40)),
                   report["memory"]["peak"]["instruction"] + 1})
    for text, i in zip(tips(visit, "memory-view", 0,
                            [(i - 1, 1) for i in some]), some):
        parts = [use[k][i] for k in ("kept", "values", "transfers")]
        for shown, value in zip(figures(text)[-4:], [sum(parts), *parts]):
            shows(f"memory at {i}", shown, value)
    rows = report["timeline"]
    wide = [x for x in rows if x[2] > report["predicted_seconds"] / 200 and
            report["program"][x[0]]["does"] == "run"]
    found = tips(visit, "timeline-view", 0,
                 [(begin + seconds / 2, .5) for _, begin, seconds in wide])
    for text, (at, begin, seconds) in zip(found, wide):
        name = report["operators"][report["program"][at]["operator"]]["name"]
        programs.expect(f"{text} is not {name}", text.startswith(name + " ("))
        for shown, value in zip(figures(text)[-2:], [seconds, begin]):
            shows(f"{name} in the timeline", shown, value)


def check_shown(visit, report, whole):
    check_overview(visit, report, whole)
    check_details(visit, report)
    check_folded(visit, report)
    check_traffic_drawn(visit, report)
    check_instants_drawn(visit, report)
    check_tables(visit, report)
    check_rows(visit, report, "operator", [(3, "communication_bytes"),
                                           (4, "seconds")])
    check_rows(visit, report, "tensor", [(5, "bytes"),
                                         (6, "bytes_per_device")])


def check_plans_shown(visit, whole):
    good = [p for p in whole["planners"] if "error" not in p]
    rows = rows_of(visit, "#planner-table")
    same("planners", [r[0] for r in rows], [p["algorithm"] for p in good])
    for row, p in zip(rows, good):
        for text, key in zip(row[1:], ("predicted_seconds",
                                       "peak_bytes_per_device",
                                       "communication_bytes", "byte_model",
                                       "gap", "search_seconds")):
            if p[key] is None:
                same(f"{row[0]}: {key}", text, "–")
            elif key == "gap":
                programs.expect(f"{row[0]}: {text}, not {p[key]}", abs(
                    float(text.removesuffix(" %")) - 100 * p[key]) <= .051)
            else:
                shows(f"{row[0]}: {key}", text, p[key])
    plans = whole["frontier"]["plans"]
    rows = rows_of(visit, "#frontier-table")
    same("frontier", len(rows), len(plans))
    for row, p in zip(rows, plans):
        shows("time", row[1], p["predicted_seconds"])
        shows("memory", row[2], p["peak_bytes_per_device"])
        shows("moved", row[3], p["communication_bytes"])


def check_measured_shown(visit, report, whole):
    measured = dict.fromkeys(range(len(report["operators"])), 0)
    for instr, seconds in zip(report["program"],
                              report["measured"]["longest"]):
        if instr["operator"] is not None:
            measured[instr["operator"]] += seconds
    by_name = {x["name"]: (measured[i], x["seconds"] +
                           x["communication_seconds"])
               for i, x in enumerate(report["operators"])}
    rows = rows_of(visit, "#differences")
    same("differences", len(rows), min(15, len(by_name)))
    apart = [abs(by_name[r[0]][0] - by_name[r[0]][1]) for r in rows]
    same("their order", apart, sorted(apart, reverse=True))
    same("the greatest", apart[0], max(abs(a - b)
                                       for a, b in by_name.values()))
    for name, at, predicted, differ in rows:
        both = by_name[name]
        shows(f"{name} measured", at, both[0])
        shows(f"{name} predicted", predicted, both[1])
        show(f"{name} differs", differ, abs(both[0] - both[1]))
        programs.expect(f"{name}: {differ}", differ.endswith(
            "more" if both[0] >= both[1] else "less"))
    hint = visit.text("#timeline-view h3:has-text('measured') + p")
    show("measured", hint, report["measured"]["seconds"],
         whole["predicted_seconds"])


def check_beside_page(browser, page, pictures):
    """Planners, the frontier and a measured step."""
    whole = data_of(page)
    report = whole["stages"][0]["report"] if "stages" in whole else whole
    name = os.path.basename(page)[:-5]
    for width, dark in ((1400, "light"), (420, "dark")):
        visit = Visit(browser, page, color_scheme=dark,
                      viewport={"width": width, "height": 1000})
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        programs.expect(f"{page} is {wide} wide at {width}", wide <= width)
        check_plans_shown(visit, whole)
        check_measured_shown(visit, report, whole)
        devices = sorted({x[0] for x in report["measured"]["timeline"]})
        visit.page.select_option("#measured-device", str(devices[-1]))
        drawn = visit.page.evaluate("""device => measuredOf(device).length""",
                                    devices[-1])
        same("spans", drawn, sum(x[0] == devices[-1] for x in
                                 report["measured"]["timeline"]))
        if pictures:
            visit.page.screenshot(full_page=True, path=f"{pictures}/{name}-"
                                  f"{width}-{dark}.png")
        visit.end(page)


def check_blocks(visit):
    page = visit.page
    block = page.locator("#graph-view .block").first
    block.click()
    programs.expect("no block is chosen", page.locator(
        "#operator-tools button:has-text('only')").is_visible())
    page.click("#operator-tools button:has-text('only')")
    page.select_option("#graph-tools select", "1 1")


def check_speed(visit):
    for what, script in (
            ("search", "operatorList.search.value = 'a'; "
                       "operatorList.update()"),
            ("unfold", "operatorList.search.value = ''; "
                       "operatorList.foldAll(true)"),
            ("scroll", "operatorList.list.body.scrollTop = 9e9; "
                       "operatorList.list.draw()"),
            ("fold", "operatorList.foldAll(false)"),
            ("zoom", "charts[charts.length - 1].plot.setScale('x', {min: 0, "
                     "max: report.predicted_seconds / 7})"),
            ("theme", "nextTheme()")):
        ms = visit.timed(script)
        if os.environ.get("REPORT_TIMES"):
            print(f"{what} {ms:.0f} ms")
        programs.expect(f"{what} takes {ms} ms", ms < MOST_MS)


def check_page(browser, page, pictures):
    report = data_of(page)
    name = os.path.basename(page)[:-5]
    visit = Visit(browser, page, viewport={"width": 1400, "height": 1000})
    same("title", visit.text("h1"), report["model"])
    if report["train"]:
        check_lists_of(visit, report)
    check_shown(visit, report, report)
    check_order(visit, report)
    check_charts(visit, report)
    check_drawn(visit, report)
    check_blocks(visit)
    check_speed(visit)
    same("theme", visit.page.evaluate("themeNow()"), "dark")
    visit.page.keyboard.press("t")
    same("theme", visit.page.evaluate("themeNow()"), "light")
    programs.expect("no PDF", visit.page.pdf()[:4] == b"%PDF")
    visit.end(page)
    for width, dark in ((1400, "light"), (1400, "dark"), (420, "light"),
                        (420, "dark")):
        visit = Visit(browser, page, color_scheme=dark,
                      viewport={"width": width, "height": 1000})
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        programs.expect(f"{page} is {wide} wide at {width}", wide <= width)
        cut = visit.page.evaluate("""() => [...document.querySelectorAll(
            '.list .head > div')].filter(e => e.offsetWidth &&
            e.getBoundingClientRect().right > innerWidth).length""")
        same(f"columns of {page} beyond {width}", cut, 0)
        if pictures:
            visit.page.screenshot(full_page=True, path=f"{pictures}/{name}-"
                                  f"{width}-{dark}.png")
        visit.end(page)


def check_stages_shown(visit, report):
    for row, s in zip(rows_of(visit, "#stage-table"), report["stages"]):
        for text, key in zip(row[3:], ("peak_bytes", "bytes_in_use",
                                       "computing_seconds",
                                       "communicating_seconds",
                                       "idle_seconds")):
            shows(f"{row[0]}: {key}", text, s[key])
        programs.expect(f"{row[0]}: {row[8]}", abs(
            float(row[8].removesuffix(" %")) - 100 * s["idle_seconds"] /
            report["predicted_seconds"]) <= .051)
    for i, s in enumerate(report["stages"]):
        passes = sorted(s["passes"], key=lambda x: x[2] - x[3])[:20]
        texts = tips(visit, "stages-view", 0,
                     [((begin + end) / 2, i + .5)
                      for _, _, begin, end in passes])
        for text, (_, turn, begin, end) in zip(texts, passes):
            show(f"stage {i}", text, end - begin, begin)
            programs.expect(f"{text} is not of {turn}", turn is None or
                            f" of micro-batch {turn} –" in text)
    most = sorted((c["bytes"] for c in report["channels"]), reverse=True)
    for row, n in zip(rows_of(visit, "#channels"), most):
        shows("a channel", row[3], n)


def check_staged_page(browser, page, pictures):
    """The stages, and from each of them the page of another."""
    report = data_of(page)
    name = os.path.basename(page)[:-5]
    last = len(report["stages"]) - 1
    for width, dark in ((1400, "light"), (420, "dark")):
        visit = Visit(browser, page, color_scheme=dark,
                      viewport={"width": width, "height": 1000})
        same("title", visit.text("h1"), f"{report['model']}, stage 0")
        same("rows", visit.page.locator("#stage-table tr").count(), last + 2)
        if width > 900:
            check_shown(visit, report["stages"][0]["report"], report)
        check_stages_shown(visit, report)
        painted = visit.page.evaluate("""() => {
            const c = document.querySelector('#stages-view canvas');
            return c.getContext('2d').getImageData(0, 0, c.width, c.height)
                .data.some(v => v !== 0); }""")
        programs.expect("no diagram", painted)
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        programs.expect(f"{page} is {wide} wide at {width}", wide <= width)
        visit.url = f"file://{page}?stage={last}"
        visit.page.click("#stage-table tr:last-child a")
        visit.page.locator("#title", has_text=f"stage {last}").wait_for()
        shown = report["stages"][last]["report"]
        programs.expect("operators of another stage", count_of(visit)
                        .startswith(str(len(shown["operators"]))))
        if pictures:
            visit.page.screenshot(full_page=True, path=f"{pictures}/{name}-"
                                  f"{width}-{dark}.png")
        programs.expect("no PDF", visit.page.pdf()[:4] == b"%PDF")
        visit.end(page)


def check_hostile(browser, page):
    visit = Visit(browser, page)
    same("title", visit.text("h1"), HOSTILE.replace("\u2028", " ")
         if "\u2028" not in visit.text("h1") else HOSTILE)
    same("a script of a name ran",
         visit.page.evaluate("typeof window.bad"), "undefined")
    same("elements of names", visit.page.locator("img").count(), 0)
    visit.end(page)


def visit_all(pages, staged, beside, hostile, pictures):
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"),
                                    args=["--no-sandbox"])
        for page in pages:
            check_page(browser, page, pictures)
        for page in staged:
            check_staged_page(browser, page, pictures)
        for page in beside:
            check_beside_page(browser, page, pictures)
        check_hostile(browser, hostile)
        browser.close()


def main():
    pictures = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as tmp:
        pages = [check_plan(tmp, i, *p) for i, p in enumerate(PLANS)]
        staged = [check_staged(tmp, i, *p) for i, p in enumerate(STAGED)]
        beside = [check_beside(tmp, i, *p) for i, p in enumerate(BESIDE)]
        hostile = hostile_page(tmp)
        check_failures(tmp)
        if os.environ.get("SANITIZE") == "yes":  # a page is a page
            programs.finish()
            return
        if not importlib.util.find_spec("playwright") or \
                not shutil.which("chromium"):
            programs.finish()
            print(f"SKIP: no chromium, or {sys.executable} has no playwright "
                  "(tests/requirements-report.txt)")
            sys.exit(77)
        visit_all(pages, staged, beside, hostile, pictures)
    programs.finish()


if __name__ == "__main__":
    main()
