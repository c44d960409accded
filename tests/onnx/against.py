"""Holds what tdlc and tdlrun make of a model against ONNX Runtime."""
import os
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx.reference import ReferenceEvaluator
except ImportError as e:
    print(f"SKIP: {e}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, TDLRUN, run  # noqa: E402


class NoJudge(Exception):
    """Nobody else computes the model."""


def oracle(model, fed):
    """The outputs by name, as ONNX Runtime computes them, or ONNX's reference
    evaluator where that has not what the model asks for."""
    try:
        return runtime_says(model, fed)
    except Exception as e:  # its classes are private
        names = [o.name for o in model.graph.output]
        try:
            return dict(zip(names, ReferenceEvaluator(model).run(names, fed)))
        except Exception:
            raise NoJudge(str(e)) from None


def runtime_says(model, fed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        onnx.shape_inference.infer_shapes(model).SerializeToString(), options)
    names = [o.name for o in model.graph.output]
    return dict(zip(names, session.run(names, fed)))


def relative_error(got, want):
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def compare(name, got, want, tolerance):
    want = np.asarray(want)
    assert got.dtype == want.dtype, f"{name} is of type {got.dtype}, " \
        f"not {want.dtype}"
    assert got.shape == want.shape, f"{name} has shape {got.shape}, " \
        f"not {want.shape}"
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance,
                               err_msg=name)


def check_file(path, fed, expected, options=(), devices=("1", "3"),
               kernels="interpreter", tolerance=1e-5):
    """Plans and runs the model at `path` and compares."""
    folder = os.path.dirname(path)
    plan, out, into = (os.path.join(folder, n) for n in
                       ("model.plan", "out.npz", "in.npz"))
    np.savez(into, **fed)
    for k in devices:
        run(TDLC, "plan", path, "-k", k, "-o", plan, *options)
        run(TDLRUN, plan, "--kernels", kernels, "--inputs", into,
            "--outputs", out)
        with np.load(out) as got:
            assert sorted(got.files) == sorted(expected), got.files
            for name, want in expected.items():
                compare(f"{name} at k = {k}", got[name], want, tolerance)


def check(model, fed, **how):
    """The same for a model in memory, which ONNX Runtime judges."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        check_file(path, fed, oracle(model, fed), **how)


def try_all(cases, prefixes, run_one):
    """Runs cases, pairs of a name and what run_one() takes; exits."""
    failed = done = 0
    for name, what in cases:
        if not name.startswith(tuple(prefixes or [""])):
            continue
        done += 1
        try:
            run_one(what)
        except NoJudge as e:
            print(f"no judge: {name}: {str(e).strip()}", flush=True)
        except Exception as e:  # whatever it is, the next case is tried
            failed += 1
            print(f"FAIL: {name}: {str(e).strip()}", flush=True)
    print(f"{done} cases, {failed} failed")
    sys.exit(1 if failed or not done else 0)
