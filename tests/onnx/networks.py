# Tests: compiler/onnx compiler/lower
"""The nine `light` networks of the onnx package, the whole road.

Each gets seeded random weights and a random image, is planned for 1, 2, 3, 4
and 8 devices, run on as many workers and verified; the three figures have to
agree, and the output has to be ONNX Runtime's.

	networks.py [--all] [--devices 1,2,8] [--algorithms tofu,allrow] [NAME...]

Without --all, or CHECK_ALL=yes, each network of the sample is for one number of
devices.
"""
import argparse
import os
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

import light
from against import relative_error

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import (ALL, SAMPLE_FROM, TDLC, TDLRUN, call,  # noqa: E402
                      check_plan, check_run, sample)

TOLERANCE = 1e-3  # relative norm error against ONNX Runtime


def random_image(session):
    """Inputs by name, as a user of ONNX Runtime would make them."""
    rng = np.random.default_rng(7)
    return {i.name: rng.standard_normal(i.shape).astype(np.float32)
            for i in session.get_inputs()}


def check(folder, name, model, k, algorithm, inputs, expected):
    path = os.path.join(folder, f"{name}-{k}-{algorithm}.plan")
    out = os.path.join(folder, "out.npz")
    plan = call(TDLC, "plan", model, "-k", str(k), "--algorithm", algorithm,
                "-o", path)
    run = call(TDLRUN, path, "--inputs", os.path.join(folder, "in.npz"),
               "--outputs", out, "--verify")
    if algorithm == "tofu":
        check_plan(plan, k)
    check_run(run, plan)
    results = np.load(out)
    assert sorted(results.files) == sorted(expected), results.files
    worst = max(relative_error(results[n], v) for n, v in expected.items())
    assert worst <= TOLERANCE, f"relative error {worst} against ONNX Runtime"
    return (f"{plan['communication_bytes']} bytes, "
            f"{plan['peak_bytes_per_device']} of arena, "
            f"error {worst:.1e}, {run['seconds_per_step']:.2f} s")


def devices_of(args, name):
    """They take turns, so that each number comes as often as any other."""
    i = light.NAMES.index(name) + SAMPLE_FROM
    return args.devices if args.all else [args.devices[i % len(args.devices)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", default=ALL)
    parser.add_argument("--devices", default=[1, 2, 3, 4, 8],
                        type=lambda s: [int(k) for k in s.split(",")])
    parser.add_argument("--algorithms", default="tofu")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    failed = 0
    for name in args.names or sample(light.NAMES):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, name + ".onnx")
            light.write(name, model, batch=1)
            session = onnxruntime.InferenceSession(model)
            inputs = random_image(session)
            names = [o.name for o in onnx.load(model).graph.output]
            expected = dict(zip(names, session.run(names, inputs)))
            np.savez(os.path.join(folder, "in.npz"), **inputs)
            for algorithm in args.algorithms.split(","):
                for k in devices_of(args, name):
                    began = time.monotonic()
                    try:
                        said = check(folder, name, model, k, algorithm,
                                     inputs, expected)
                        word = "PASS"
                    except AssertionError as e:
                        said, word = str(e), "FAIL"
                        failed += 1
                    print(f"{word}: {name}, k = {k}, {algorithm}: {said} "
                          f"({time.monotonic() - began:.1f} s in all)",
                          flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
