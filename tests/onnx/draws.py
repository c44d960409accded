# Tests: kernel compiler/codegen
"""Random operators: their distributions, and that the numbers depend neither
on the devices nor on who computes them.

	draws.py [PREFIX...]

The bounds are five standard deviations of the measured quantity, and the seeds are
fixed: a test that passes once passes always.
"""
import os
import tempfile

import against
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from programs import sample  # against knows where it is

SHAPE = (41, 53, 7)  # odd, so that no part is as large as another
N = int(np.prod(SHAPE))


def planned(model, fed, k, kernels):
    """The outputs of a model on k devices."""
    with tempfile.TemporaryDirectory() as folder:
        path, plan, into, out = (os.path.join(folder, n) for n in
                                 ("m.onnx", "plan", "in.npz", "out.npz"))
        onnx.save(model, path)
        np.savez(into, **fed)
        against.run(against.TDLC, "plan", path, "-k", str(k), "-o", plan)
        against.run(against.TDLRUN, plan, "--kernels", kernels, "--inputs",
                    into, "--outputs", out)
        with np.load(out) as got:
            return dict(got)


def model_of(nodes, fed, outputs, known=()):
    graph = helper.make_graph(
        nodes, "draws",
        [helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for n, x in fed.items()],
        [helper.make_empty_tensor_value_info(y) for y in outputs],
        list(known))
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 22)])


def draw(nodes, fed, outputs, known=()):
    """The outputs of one device.  Those of two and three have to be the same
    bits, and those of generated kernels the same within a rounding."""
    model = model_of(nodes, fed, outputs, known)
    judge = planned(model, fed, 1, "interpreter")
    for kernels in "interpreter", "generated":
        first = planned(model, fed, 1, kernels)
        for name, x in first.items():
            np.testing.assert_allclose(x, judge[name], rtol=1e-6, atol=0)
        for k in 2, 3:
            again = planned(model, fed, k, kernels)
            for name, x in first.items():
                assert np.array_equal(x, again[name]), \
                    f"{name} differs for k = {k}, {kernels}"
    return [judge[y] for y in outputs]


def near(what, got, want, deviation):
    assert abs(got - want) <= 5 * deviation, \
        f"{what} is {got}, not {want} +- {5 * deviation:.3g}"


def check_moments(x, mean, variance, fourth):
    """fourth: the fourth central moment."""
    x = x.astype(np.float64).ravel()
    near("the mean", x.mean(), mean, (variance / len(x)) ** 0.5)
    near("the variance", ((x - mean) ** 2).mean(), variance,
         ((fourth - variance ** 2) / len(x)) ** 0.5)


def check_even(counts, expected):
    """Chi-squared: the sum of the squared distances has the mean n - 1."""
    chi = ((counts - expected) ** 2 / expected).sum()
    near("chi-squared", chi, len(counts) - 1, (2 * (len(counts) - 1)) ** 0.5)


def check_apart(x):
    """Neighbours along each dimension are not correlated."""
    x = x.astype(np.float64) - x.mean(dtype=np.float64)
    for axis in range(x.ndim):
        n = x.shape[axis]
        product = (x.take(range(1, n), axis) * x.take(range(n - 1), axis))
        near(f"the correlation along {axis}", product.mean() / x.var(), 0,
             product.size ** -0.5)


def uniform(np_type, low=0.0, high=1.0):
    def run_one():
        node = helper.make_node(
            "RandomUniform", [], ["y"], shape=SHAPE, low=low, high=high,
            seed=7.0, dtype=helper.np_dtype_to_tensor_dtype(np.dtype(np_type)))
        x, = draw([node], {}, ["y"])
        assert x.dtype == np_type and x.shape == SHAPE
        assert x.min() >= low and x.max() < high
        size = high - low
        check_moments(x, (low + high) / 2, size ** 2 / 12, size ** 4 / 80)
        counts, _ = np.histogram(x.astype(np.float64), 64, (low, high))
        check_even(counts, N / 64)
        check_apart(x)
    return run_one


def normal(np_type, mean=0.0, scale=1.0):
    def run_one():
        like = np.zeros(SHAPE, np_type)
        node = helper.make_node("RandomNormalLike", ["x"], ["y"], mean=mean,
                                scale=scale, seed=-3.5)
        x, = draw([node], {"x": like}, ["y"])
        assert x.dtype == np_type and x.shape == SHAPE
        check_moments(x, mean, scale ** 2, 3 * scale ** 4)
        within = np.abs(x.astype(np.float64) - mean) / scale
        for bound, share in (1, 0.682689), (2, 0.954500), (3, 0.997300):
            near(f"the share within {bound}", (within < bound).mean(), share,
                 (share * (1 - share) / N) ** 0.5)
        check_apart(x)
    return run_one


def bernoulli():
    p = np.linspace(0, 1, N, dtype=np.float32).reshape(SHAPE)
    node = helper.make_node("Bernoulli", ["p"], ["y"],
                            dtype=TensorProto.INT32)
    y, = draw([node], {"p": p}, ["y"])
    assert y.dtype == np.int32 and set(np.unique(y)) == {0, 1}
    assert y.ravel()[0] == 0 and y.ravel()[-1] == 1
    for part, q in zip(np.array_split(y.ravel(), 10),
                       np.array_split(p.ravel(), 10)):
        near("the share of 1", part.mean(), q.mean(),
             ((q * (1 - q)).mean() / len(q)) ** 0.5)


def dropout(ratio):
    def run_one():
        x = np.random.default_rng(1).standard_normal(SHAPE).astype(np.float32)
        node = helper.make_node("Dropout", ["x", "ratio", "train"],
                                ["y", "mask"])
        y, mask = draw([node], {"x": x}, ["y", "mask"], [
            numpy_helper.from_array(np.float32(ratio), "ratio"),
            numpy_helper.from_array(np.array(True), "train")])
        assert mask.dtype == bool
        near("the share kept", mask.mean(), 1 - ratio,
             (ratio * (1 - ratio) / N) ** 0.5)
        np.testing.assert_allclose(
            y, np.where(mask, x / (1 - np.float32(ratio)), 0), rtol=1e-6)
    return run_one


def multinomial():
    logits = np.log(np.array([[1, 2, 3, 4, 0], [5, 1, 1, 1, 2]]),
                    where=np.array([[1, 1, 1, 1, 0], [1] * 5], bool),
                    out=np.full((2, 5), -np.inf)).astype(np.float32)
    count = 4999
    node = helper.make_node("Multinomial", ["x"], ["y"], sample_size=count,
                            dtype=TensorProto.INT64)
    y, = draw([node], {"x": logits}, ["y"])
    assert y.dtype == np.int64 and y.shape == (2, count)
    for row, logs in zip(y, logits):
        p = np.exp(logs) / np.exp(logs).sum()
        counts = np.bincount(row, minlength=5)
        assert counts[p == 0].sum() == 0
        check_even(counts[p > 0], count * p[p > 0])


def seeds():
    """Nodes draw the same numbers if they have the same seed, else others."""
    nodes = [helper.make_node("RandomUniform", [], [f"y{i}"], shape=SHAPE,
                              **({} if seed is None else {"seed": seed}))
             for i, seed in enumerate((None, None, 1.0, 1.0, 1.5))]
    y = draw(nodes, {}, [f"y{i}" for i in range(5)])
    assert np.array_equal(y[2], y[3])
    for i, j in (0, 1), (0, 2), (1, 2), (2, 4), (0, 4):
        near(f"the correlation of {i} and {j}",
             np.corrcoef(y[i].ravel(), y[j].ravel())[0, 1], 0, N ** -0.5)


def loop():
    """Every round of a loop draws its own numbers."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]),
         helper.make_node("RandomNormal", [], ["r"], shape=[499])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("r", TensorProto.FLOAT, [499])])
    y, = draw([helper.make_node("Loop", ["n", "yes"], ["y"], body=body)], {},
              ["y"], [numpy_helper.from_array(np.array(3), "n"),
                      numpy_helper.from_array(np.array(True), "yes")])
    for i, j in (0, 1), (0, 2), (1, 2):
        near(f"the correlation of {i} and {j}",
             np.corrcoef(y[i], y[j])[0, 1], 0, 499 ** -0.5)


CASES = [("uniform-f32", uniform(np.float32)),
         ("uniform-f32-bounds", uniform(np.float32, -3.0, 2.0)),
         ("uniform-f16", uniform(np.float16)),
         ("uniform-f64", uniform(np.float64, -1.0, 1.0)),
         ("normal-f32", normal(np.float32)),
         ("normal-f64", normal(np.float64, 2.0, 3.0)),
         ("normal-f16", normal(np.float16, -1.0, 0.5)),
         ("bernoulli", bernoulli), ("dropout-half", dropout(0.5)),
         ("dropout-tenth", dropout(0.1)), ("multinomial", multinomial),
         ("seeds", seeds), ("loop", loop)]


if __name__ == "__main__":
    import sys
    against.try_all(sample(CASES), sys.argv[1:], lambda run_one: run_one())
