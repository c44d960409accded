"""The time of the search, of a plan and of a run, for the `light` networks.

Seconds say little on another machine, so ratios are compared: a run on one
worker against ONNX Runtime on one thread, and a run on all workers against one
worker.  For resnet50 on 8 devices the search should take less than 50 ms, and
the whole plan less than half a second, on a current processor.

	bench.py [-k N] [--batch B] [--repeat R] [--json] [NAME...]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx"))
import light  # noqa: E402

TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")


def call(*command):
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE,
                          check=True)
    return json.loads(done.stdout)


def best(repeat, measure):
    return min(measure() for _ in range(repeat))


def onnxruntime_seconds(model, repeat):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    feed = {i.name: np.ones(i.shape, np.float32) for i in session.get_inputs()}

    def measure():
        began = time.perf_counter()
        session.run(None, feed)
        return time.perf_counter() - began
    measure()
    return best(repeat, measure)


def run_seconds(plan, repeat):
    call(TDLRUN, plan)      # compiles the kernels
    return best(repeat, lambda: call(TDLRUN, plan)["seconds_per_step"])


def planned(model, args, path):
    """The plan, and the least seconds of its search and of the whole command:
    reading, planning and writing."""
    searches, seconds = [], []
    for _ in range(args.repeat):
        began = time.perf_counter()
        plan = call(TDLC, "plan", model, "-k", str(args.k), "-o", path)
        seconds.append(time.perf_counter() - began)
        searches.append(plan["search_seconds"])
    return plan, min(searches), min(seconds)


def bench(folder, name, args):
    model = os.path.join(folder, "model.onnx")
    light.write(name, model, batch=args.batch)
    one, all_ = (os.path.join(folder, f"{k}.plan") for k in (1, args.k))
    call(TDLC, "plan", model, "-k", "1", "-o", one)
    plan, search_seconds, plan_seconds = planned(model, args, all_)
    reference = onnxruntime_seconds(model, args.repeat)
    single, together = (run_seconds(p, args.repeat) for p in (one, all_))
    return {"name": name, "operators": plan["operators"],
            "search_seconds": search_seconds, "plan_seconds": plan_seconds,
            "run_seconds": single,
            "run_to_onnxruntime": single / reference,
            "workers_to_one": together / single}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", type=int, default=8, metavar="N")
    parser.add_argument("--batch", type=int, default=1, metavar="B")
    parser.add_argument("--repeat", type=int, default=3, metavar="R")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    results = []
    if not args.json:
        print(f"{'network':16}{'operators':>10}{'search':>10}{'plan':>10}"
              f"{'run':>10}{'/ ONNX RT':>11}{f'{args.k} / 1':>8}", flush=True)
    for name in args.names or light.NAMES:
        with tempfile.TemporaryDirectory() as folder:
            r = bench(folder, name, args)
        results.append(r)
        if not args.json:
            print(f"{name:16}{r['operators']:10}"
                  f"{r['search_seconds'] * 1e3:7.1f} ms"
                  f"{r['plan_seconds'] * 1e3:7.0f} ms"
                  f"{r['run_seconds'] * 1e3:7.0f} ms"
                  f"{r['run_to_onnxruntime']:11.2f}"
                  f"{r['workers_to_one']:8.2f}", flush=True)
    if args.json:
        print(json.dumps({"devices": args.k, "batch": args.batch,
                          "networks": results}, indent=2))


if __name__ == "__main__":
    main()
