# Tests: compiler/export
"""Plans as modules for JAX, run on eight devices of the host: the outputs of each
step and the states at the end are tdlrun's, and the collectives that XLA makes of
the layouts are counted beside the plan's bytes.

	jax_module.py [--all] [--parts PART...] [--table] [--devices N...]
		[--planners NAME...] [--turns N...] [--] [NAME...]

Without --all, or CHECK_ALL=yes, some networks, planners, numbers of devices and
of micro-batches are run.  --parts takes some of what is looked at: steps, those of
plans of several stages, Shardy's programs, steps in bf16, small cases, and deep:
ResNet-50, which is not among the samples.  --table prints the bytes as
docs/export.md has them, row by row.
"""
import argparse
import importlib.util
import itertools
import os
import sys
import tempfile

os.environ["XLA_FLAGS"] = " ".join([
    os.environ.get("XLA_FLAGS", ""),
    "--xla_force_host_platform_device_count=8",
    # What is tested is not how fast it runs.
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true"])
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import ALL, MODELS, TDLC, TDLRUN, expect, finish  # noqa: E402
from programs import call, run, sample, words  # noqa: E402

try:
    import numpy as np

    import jax
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-jax.txt)")
    sys.exit(77)

STEPS = 2
TEXTS = dict(batch=8, tokens=8, vocabulary=32, layers=1, width=16, heads=4)
# Sizes, and a bound of the integers in the inputs.
NETWORKS = {
    "mlp": (dict(batch=16, inputs=16, width=32, depth=2), 10),
    "resnet": (dict(batch=8, depth=18, image=16, width=4, classes=8), 8),
    "gpt2": (dict(TEXTS), 32),
    "llama": (dict(TEXTS, kv_heads=2, wide=32), 32),
    "moe": (dict(TEXTS, kv_heads=2, wide=16, experts=4, room=6), 32),
    "unet": (dict(batch=8, image=8, width=8, widen="[1, 2]", depth=1,
                  attention_at=4, groups=4), 8),
    "vit": (dict(batch=8, image=16, patch=8, width=16, layers=1, heads=4,
                 classes=8), 8),
    "densenet121": (dict(batch=8, image=32, growth=4, depth="[1, 1, 1, 1]",
                         classes=8), 8),
}
TIED = {"gpt2"}  # a weight is used twice
# With statistics of the batch, which micro-batches have their own of.
NORMALIZED = {"resnet", "densenet121", "moe"}
PLANNERS = ["data-parallel", "tofu", "megatron", "joint"]
DEVICES = [2, 4, 8]
TURNS = [1, 4]  # micro-batches
OPTIMIZERS = ["sgd,lr=0.05", "adamw,lr=0.01"]


def load(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def draw(module, most):
    """A batch by the module's own table of inputs, not in turns."""
    rng = np.random.default_rng(1)
    batch = {}
    for name, (shape, kind, _) in module.INPUTS.items():
        if name in module.DEFAULTS:
            continue
        if name in module.DIVIDED:
            shape = list(shape[1:])
            shape[module.DIVIDED[name]] *= module.TURNS
        is_int = np.issubdtype(np.dtype(kind), np.integer)
        batch[name] = (rng.integers(0, most, shape) if is_int else
                       rng.standard_normal(shape)).astype(np.dtype(kind))
    return batch


def distance(x, y):
    return float(np.linalg.norm(np.asarray(x, np.float64) -
                                np.asarray(y, np.float64)))


def check_values(case, got, want, before):
    """States by how far they went; outputs by their size.  A gradient that is
    0, that of the bias of keys, is noise in both, of which adamw makes steps as
    large as any; of small ones its steps are as uncertain as their signs."""
    allowed = 2e-2 if case[-1].startswith("adamw") else 2e-3
    for name, x in got.items():
        y = want[name]
        if np.abs(want.get(f"{name}.mean", 1)).max() < 1e-7:
            continue
        size = distance(y, before[name] if name in before else 0 * y)
        size += 1e-3 * float(np.linalg.norm(y.astype(np.float64)))
        far = distance(x, y)
        expect(f"{case}: {name} is {far:.3g} off, at {size:.3g}",
               far <= allowed * size + 1e-6)


def check_loss(case, got, want):
    expect(f"{case}: the loss is {got}, not {want}",
           abs(got - want) <= 2e-5 * abs(want))


def check_traffic(case, moved, planned):
    """With data parallelism nothing but gradients and some single elements is
    moved, by the same collective; but where two gradients of one weight are
    added up, XLA reduces each.  Else it has its own ways."""
    name, planner, k, turns, _ = case
    if planner != "data-parallel":
        expect(f"{case}: {moved} bytes for {planned}",
               moved <= 6 * turns * planned)
    elif turns > 1:
        # The plan adds up what turns have, and then what devices have.
        most = 1.5 * planned if name in TIED else planned + 64 * k
        expect(f"{case}: {moved} bytes, not {planned}",
               planned < moved <= turns * most)
    elif name in TIED:
        expect(f"{case}: {moved} bytes, not {planned}",
               planned < moved <= 1.5 * planned)
    else:
        expect(f"{case}: {moved} bytes, not {planned}",
               planned <= moved <= planned + 64 * k)


def check(case, folder, rows, network=None):
    name, planner, k, turns, optimizer = case
    model, sizes, most = network or (
        os.path.join(MODELS, f"{name}.tdl"), *NETWORKS[name])
    sizes = dict(sizes, batch=turns * sizes["batch"])
    more = ["--micro-batches", str(turns)] if turns > 1 else []
    if turns > 1 and name in NORMALIZED:
        more.append("--micro-batch-statistics")
    plan, path, out = (os.path.join(folder, f) for f in
                       ("a.plan", "a.py", "out.npz"))
    figures = call(TDLC, "plan", model, "-k", str(k), "--train", "--algorithm",
                   planner, "--optimizer", optimizer, *more, *words(sizes), "-o", plan)
    run(TDLC, "export", plan, "--to", "jax", "-o", path)
    module = load(path)
    expect(f"{case}: {module.TURNS} turns", module.TURNS == turns)
    mesh = module.make_mesh()
    before = module.initial_state()
    state = module.initial_state(mesh)
    batch = draw(module, most)
    np.savez(os.path.join(folder, "in.npz"), **batch)
    run(TDLRUN, plan, "--inputs", os.path.join(folder, "in.npz"), "--outputs",
        out, "--steps", str(STEPS), "--kernels", "interpreter")
    with np.load(out) as f:
        want = dict(f)
    inputs = module.in_turns({**module.defaults(), **batch})
    step = module.compile_step(mesh).lower(state, inputs).compile()
    for _ in range(STEPS):
        state, outputs = step(state, inputs)
    outputs = module.whole(outputs)
    check_loss(case, float(outputs["loss"]), float(want["loss"]))
    check_values(case, {**outputs, **{n: x for n, x in state.items()
                                      if n in want}}, want, before)
    for n, x in state.items():
        laid = module.shardings(mesh, module.STATES)[n]
        expect(f"{case}: {n} lies as {x.sharding}",
               x.sharding.is_equivalent_to(laid, x.ndim))
    moved = module.traffic(step)
    total = sum(n for _, n in moved.values())
    expect(f"{case}: RECEIVED",
           module.RECEIVED == figures["communication_bytes"])
    check_traffic(case, total, module.RECEIVED)
    rows.append((*case[:4], module.RECEIVED, total, moved))


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


def check_partitioned(case, folder, rows):
    """What the module writes as a program is parsed by jaxlib and partitioned
    by Shardy, into the same collectives."""
    import subprocess

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


def check_alone(folder):
    """Without a mesh the functions are those of one device."""
    plan, path = (os.path.join(folder, f) for f in ("a.plan", "a.py"))
    run(TDLC, "plan", os.path.join(MODELS, "mlp.tdl"), "-k", "4", "--train",
        *words(NETWORKS["mlp"][0]), "-o", plan)
    run(TDLC, "export", plan, "--to", "jax", "-o", path)
    module = load(path)
    inputs = {**module.defaults(), **draw(module, 10)}
    state, mesh = module.initial_state(), module.make_mesh()
    one = module.step(state, inputs)[1]["loss"]
    check_loss("one device", float(one), float(
        module.compile_step(mesh, False)(state, inputs)[1]["loss"]))
    check_loss("forward", float(one), float(
        module.compile_forward(mesh)(state, inputs)["loss"]))


ODD = """
import "elementwise.tdl"
import "linear.tdl"
import "linalg.tdl"
import "loss.tdl"

op saved(x[N, M]) -> y[N, M] = lambda i, j: x[i, j] * cast(1 + i, x)
op _forward(x[N, A, B]) -> y[N * A, B] = lambda i, j: x[i / A, i % A, j]

model odd(batch = 12) {
    input class[batch, 3, 3]
    input label[3 * batch]: i64
    param _[3, 5]
    values = _forward(class)
    now = saved(values)
    pin = matmul(now, _)
    step = det(class)
    loss = softmax_cross_entropy(pin, label)
    output loss, pin, step, values, now
}
"""


def check_odd(folder):
    """In turns and without: an operator that computes with the number of a
    sample, samples of several rows each, an opaque function, several outputs,
    names that the module or Python has for something else."""
    path = os.path.join(folder, "odd.tdl")
    with open(path, "w", encoding="utf-8") as f:
        f.write(ODD)
    for turns in 1, 3:
        check(("odd", "tofu", 2, turns, OPTIMIZERS[0]), folder, [],
              (path, dict(batch=4), 5))


def check_weights(folder):
    """A network gets other weights, of which the plan has folded some, on one
    mesh or in two stages: what ONNX Runtime computes of these."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "onnx"))
    import weights as w
    for seed in sample(range(12), 12):
        net = w.Network(np.random.default_rng(seed))
        model, plan, path = (os.path.join(folder, f) for f in
                             ("net.onnx", "a.plan", "a.py"))
        net.build(model, 3)
        how = [TDLC, "plan", model, "-k", "2", "-D", f"batch={w.BATCH}", "-o",
               plan]
        try:
            run(*how, *(["--stages", "2", "--micro-batches", "2"]
                        if seed % 2 else []))
        except AssertionError as e:
            if all(why not in str(e) for why in
                   ("cannot make 2 stages", "the model has no layers")):
                raise
            run(*how)
        run(TDLC, "export", plan, "--to", "jax", "-o", path)
        module = load(path)
        mesh = module.make_mesh()
        x = net.rng.standard_normal((w.BATCH, w.WIDTH), np.float32)
        forward = module.compile_forward(mesh)
        for values in net.values, net.other(net.weights()):
            state = module.with_weights(
                {n: values[n] for n in net.weights()}, mesh)
            try:
                y = module.whole(forward(state, module.in_turns({"x": x})))["y"]
                w.near(y, w.judge(net, values, x, folder), f"weights {seed}")
            except AssertionError as e:
                expect(e, False)
        made = next(iter(module.fold({**module.initial_state(), **{
            n: f() for n, f in module.FOLDED.items()}})), "no weight")
        check_given(module, net, made, f"weights {seed}")


def check_given(module, net, made, what):
    """Weights of other types are converted; of another name, or of another
    shape, which a fold might read as well, they are refused."""
    names = net.weights()
    longer = {n: net.values[n].astype(np.float64) for n in names}
    lists = {n: net.values[n].tolist() for n in names}
    want = module.with_weights({n: net.values[n] for n in names})
    for given in longer, lists:
        got = module.with_weights(given)
        expect(f"{what}: types", got.keys() == want.keys() and all(
            x.dtype == want[n].dtype == module.STATES[n][1] and
            np.array_equal(x, want[n]) for n, x in got.items()))
    wrong = [({made: 0}, KeyError, [made])]
    for n in names:
        shape = net.values[n].shape
        for x in np.float32(1), np.ones((1, *shape)), np.ones((*shape, 2)):
            wrong.append(({n: x}, ValueError,
                          [f"'{n}'", str(np.shape(x)), str(shape)]))
    for given, error, words_of in wrong:
        try:
            module.with_weights(given)
            expect(f"{what}: {list(given)} is taken", False)
        except error as e:
            expect(f"{what}: {e}", all(w in str(e) for w in words_of))


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


def short_cases(names, a):
    every = list(zip(names or NETWORKS, itertools.cycle(a.planners),
                     itertools.cycle(a.devices)))
    return every if ALL else sample(every, len(every))


def deep_cases(names, a):
    """Without tofu on 8: there jaxlib 0.10.2 partitions a step wrongly, which has
    tdlrun's loss on one device (docs/export.md)."""
    every = [case for case in itertools.product(a.planners[:2], a.devices)
             if case != ("tofu", 8)]
    return every if ALL or a.all or "deep" in a.parts else []


# By name: the cases of a part, and the check of one, in a folder and with rows
# of the table.
PARTS = {
    "deep": (deep_cases, check_deep),
    "stages": (staged_cases, check_stages),
    "small": (lambda names, a: SMALL if a.parts else sample(SMALL, 2),
              lambda check, folder, rows: check(folder)),
    "shardy": (shardy_cases, check_partitioned),
    "short": (short_cases, check_short),
    "steps": (cases, check),
}
SMALL = [check_odd, check_alone, check_weights]


class Rows(list):
    """Rows of the table, which are printed as they come."""

    def append(self, row):
        name, what, k, turns, planned, moved, kinds = row
        print(f"| {name} | {what} | {k} | {turns} | {planned:,} | {moved:,} | "
              f"{moved / planned:.2f} | " + ", ".join(
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
    names = list(NETWORKS) if a.all else a.names
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
