# Tests: libtdl compiler/driver
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
    for part in ("computation", "communication"):
        same(part, report[part + "_seconds"], planned["predicted_parts"][part])


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
                          (["4.plan"], 2), (["4.plan", "-o", "no/no.html"], 4)):
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
        painted = visit.page.evaluate("""() => {
            const c = document.querySelector('#stages-view canvas');
            return c.getContext('2d').getImageData(0, 0, c.width, c.height)
                .data.some(v => v !== 0); }""")
        programs.expect("no diagram", painted)
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        programs.expect(f"{page} is {wide} wide at {width}", wide <= width)
        visit.url = f"file://{page}?stage={last}"
        visit.page.click("#stage-table tr:last-child a")
        visit.page.wait_for_function(
            f"document.getElementById('title').textContent.endsWith("
            f"'stage {last}')")
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


def visit_all(pages, staged, hostile, pictures):
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"),
                                    args=["--no-sandbox"])
        for page in pages:
            check_page(browser, page, pictures)
        for page in staged:
            check_staged_page(browser, page, pictures)
        check_hostile(browser, hostile)
        browser.close()


def main():
    pictures = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as tmp:
        pages = [check_plan(tmp, i, *p) for i, p in enumerate(PLANS)]
        staged = [check_staged(tmp, i, *p) for i, p in enumerate(STAGED)]
        hostile = hostile_page(tmp)
        check_failures(tmp)
        if not importlib.util.find_spec("playwright") or \
                not shutil.which("chromium"):
            programs.finish()
            print(f"SKIP: no chromium, or {sys.executable} has no playwright "
                  "(tests/requirements-report.txt)")
            sys.exit(77)
        visit_all(pages, staged, hostile, pictures)
    programs.finish()


if __name__ == "__main__":
    main()
