# Tests: compiler/cost kernel runtime/run runtime/calibration libtdl
"""Machines that were measured: times that plan predicts from curves beside a
reading of docs/machines.md; tdlrun --calibrate; tdlc profile; files that are
damaged.

    calibrate.py [--seed S] [--rounds N]
"""
import copy
import json
import math
import os
import random
import subprocess
import tempfile

import programs
from programs import expect

TDLC, TDLRUN = programs.TDLC, programs.TDLRUN
CLASSES = ["elementwise", "transposition", "function", "long function",
           "branched function",
           "inner reduction", "outer reduction", "choice", "pooling", "product",
           "convolution", "turned product", "turned convolution", "gather"]
# Those without which older files are, and what they were.
LATER = {"choice": "inner reduction", "pooling": "inner reduction",
         "turned product": "product", "turned convolution": "convolution",
         "branched function": "function"}


# ---- a machine that nobody measured ------------------------------------------

def curve(r, first, last, seconds):
    """Points of a curve: sizes and seconds rise."""
    sizes = sorted(r.uniform(math.log(first), math.log(last))
                   for _ in range(r.randint(1, 6)))
    points = []
    for s in sizes:
        seconds *= math.exp(r.uniform(0, 2))
        points.append([math.exp(s), seconds, r.random()])
    return points


def kernels(r):
    rows = [{"class": c, "type": t, "points": curve(r, 10, 1e8, 1e-6)}
            for c in CLASSES for t in (["f32", "f64"] if c != "gather"
                                       else ["f32"])]
    for side in ("rows", "columns", "depth"):
        for least in (4, 8, 40):
            for c in ("product", "turned product"):
                rows.append({"class": c, "type": "f32", "side": side,
                             "least": least,
                             "points": curve(r, 100, 1e8, 1e-6)})
    out = r.choice([None, *LATER])
    rows = [x for x in rows if x["class"] != out]
    r.shuffle(rows)
    return rows


def machine(r):
    return {"format": "tdl-topology", "version": 2, "name": "made up",
            "made": "here", "processors": 2,
            "device": {"memory": 1 << 34, "bandwidth": 1e12, "launch": 1e-9,
                       "overlap": False, "flops": {"f32": 1e15}},
            "levels": [{"latency": 3e-6, "bandwidth": 1e14, "transfers": [
                {"collective": c, "devices": 2,
                 "points": curve(r, 10, 1e7, 1e-6)}
                for c in ("all-gather", "all-to-all", "reduce-scatter")]}],
            "measured": [{"devices": n, "memory": curve(r, 10, 1e9, 1e-7),
                          "kernels": kernels(r)} for n in (1, 2)]}


def seconds(points, size):
    if size <= points[0][0]:
        return points[0][1]
    if size >= points[-1][0]:
        return points[-1][1] * size / points[-1][0]
    for x, y in zip(points, points[1:]):
        if size <= y[0]:
            part = math.log(size / x[0]) / math.log(y[0] / x[0])
            return math.exp((1 - part) * math.log(x[1]) +
                            part * math.log(y[1]))
    raise AssertionError("no such point")


def one_product(points, square, work):
    """Smaller than all that were measured: less, as far as a square one does."""
    part, s = work / points[0][0], seconds(points, work)
    return s if part >= 1 else min(s, max(s * part, seconds(square, work)))


def product(rows, extents, count, share):
    """count products of rows x columns x depth, of which `share' is not 0."""
    work = 2.0 * math.prod(extents) * share
    least = min(extents)
    side = ("rows", "columns", "depth")[extents.index(least)]
    square = next(k["points"] for k in rows if "side" not in k)
    known = sorted((k["least"], k["points"]) for k in rows
                   if k.get("side") == side)
    if known:
        known.append((max((work / 2) ** (1 / 3), 2 * known[-1][0]), square))
    else:
        known = [(least, square)]
    if least < known[0][0]:  # as long as the shortest that was measured
        work *= known[0][0] / least
    low, high = known[0], known[0]
    for i, x in enumerate(known):
        if x[0] < least and i + 1 < len(known):
            low, high = x, known[i + 1]
    part = 0
    if low is not high and least > low[0]:
        part = min(1, math.log(least / low[0]) / math.log(high[0] / low[0]))
    one = math.exp((1 - part) * math.log(one_product(low[1], square, work)) +
                   part * math.log(one_product(high[1], square, work)))
    if count == 1:
        return one
    last, begin = high[1][-1], min(one, high[1][0][1])
    return begin + count * max(one - begin, work * last[1] / last[0])


def expected(share, name, t, work, nbytes, extents=None, count=1):
    """Of products `work' is the part of the terms that are not 0."""
    rows = [k for k in share["kernels"] if k["class"] == name]
    if not rows and name in LATER:
        rows = [k for k in share["kernels"] if k["class"] == LATER[name]]
    mine = [k for k in rows if k["type"] == t] or \
           [k for k in rows if k["type"] == "f32"]
    s = product(mine, extents, count, work) if extents else \
        seconds(mine[0]["points"], work)
    return max(s, seconds(share["memory"], nbytes))


def cases(r):
    """Models of one kernel, and what decides its time."""
    n, m, k, b = (r.choice([1, 2, 3, 5, 8, 20, 64, 200]) * r.randint(4, 6)
                  for _ in range(4))
    t = r.choice(["f32", "f64"])
    size = 4 if t == "f32" else 8
    x = f"input x[{n}, {m}]: {t}\n"
    both = 2 * n * m * size
    yield x + "y = relu(x)", "elementwise", t, n * m, both, None, 1
    yield x + "y = transpose(x, perm = [1, 0])", "transposition", t, n * m, \
        both, None, 1
    yield x + "y = exp(x)", "function", t, n * m, both, None, 1
    yield x + "y = twice(x)", "function", t, n * m, both, None, 1
    yield f"input x[{n}, {m}, {b}]: {t}\ny = third(x)", "branched function", \
        t, n * b, n * (m + 1) * b * size, None, 1
    yield x + f"input w[{n}, {m}]: {t}\ny = dots(x, w)", \
        "inner reduction", t, n * m, (2 * n * m + n) * size, None, 1
    yield x + "input s[]: i64\ny = seeded_dropout(x, s)", "long function", \
        t, n * m, both + 8, None, 1
    yield x + "y = reduce_max(x, axes = [1])", "choice", t, n * m, \
        (n * m + n) * size, None, 1
    yield x + "y = greatest_of_three(x)", "pooling", t, 3 * n * (m - 2), \
        (n * m + n * (m - 2)) * size, None, 1
    yield x + "y = sum_of_three(x)", "pooling", t, 3 * n * (m - 2), \
        (n * m + n * (m - 2)) * size, None, 1
    yield x + "y = reduce_sum(x, axes = [1])", "inner reduction", t, n * m, \
        (n * m + n) * size, None, 1
    yield x + "y = reduce_max(x, axes = [0])", "outer reduction", t, n * m, \
        (n * m + m) * size, None, 1
    yield (f"input x[{b}, {n}, {k}]\ninput w[{b}, {k}, {m}]\n"
           "y = matmul(x, w)"), "product", "f32", 1, \
        4 * b * (n * k + k * m + n * m), [n, m, k], b
    yield f"input x[{n}, {k}]\ninput w[{k}, {m}]\ny = matmul(x, w)", \
        "product", "f32", 1, 4 * (n * k + k * m + n * m), [n, m, k], 1
    yield f"input x[{k}, {n}]\ninput w[{k}, {m}]\ny = crossed(x, w)", \
        "turned product", "f32", 1, 4 * (n * k + k * m + n * m), [n, m, k], 1
    yield f"input w[{m}, {k}, 3]\ninput x[{k}, {n + 2}]\ny = filtered(w, x)", \
        "convolution", "f32", 1, \
        4 * (k * (n + 2) + 3 * k * m + n * m), [m, n, 3 * k], 1
    yield (f"input x[{k}, {n}]\ninput w[{k}, {m}, 3]\ny = doubled(x, w)"), \
        "turned convolution", "f32", .5, \
        4 * (k * n + 3 * k * m + 2 * n * m), [2 * n, m, 3 * k], 1


OPS = """
/// A function of the same is computed once.
op twice(x[..d]) -> y[..d] = lambda ..d: tanh(x[..d]) * tanh(x[..d])
/// Computed at one of M places.
op third(x[N, M, B]) -> y[N, M, B] =
    lambda i, j, l: if j == 2 then exp(x[i, j, l]) else 0
/// Products of which none has a side.
op dots(a[N, M], b[N, M]) -> y[N] =
    lambda i: Sum(lambda j: a[i, j] * b[i, j])
op greatest_of_three(x[N, M]) -> y[N, M - 2] =
    lambda i, j: Max(lambda r < 3: x[i, j + r])
op sum_of_three(x[N, M]) -> y[N, M - 2] =
    lambda i, j: Sum(lambda r < 3: x[i, j + r])
/// x lies across what is summed over.
op crossed(x[K, N], w[K, M]) -> y[N, M] =
    lambda i, m: Sum(lambda k: x[k, i] * w[k, m])
op filtered(w[M, K, R], x[K, N]) -> y[M, N - R + 1] =
    lambda m, i: Sum(lambda k, r: w[m, k, r] * x[k, i + r])
/// A transposed convolution in steps of 2: every other term is 0.
op doubled(x[K, N], w[K, M, R]) -> y[2 * N, M] =
    lambda i, m: Sum(lambda k, r:
        (if (i - r) % 2 == 0 then (x[k, (i - r) / 2] else 0) else 0)
        * w[k, m, r])
"""


def predicted(model, path, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".tdl") as f:
        f.write(OPS + "model one() {\n" + model + "\noutput y\n}\n")
        f.flush()
        return programs.call(TDLC, "plan", f.name, "--topology", path,
                             "--no-fuse", *options)


def near(what, a, b):
    expect(f"{what}: {a}, not {b}", abs(a - b) <= 1e-9 * max(abs(a), abs(b)))


def check_made_up(r, path):
    m = machine(r)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(m, f)
    for model, *how in cases(r):
        one = predicted(model, path, "-k", "1")
        near(model, one["predicted_seconds"],
             expected(m["measured"][0], *how))
        near(f"{model}, alone", one["predicted_seconds_one_device"],
             one["predicted_seconds"])
    n, width = 8 * r.randint(1, 50), r.randint(1, 60)
    text = f"input x[{n}, {width}]\nh = relu(x)\ny = abs(h)"
    pins = ["--pin", "x=cut 0", "--pin", "h=cut 0", "--pin", "y=whole", "--pin",
            "y=replicated",
            "--bucket-bytes", "0"]
    for k, crowd in ((2, 1), (4, 2)):
        p = predicted(text, path, "-k", str(k), *pins)
        share, level = m["measured"][1], m["levels"][0]
        gather = level["transfers"][0]["points"]
        part, whole = n * width // k, n * width
        total = expected(share, "elementwise", "f32", part, 8 * part)
        total += expected(share, "elementwise", "f32", whole, 8 * whole)
        total += seconds(share["memory"], 8 * whole)
        total += seconds(gather, 4 * (whole - part)) + \
            (k - 2) * level["latency"]
        near(f"{k} devices, gathered", p["predicted_seconds"], crowd * total)
        near(f"{k} devices, one alone", p["predicted_seconds_one_device"],
             2 * expected(m["measured"][0], "elementwise", "f32", whole,
                          8 * whole))


# ---- plans that say their machine -------------------------------------------

MLP = [programs.MODELS + "/mlp.tdl", "-D", "width=32", "-D", "depth=2", "-D",
       "batch=16"]


def check_plan_says(r, folder):
    """A plan for a machine of a file, which is moved with it; with stages, and
    without."""
    a, b = os.path.join(folder, "a"), os.path.join(folder, "b")
    os.mkdir(a)
    with open(os.path.join(a, "m.json"), "w", encoding="utf-8") as f:
        json.dump(machine(r), f)
    stages = ["--stages", "2", "--micro-batches", "4", "--train"]
    for name, how in (("one", ["--train"]), ("two", stages)):
        said = programs.call(TDLC, "plan", *MLP, "-k", "2", *how, "-o",
                             os.path.join(a, name), "--topology",
                             os.path.join(a, "m.json"))
        near(f"{name}: samples", said["samples_per_second"],
             16 / said["predicted_seconds"])
        if name == "one":
            near("speed-up", said["speedup"],
                 said["predicted_seconds_one_device"] /
                 said["predicted_seconds"])
            near("efficiency", said["parallel_efficiency"],
                 said["speedup"] / 2)
        os.rename(a, b)
        path = os.path.join(b, name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found = json.loads(text)["predicted"]
        expect(f"{name}: {found}", found["machine"] == "made up" and
               found["topology"] == "m.json" and found["batch"] == 16)
        near(name, found["seconds"], said["predicted_seconds"])
        again = programs.call(TDLC, "simulate", path)
        near(f"{name}, simulated", again["predicted_seconds"],
             said["predicted_seconds"])
        other = programs.call(TDLC, "simulate", path, "--topology", "cpu")
        expect(f"{name}: {other['predicted_for']}",
               other["predicted_for"] == "cpu")
        run = programs.call(TDLRUN, path)
        near(f"{name}, run", run["predicted_seconds_per_step"],
             found["seconds"])
        near(f"{name}, samples of the run", run["samples_per_second"],
             16 / run["seconds_per_step"])
        expect(f"{name}: text", "predicted" in programs.run(TDLRUN, path))
        check_wrong_predictions(text, path)
        os.rename(b, a)


def check_wrong_predictions(text, path):
    for wrong in ('7', '{}', '{"machine":"m"}', '{"machine":7,"seconds":1}',
                  '{"machine":"m","seconds":"x"}',
                  '{"machine":"m","seconds":-1}',
                  '{"machine":"m","seconds":1,"batch":0}',
                  '{"machine":"m","seconds":1,"topology":1}',
                  '{"machine":"m","seconds":1,"more":1}'):
        lines = text.split("\n")
        at = next(i for i, x in enumerate(lines)
                  if x.startswith('"predicted":'))
        lines[at] = f'"predicted":{wrong},'
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        done = subprocess.run([TDLRUN, path], capture_output=True, text=True)
        expect(f"{wrong}: {done.returncode} {done.stderr}",
               done.returncode == 1 and "[plan-invalid]" in done.stderr)


# ---- profiles ----------------------------------------------------------------

def one_kernel(folder, name, model, *options):
    """A model in a file, its plan for one device, and the plan's time."""
    path = os.path.join(folder, name + ".tdl")
    with open(path, "w", encoding="utf-8") as f:
        f.write("model one() {\n" + model + "\noutput y\n}\n")
    to = os.path.join(folder, name + ".plan")
    said = programs.call(TDLC, "plan", path, "-k", "1", "--no-fuse", "-o", to,
                         *options)
    return path, to, said["predicted_seconds"]


def write(path, j):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(j, f)


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def check_profiled_kernel(r, folder, machine_path):
    """A kernel that was measured at two sizes, and one between."""
    sizes = sorted(r.sample(range(2, 60), 3))
    measured = {}
    texts = {n: f"input x[{n}, {r.randint(2, 9)}]\ny = exp(x)" for n in sizes}
    machine = r.choice([[], ["--topology", machine_path]])
    path = os.path.join(folder, "profile.json")
    if os.path.exists(path):
        os.remove(path)
    for n in (sizes[0], sizes[2]):
        _, to, _ = one_kernel(folder, f"m{n}", texts[n])
        programs.call(TDLRUN, to, "--steps", "3", "--profile", path,
                      "--kernels", "interpreter")
    p = read(path)
    expect(f"{p}", len(p["kernels"]) == 2 and len(p["runs"]) == 2)
    for row in p["kernels"]:
        expect(f"{row}", row["samples"] == 1 and row["class"] == "function")
        row["seconds"] = float(f"{r.uniform(1e-6, 1e-2):.4g}")
        measured[row["extents"][0]] = row
    write(path, p)
    model = {n: one_kernel(folder, f"m{n}", texts[n], *machine)[2]
             for n in sizes}
    sums = [0, 0]
    for n in (sizes[0], sizes[2]):
        file = os.path.join(folder, f"m{n}.tdl")
        said = programs.call(TDLC, "plan", file, "-k", "1", "--no-fuse",
                             "--profile", path, *machine)
        near(f"{n} measured", said["predicted_seconds"],
             measured[n]["seconds"])
        near(f"{n}, by", said["predicted_by"]["measured"],
             said["predicted_seconds"])
        other = int(texts[sizes[1]].split(",")[1].split("]")[0])
        apart = math.log(sizes[1] / n) ** 2 + \
            math.log(other / measured[n]["extents"][1]) ** 2
        sums[0] += math.log(measured[n]["seconds"] / model[n]) / apart
        sums[1] += 1 / apart
    file = os.path.join(folder, f"m{sizes[1]}.tdl")
    said = programs.call(TDLC, "plan", file, "-k", "1", "--no-fuse",
                         "--profile", path, *machine)
    expect(f"{said['predicted_by']}", said["predicted_by"]["interpolated"] > 0)
    expect(f"{said['predicted_seconds']} between {model} by {measured}",
           abs(said["predicted_seconds"] / model[sizes[1]] /
               math.exp(sums[0] / sums[1]) - 1) < 1e-6)


def check_profiled_plan(r, folder):
    """All kernels of a plan take one time, all its transfers another; two
    files add up; with stages, and without."""
    stages = ["--stages", "2", "--micro-batches", "4"]
    for k, how in ((2, ["--bucket-bytes", "0"]), (2, stages)):
        plan = os.path.join(folder, "some.plan")
        path, more = (os.path.join(folder, x) for x in ("a.json", "b.json"))
        for x in (path, more):
            if os.path.exists(x):
                os.remove(x)
        programs.call(TDLC, "plan", *MLP, "-k", str(k), "--train",
                      *how, "-o", plan)
        for i in range(2):
            programs.call(TDLRUN, plan, "--steps", "4", "--kernels",
                          "interpreter", "--profile", path, "--trace",
                          os.path.join(folder, "trace.json"))
            if i == 0:
                check_kernels_of_run(read(path))
        p = read(path)
        run = p["runs"][0]
        expect(f"{len(p['runs'])} runs of {run['devices']}",
               len(p["runs"]) == 1 and run["devices"] == k and
               run["warm_up"] == 2 and run["samples"] == 2)
        expect("samples", all(x["samples"] % 4 == 0 for x in p["kernels"]))
        expect("bytes", all(w["arena_bytes"] > 0 for w in run["workers"]))
        times = [r.uniform(1e-6, 1e-3) for _ in range(2)]
        for x in p["kernels"]:
            x["seconds"], x["samples"] = times[0], 3
        for x in p["transfers"]:
            x["seconds"], x["samples"] = times[1], 3
        write(path, p)
        said = programs.call(TDLC, "simulate", plan, "--profile", path)
        by = said["predicted_by"]
        if how is stages:
            expect(f"{by}", by["measured"] > 0)
            continue
        kinds = [i["kind"] for i in run["instructions"]]
        runs = sum(x["workers"][0]["bytes"] > 0
                   for x in run["instructions"] if x["kind"] == "run")
        total = times[0] * runs + times[1] * (len(kinds) - kinds.count("run"))
        near("all measured", said["predicted_seconds"], total)
        near("by", by["measured"], 2 * total)
        for x in p["kernels"] + p["transfers"]:
            x["seconds"], x["samples"] = 4 * x["seconds"], 6
        write(more, p)
        said = programs.call(TDLC, "simulate", plan, "--profile", path,
                             "--profile", more)
        near("added up", said["predicted_seconds"], 3 * total)


def check_kernels_of_run(p):
    """Rows are the means of the only run's instructions."""
    rows = sum(x["seconds"] * x["samples"] for x in p["kernels"])
    each = [w for i in p["runs"][0]["instructions"] for w in i["workers"]
            if i["kind"] == "run" and w["bytes"] > 0]
    total = sum(w["seconds"] * w["samples"] for w in each)
    expect(f"{rows} of {total}", abs(rows / total - 1) < 1e-3)
    expect("samples", sum(x["samples"] for x in p["kernels"]) ==
           sum(w["samples"] for w in each))


def check_profile_is_kept(folder):
    """What is no profile is neither added to nor written over."""
    _, plan, _ = one_kernel(folder, "kept", "input x[3]\ny = exp(x)")
    path = os.path.join(folder, "no.json")
    write(path, {"format": "tdl-topology"})
    done = subprocess.run([TDLRUN, plan, "--profile", path],
                          capture_output=True, text=True)
    expect(f"{done.returncode} {done.stderr}", done.returncode == 1 and
           "not a profile" in done.stderr)
    expect("kept", read(path) == {"format": "tdl-topology"})


def check_profiles(r, folder):
    path = os.path.join(folder, "for-profiles.json")
    write(path, machine(r))
    check_profiled_kernel(r, folder, path)
    check_profiled_plan(r, folder)


# ---- profiles layer by layer -------------------------------------------------

DEEP = [programs.MODELS + "/mlp.tdl", "-D", "width=32", "-D", "depth=9", "-D",
        "inputs=32", "-D",
        "batch=16", "-D", "classes=9"]


def profile_layers(path, *options, model=MLP):
    return programs.call(TDLC, "profile", *model, "--kernels", "interpreter",
                         "--steps", "2", "-o", path, *options)


def added_up(said):
    """The first layer alone, and what each adds to the one before it."""
    of = said["classes"]
    known = {tuple(of[x["first"]:x["end"]]): x["measured"]
             for x in said["runs"]}
    turn = known[(of[0],)]["micro_batch_seconds"]
    once = known[(of[0],)]["once_seconds"]
    for x, y in zip(of, of[1:]):
        both, before = known[(x, y)], known[(x,)]
        turn += both["micro_batch_seconds"] - before["micro_batch_seconds"]
        once += both["once_seconds"] - before["once_seconds"]
    pairs = list(zip(of, of[1:])) + [(x,) for x in of]
    for x in said["runs"]:
        expect(f"{x}", x["times"] ==
               pairs.count(tuple(of[x["first"]:x["end"]])))
    return said["micro_batches"] * turn + once


def check_layers(folder):
    """What the plan of the whole runs was measured with its layers; the same
    again adds up; half of a micro-batch, and several devices, besides."""
    path = os.path.join(folder, "layers.json")
    said = profile_layers(path, "--train")
    plan = programs.call(TDLC, "plan", *MLP, "--train", "-k", "1", "--profile",
                         path)
    by = plan["predicted_by"]
    near("measured by layers", by["measured"], plan["predicted_seconds"])
    expect(f"{said['samples']} samples", said["samples"] == 16 and
           all(x["half"] and x["fit"] for x in said["runs"]))
    for x in said["runs"]:
        m, h, fit = x["measured"], x["half"], x["fit"]["seconds"]
        for samples, f in ((16, m), (8, h)):
            expect(f"{x}", abs(fit["constant"] + samples * fit["per_sample"] -
                               f["micro_batch_seconds"]) < 1e-12)
    near("added up", said["step_seconds"], added_up(said))
    samples = sum(x["samples"] for x in read(path)["kernels"])
    profile_layers(path, "--train")
    expect("twice", 2 * samples == sum(x["samples"]
                                       for x in read(path)["kernels"]))
    two = profile_layers(path, "--train", "-k", "2", "--micro-batches", "2")
    expect(f"{two}", two["samples"] == 8 and two["transfers"] > 0 and
           two["kernels"] > said["kernels"])


def check_large_layers(folder):
    """Layers of a model that does not fit; those that do not are left out."""
    path, plan = (os.path.join(folder, x) for x in ("large.json", "p"))
    whole = programs.call(TDLC, "plan", *DEEP, "--train", "-k", "1")
    most = max(x["measured"]["bytes"] for x in
               profile_layers(path, "--train",
                              model=DEEP)["runs"])
    expect(f"{most} bytes", most < whole["peak_bytes_per_device"])
    limit = int(most) + 256
    done = subprocess.run([TDLC, "plan", *DEEP, "--train", "-k", "1",
                           "--memory", str(limit), "-o", plan],
                          capture_output=True, text=True)
    expect(f"{done.returncode}", done.returncode == 3)
    profile_layers(path, "--train", "--memory", str(limit), model=DEEP)
    some = profile_layers(path, "--train", "--memory", str(limit // 2),
                          model=DEEP)
    out = [x for x in some["runs"] if x["refused"]]
    expect(f"{out}", 0 < len(out) < len(some["runs"]) and
           all(x["measured"] is None for x in out) and
           some["step_seconds"] is None)
    os.remove(path)
    for status, how in ((3, ["--memory", "64"]), (2, ["--algorithm", "auto"]),
                        (2, ["--micro-batches", "auto"]), (2, ["--steps", "0"]),
                        (1, ["--topology", "none.json"])):
        done = subprocess.run([TDLC, "profile", *MLP, "-o", path, *how],
                              capture_output=True, text=True)
        expect(f"{how}: {done.returncode} {done.stderr}",
               done.returncode == status and done.stderr and
               not os.path.exists(path))
    write(path, {"format": "tdl-topology"})
    done = subprocess.run([TDLC, "profile", *MLP, "-o", path],
                          capture_output=True, text=True)
    expect(f"{done.returncode} {done.stderr}", done.returncode == 1 and
           "not a profile" in done.stderr)
    expect("kept", read(path) == {"format": "tdl-topology"})


# ---- damage ------------------------------------------------------------------

def places(j, path=""):
    """Every value in it: what holds it, its key, its name in messages."""
    items = j.items() if isinstance(j, dict) else \
        enumerate(j) if isinstance(j, list) else ()
    for key, value in items:
        name = f"{path}[{key}]" if isinstance(key, int) else \
            f"{path}.{key}" if path else key
        yield j, key, name
        yield from places(value, name)


def refused(path, out):
    done = subprocess.run([TDLC, "plan", programs.MODELS + "/mlp.tdl", "-D",
                           "width=8", "-k", "2", "--topology", path, "-o",
                           out], capture_output=True, text=True)
    expect(f"status {done.returncode}", done.returncode in (0, 1))
    expect(f"{done.stderr[:200]}", (done.returncode == 0) ==
           os.path.exists(out))
    if done.returncode == 0:
        os.remove(out)
    return done.stderr


def check_damage(r, folder):
    path, out = os.path.join(folder, "m.json"), os.path.join(folder, "p")
    good = machine(r)
    for wrong in (None, -1, "x", [], {}, True, 1e300):
        j = copy.deepcopy(good)
        part = f"measured[{r.randint(0, 1)}]" if r.random() < .7 else "levels"
        of, key, name = r.choice([p for p in places(j)
                                  if p[2].startswith(part) and
                                  p[1] not in ("name", 2)])
        of[key] = wrong
        with open(path, "w", encoding="utf-8") as f:
            json.dump(j, f)
        said = refused(path, out)
        empty = wrong == [] and key in ("kernels", "transfers")
        if wrong not in (True, 1e300) and not empty:
            at = name.rsplit("[", 1)[0].rsplit(".", 1)[0]
            expect(f"{name} = {wrong}: {said}", "[bad-topology]" in said and
                   (at in said or name.split(".")[-1].split("[")[0] in said))
    text = json.dumps(good)
    for _ in range(4):
        at = r.randrange(len(text))
        with open(path, "w", encoding="utf-8") as f:
            f.write(text[:at] if r.random() < .5 else
                    text[:at] + text[at + 1:])
        refused(path, out)


# ---- this machine ------------------------------------------------------------

def check_levels(m, path):
    """What hwloc was told: two packages of two cores; without hwloc, threads."""
    levels = m["levels"]
    if [x["name"] for x in levels] == ["threads"]:
        expect("processors", m["processors"] == os.cpu_count())
        return
    expect(f"{levels}", [(x["name"], x.get("size"), "shared" in x)
                         for x in levels] ==
           [("Machine", None, True), ("Package", 2, False)])
    expect("devices", all(t["devices"] == 2 for x in levels
                          for t in x["transfers"]))
    plan = programs.call(TDLC, "plan", *MLP, "-k", "4", "--topology", path)
    expect(f"{plan['mesh']}", plan["mesh"] == [2, 2])


def check_this(folder):
    path = os.path.join(folder, "machine.json")
    done = subprocess.run([TDLRUN, "--calibrate", "--quick", "-o", path],
                          capture_output=True, text=True,
                          env={**os.environ, "HWLOC_SYNTHETIC":
                               "package:2 core:2 pu:1"})
    expect(f"calibrate: {done.stderr}", done.returncode == 0)
    with open(path, encoding="utf-8") as f:
        m = json.load(f)
    shares = [s["devices"] for s in m["measured"]]
    expect(f"shares {shares}", shares[0] == 1 and shares == sorted(shares))
    for s in m["measured"]:
        found = {(k["class"], k["type"]) for k in s["kernels"]}
        expect(f"kernels {found}", found >= {(c, "f32") for c in CLASSES} and
               {("product", "f64"), ("product", "bf16")} <= found)
        expect("sides", {k["side"] for k in s["kernels"] if "side" in k} ==
               {"rows", "columns", "depth"})
    check_levels(m, path)
    if len(shares) > 1:
        kinds = {t["collective"] for t in m["levels"][0]["transfers"]}
        expect(f"{kinds}", kinds >= {"all-gather", "all-to-all",
                                     "reduce-scatter"})
    model = "input x[300, 7]\ny = exp(x)"
    near("calibrated", predicted(model, path, "-k", "1")["predicted_seconds"],
         expected(m["measured"][0], "function", "f32", 2100, 16800))
    nowhere = os.path.join(folder, "no", "x")
    for status, wrong in ((2, ["--quick"]), (2, ["--calibrate", "x.plan"]),
                          (4, ["--calibrate", "-o", nowhere])):
        done = subprocess.run([TDLRUN, *wrong], capture_output=True,
                              env={**os.environ, "TDL_CALIBRATION": folder},
                              text=True)
        expect(f"{wrong}: {done.returncode}, {done.stderr}",
               done.returncode == status)


def check(seed, folder):
    r = random.Random(seed)
    check_made_up(r, os.path.join(folder, "m.json"))
    check_profiles(r, folder)
    check_damage(r, folder)


def prepare(folder):
    check_this(folder)
    check_plan_says(random.Random(7), folder)
    check_profile_is_kept(folder)
    check_layers(folder)
    check_large_layers(folder)


programs.optimize_kernels()
programs.over_seeds(check, 3, prepare)
