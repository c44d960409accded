"""Networks whose plans are exported as modules for JAX, and a step of one: the
outputs and the states behind it are tdlrun's.
"""
import importlib.util
import os
import sys

os.environ["XLA_FLAGS"] = " ".join([
    os.environ.get("XLA_FLAGS", ""),
    "--xla_force_host_platform_device_count=8",
    # What is tested is not how fast it runs.
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true"])
os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import MODELS, TDLC, TDLRUN, call, expect  # noqa: E402
from programs import run, words  # noqa: E402

try:
    import numpy as np

    import jax  # noqa: F401
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
