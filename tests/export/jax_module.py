# Tests: compiler/export
"""Plans as modules for JAX, run on eight devices of the host: the outputs of each
step and the states at the end are tdlrun's, and the collectives that XLA makes of
the layouts are counted beside the plan's bytes.

	jax_module.py [--all] [--parts PART...] [--table] [--devices N...]
		[--planners NAME...] [--turns N...] [--] [NAME...]

Without --all, or CHECK_ALL=yes, some networks, planners, numbers of devices and
of micro-batches are run.  --parts takes some of what is looked at: steps, those
of plans of several stages, inference, Shardy's programs, steps in bf16, small
cases, and deep: ResNet-50, which is not among the samples.  --table prints the
bytes as docs/export.md has them, row by row.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile

from jax_cases import NETWORKS, NORMALIZED, OPTIMIZERS, STEPS
from jax_cases import check, check_loss, check_traffic, check_values
from jax_cases import distance, draw, load
import jax
from jax_small import SMALL
import numpy as np

from programs import ALL, MODELS, TDLC, TDLRUN, call, expect, finish
from programs import run, sample, words

PLANNERS = ["data-parallel", "tofu", "megatron", "joint"]
DEVICES = [2, 4, 8]
TURNS = [1, 4]  # micro-batches


# Enough layers for four stages.
DEEPER = {
    "mlp": dict(batch=16, inputs=16, width=32, depth=6),
    "resnet": dict(NETWORKS["resnet"][0]),
    **{n: dict(NETWORKS[n][0], layers=4) for n in ("gpt2", "llama", "moe")},
    "unet": dict(NETWORKS["unet"][0]),
}
SCHEDULES = ["1f1b", "gpipe", "zb", "interleaved:2"]


def check_stages(case, folder, rows):
    """Stages on meshes of their own: outputs and states are tdlrun's, what
    device_put moves is what the plan sends, and what the outputs depend on gives
    them alone."""
    name, stages, k, schedule, optimizer = case
    plan, path, fed, out = (os.path.join(folder, f) for f in
                            ("a.plan", "a.py", "in.npz", "out.npz"))
    turns = 4
    sizes = dict(DEEPER[name], batch=turns * DEEPER[name]["batch"])
    figures = call(
        TDLC, "plan", os.path.join(MODELS, f"{name}.tdl"), "-k", str(k),
        "--train", "--stages", str(stages), "--micro-batches", str(turns),
        "--schedule", schedule, "--optimizer", optimizer,
        *(["--micro-batch-statistics"] if name in NORMALIZED else []),
        *words(sizes), "-o", plan)
    run(TDLC, "export", plan, "--to", "jax", "-o", path)
    module = load(path)
    expect(f"{case}: {len(module.STAGES)} stages",
           len(module.STAGES) == len(figures["stages"]) == stages and
           module.TURNS == turns)
    mesh, before = module.make_mesh(), module.initial_state()
    devices = [d for m in mesh for d in m.devices.flat]
    expect(f"{case}: {len(devices)} devices", len({*devices}) == k)
    batch = draw(module, NETWORKS[name][1])
    np.savez(fed, **batch)
    run(TDLRUN, plan, "--inputs", fed, "--outputs", out, "--steps", str(STEPS),
        "--kernels", "interpreter")
    with np.load(out) as f:
        want = dict(f)
    state = module.initial_state(mesh)
    inputs = module.in_turns({**module.defaults(), **batch})
    step = module.compile_step(mesh)
    for i in range(STEPS):
        if i == STEPS - 1:
            alone = module.compile_forward(mesh)(state, inputs)
        state, outputs = step(state, inputs)
    for n, x in outputs.items():
        expect(f"{case}: {n} alone is {distance(x, alone[n])} off",
               distance(x, alone[n]) <= 1e-5 * np.linalg.norm(x))
    outputs = module.whole(outputs)
    check_loss(case, float(outputs["loss"]), float(want["loss"]))
    check_values(case, {**outputs, **{n: x for n, x in state.items()
                                      if n in want}}, want, before)
    for n, laid in module.state_shardings(mesh).items():
        expect(f"{case}: {n} lies as {state[n].sharding}",
               state[n].sharding.is_equivalent_to(laid, state[n].ndim))
    moved = module.traffic(step)
    sent = moved.pop("device_put")[1]
    expect(f"{case}: RECEIVED",
           module.RECEIVED == figures["communication_bytes"])
    expect(f"{case}: {sent} bytes are sent, not {module.BETWEEN}",
           sent == module.BETWEEN)
    inside = sum(n for _, n in moved.values())
    rows.append((name, f"{stages} stages, {schedule}", k, turns,
                 module.RECEIVED, sent + inside,
                 {**moved, "device_put": (sent, sent)}))


SHORT = 2.0 ** -8  # what rounding to bf16 changes a number by, relative


def check_short(case, folder, rows):
    """A step in bf16.  Both systems round the same numbers in places of their
    own, so each is off by its own noise of one size: the weights' changes
    differ by no more than three times what tdlrun's in bf16 and in f32 do, and
    so the losses, or by four roundings of a loss."""
    name, planner, k = case
    sizes, most = NETWORKS[name]
    what = f"{name} in bf16, {planner}, {k}"
    files = {p: [os.path.join(folder, f"{p}.{e}") for e in ("plan", "npz")]
             for p in ("bf16", "f32")}
    fed, path = (os.path.join(folder, f) for f in ("in.npz", "a.py"))
    want = {}
    for precision, (plan, out) in files.items():
        run(TDLC, "plan", os.path.join(MODELS, f"{name}.tdl"), "-k", str(k),
            "--train", "--algorithm", planner, "--precision", precision,
            "--optimizer", "sgd,lr=0.05", *words(sizes), "-o", plan)
    run(TDLC, "export", files["bf16"][0], "--to", "jax", "-o", path)
    module = load(path)
    batch = draw(module, most)
    np.savez(fed, **batch)
    for precision, (plan, out) in files.items():
        run(TDLRUN, plan, "--inputs", fed, "--outputs", out, "--kernels",
            "interpreter")
        with np.load(out) as f:
            want[precision] = dict(f)
    mesh = module.make_mesh()
    before = module.initial_state()
    state, outputs = module.compile_step(mesh)(
        module.initial_state(mesh), {**module.defaults(), **batch})
    trained = [n for n in state if n in want["bf16"]]

    def apart(x, y):
        return np.sqrt(sum(distance(x[n], y[n]) ** 2 for n in trained))
    noise = apart(want["bf16"], want["f32"])
    expect(f"{what}: nothing is rounded", noise > 0)
    expect(f"{what}: the weights differ by {apart(state, want['bf16']):.3g}, "
           f"bf16's noise is {noise:.3g}, of {apart(before, state):.3g}",
           apart(state, want["bf16"]) <= 3 * noise)
    losses = [float(x["loss"]) for x in (outputs, want["bf16"], want["f32"])]
    expect(f"{what}: losses {losses}", abs(losses[0] - losses[1]) <= max(
        3 * abs(losses[1] - losses[2]), 4 * SHORT * abs(losses[2])))


DEEP = dict(batch=8, depth=50, image=32, width=4, classes=8)


def check_deep(case, folder, rows):
    """A step of ResNet-50.  Behind 50 layers of normalised batches the gradients
    of the first ones depend on rounding: those of tdlrun on k devices differ from
    those on one, which are added up in another order, and from the
    interpreter's, which are rounded less.  JAX's are within ten times the larger
    difference, and within a tenth of the step; the loss likewise."""
    planner, k = case
    what = f"resnet50, {planner}, {k}"
    path, fed = (os.path.join(folder, f) for f in ("a.py", "in.npz"))
    plans = {n: os.path.join(folder, f"{n}.plan") for n in (1, k)}
    for n, plan in plans.items():
        figures = call(TDLC, "plan", os.path.join(MODELS, "resnet.tdl"), "-k",
                       str(n), "--train", "--algorithm", planner,
                       "--optimizer", "sgd,lr=0.05", *words(DEEP), "-o", plan)
    run(TDLC, "export", plans[k], "--to", "jax", "-o", path)
    module = load(path)
    batch = draw(module, DEEP["classes"])
    np.savez(fed, **batch)
    want = {}
    for n, plan, how in [(1, plans[1], "generated"), (k, plans[k], "generated"),
                         ("judge", plans[k], "interpreter")]:
        out = os.path.join(folder, "out.npz")
        run(TDLRUN, plan, "--inputs", fed, "--outputs", out, "--kernels", how)
        with np.load(out) as f:
            want[n] = dict(f)
    mesh, before = module.make_mesh(), module.initial_state()
    state, inputs = module.initial_state(mesh), {**module.defaults(), **batch}
    step = module.compile_step(mesh).lower(state, inputs).compile()
    state, outputs = step(state, inputs)
    losses = {n: float(w["loss"]) for n, w in want.items()}
    got, spread = float(outputs["loss"]), max(
        abs(losses[k] - losses[n]) for n in (1, "judge"))
    expect(f"{what}: the loss is {got}, not {losses}",
           abs(got - losses[k]) <= max(10 * spread, 2e-5 * losses[k]))
    trained = [n for n in state if n in want[k]]

    def apart(x, y):
        return np.sqrt(sum(distance(x[n], y[n]) ** 2 for n in trained))
    noise = max(apart(want[n], want[k]) for n in (1, "judge"))
    far = apart(state, want[k])
    print(f"{what}: {far:.3g} off, tdlrun's noise {noise:.3g}, the step "
          f"{apart(before, want[k]):.3g}", flush=True)
    expect(f"{what}: {far} off",
           far <= min(10 * noise, 0.1 * apart(before, want[k])))
    moved = sum(n for _, n in module.traffic(step).values())
    check_traffic((what, planner, k, 1, None), moved,
                  figures["communication_bytes"])
    rows.append(("resnet50", planner, k, 1, module.RECEIVED, moved,
                 module.traffic(step)))


def check_inference(case, folder, rows):
    """A plan without training: the outputs are tdlrun's."""
    name, planner, k = case
    sizes, most = NETWORKS[name]
    case = (name, planner, k, 1, "inference")
    plan, path, fed, out = (os.path.join(folder, f) for f in
                            ("a.plan", "a.py", "in.npz", "out.npz"))
    figures = call(TDLC, "plan", os.path.join(MODELS, f"{name}.tdl"), "-k",
                   str(k), "--algorithm", planner, *words(sizes), "-o", plan)
    run(TDLC, "export", plan, "--to", "jax", "-o", path)
    module = load(path)
    batch = draw(module, most)
    np.savez(fed, **batch)
    run(TDLRUN, plan, "--inputs", fed, "--outputs", out, "--kernels",
        "interpreter")
    with np.load(out) as f:
        want = dict(f)
    mesh = module.make_mesh()
    state, inputs = module.initial_state(mesh), {**module.defaults(), **batch}
    forward = module.compile_forward(mesh).lower(state, inputs).compile()
    outputs = {n: np.asarray(x) for n, x in forward(state, inputs).items()}
    expect(f"{case}: outputs {sorted(outputs)}, not {sorted(want)}",
           outputs.keys() == want.keys() and outputs)
    check_values(case, outputs, want, {})
    moved = module.traffic(forward)
    total = sum(n for _, n in moved.values())
    expect(f"{case}: RECEIVED",
           module.RECEIVED == figures["communication_bytes"])
    expect(f"{case}: {total} bytes for {module.RECEIVED}",
           total <= 6 * module.RECEIVED + 64 * k)
    rows.append((*case[:4], module.RECEIVED, total, moved))


def check_partitioned(case, folder, rows):
    """What the module writes as a program is parsed by jaxlib and partitioned
    by Shardy, into the same collectives."""
    from jax._src import compiler, xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    name, k = case
    plan, path, out = (os.path.join(folder, f) for f in
                       ("a.plan", "a.py", "a.mlir"))
    run(TDLC, "plan", os.path.join(MODELS, f"{name}.tdl"), "-k", str(k),
        "--train", *words(NETWORKS[name][0]), "-o", plan)
    run(TDLC, "export", plan, "--to", "jax", "-o", path)
    subprocess.run([sys.executable, path, out], check=True)
    with open(out, encoding="utf-8") as f:
        text = f.read()
    module = load(path)
    axes = ", ".join(f'"{n}"={size}' for n, size in module.MESH.items())
    expect(f"{name}, {k}: a mesh of Shardy",
           f"sdy.mesh @mesh = <[{axes}]>" in text)
    backend = xla_bridge.get_backend()
    options = compiler.get_compile_options(
        num_replicas=1, num_partitions=k,
        device_assignment=np.arange(k).reshape(1, k))
    options.executable_build_options.use_shardy_partitioner = True
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:k]))
    with mlir.make_ir_context():
        program = ir.Module.parse(text)
        expect(f"{name}, {k}: the program is none",
               program.operation.verify())
        made = compiler.backend_compile_and_load(backend, program, devices,
                                                 options, [])
    found = module.traffic(made.hlo_modules()[0])
    inputs = {**module.defaults(), **draw(module, NETWORKS[name][1])}
    mesh = module.make_mesh()
    step = module.compile_step(mesh).lower(module.initial_state(mesh), inputs)
    expect(f"{name}, {k}: other collectives of the program",
           found == module.traffic(step.compile()))
    rows.append((name, "Shardy", k, 1, module.RECEIVED,
                 sum(n for _, n in found.values()), found))


def cases(names, a):
    every = list(itertools.product(names or NETWORKS, a.planners, a.devices,
                                   a.turns))
    every = [(*c, OPTIMIZERS[i // len(a.turns) % 2])
             for i, c in enumerate(every)]
    return every if ALL or names else sample(every, 190)


def staged_cases(names, a):
    every = [(n, s, k, schedule, OPTIMIZERS[i % 2]) for i, (n, (s, k), schedule)
             in enumerate(itertools.product(
                 names or DEEPER, [(2, k) for k in a.devices] + [(4, 8)],
                 SCHEDULES)) if n in DEEPER]
    return every if ALL or names else sample(every, len(every))


def shardy_cases(names, a):
    every = list(itertools.product(names or NETWORKS, a.devices))
    return every if ALL or names else sample(every, len(every))


def inference_cases(names, a):
    every = list(itertools.product(names or NETWORKS, a.planners, a.devices))
    return every if ALL or names else sample(every, len(every) // 2 + 1)


def short_cases(names, a):
    every = list(zip(names or NETWORKS, itertools.cycle(a.planners),
                     itertools.cycle(a.devices)))
    return every if ALL else sample(every, len(every))


def deep_cases(names, a):
    every = list(itertools.product(a.planners[:2], a.devices))
    return every if ALL or a.all or "deep" in a.parts else []


# By name: the cases of a part, and the check of one, in a folder and with rows
# of the table.
PARTS = {
    "deep": (deep_cases, check_deep),
    "stages": (staged_cases, check_stages),
    "small": (lambda names, a: SMALL if a.parts else sample(SMALL, 2),
              lambda check, folder, rows: check(folder)),
    "inference": (inference_cases, check_inference),
    "shardy": (shardy_cases, check_partitioned),
    "short": (short_cases, check_short),
    "steps": (cases, check),
}


class Rows(list):
    """Rows of the table, which are printed as they come."""

    def append(self, row):
        name, what, k, turns, planned, moved, kinds = row
        times = f"{moved / planned:.2f}" if planned else "-"
        print(f"| {name} | {what} | {k} | {turns} | {planned:,} | {moved:,} | "
              f"{times} | " + ", ".join(
                  f"{n} {w}" for w, (n, _) in sorted(kinds.items())) + " |",
              flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("names", nargs="*")
    p.add_argument("--all", action="store_true")
    p.add_argument("--parts", nargs="+", default=[], choices=PARTS)
    p.add_argument("--table", action="store_true")
    p.add_argument("--planners", nargs="+", default=PLANNERS)
    p.add_argument("--devices", type=int, nargs="+", default=DEVICES)
    p.add_argument("--turns", type=int, nargs="+", default=TURNS)
    a = p.parse_args()
    names = a.names or (list(NETWORKS) if a.all else [])
    rows = Rows() if a.table else []
    with tempfile.TemporaryDirectory() as folder:
        for part in a.parts or PARTS:
            cases_of, check_one = PARTS[part]
            for case in cases_of(names, a):
                try:
                    check_one(case, folder, rows)
                except Exception as e:
                    expect(f"{part}, {case}: {type(e).__name__}: "
                           f"{str(e)[:2000]}", False)
                jax.clear_caches()
    finish()


main()
