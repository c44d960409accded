"""Small modules for JAX: without a mesh, of odd names, of plans that XLA would
partition wrongly, with other weights.
"""
import os
import sys

from jax_cases import NETWORKS, OPTIMIZERS, check, check_loss, distance
from jax_cases import draw, load
import numpy as np

from programs import MODELS, TDLC, expect, run, sample, words


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


MOVED = """
op blended(x[N, C, I], w[K, C, J]) -> y[N, K, I] =
    lambda n, k, i: Sum(lambda c: x[n, c, i] * w[k, c, 0])

model moved(size = 8) {
    input x[size, size, size]
    param w[size, size, 1]
    y = blended(x, w)
    output y
}
"""
PINS = ["x=cut 0, cut 0, cut 1", "w=cut 0, cut 1, cut 0", "y=by k, by i, by c",
        "y=cut 1, cut 1, cut 0"]


def check_moved(folder):
    """A product whose sums are combined and then laid out otherwise.  Without the
    layout in between jaxlib 0.10.2 gives others."""
    model, plan, path = (os.path.join(folder, f) for f in
                         ("moved.tdl", "a.plan", "a.py"))
    with open(model, "w", encoding="utf-8") as f:
        f.write(MOVED)
    run(TDLC, "plan", model, "-k", "8", "-o", plan,
        *(word for pin in PINS for word in ("--pin", pin)))
    run(TDLC, "export", plan, "--to", "jax", "-o", path)
    module = load(path)
    mesh, inputs = module.make_mesh(), draw(module, 1)
    state = module.initial_state(mesh)
    y = module.compile_forward(mesh)(state, inputs)["y"]
    want = np.einsum("nci,kcj->nki", inputs["x"], np.asarray(state["w"]))
    expect(f"sums that move are {distance(y, want)} off",
           distance(y, want) <= 1e-6 * np.linalg.norm(want))


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


SMALL = [check_odd, check_alone, check_moved, check_weights]
