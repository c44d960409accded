"""The time that descriptors take: `tdlc compile` for the whole library, the median
of several runs, and one strategy with numbers in it (strategies.c).

	strategies.py [--repeat R] [NAME...]

NAME: the networks of tests/onnx/light.py from which kernels are taken.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx"))
import light  # noqa: E402

TDLC = os.environ.get("TDLC", "./tdlc")
STRATEGIES = os.environ.get("STRATEGIES", "bench/strategies")
OPDEFS = os.path.join(HERE, "..", "opdefs")


def files(folder):
    return [os.path.join(folder, n) for n in sorted(os.listdir(folder))
            if n.endswith(".tdl")]


def compile_seconds(out):
    """Wall time and processor time."""
    began, before = time.perf_counter(), os.times()
    subprocess.run([TDLC, "compile", *files(OPDEFS), "-o", out], check=True)
    after = os.times()
    return time.perf_counter() - began, \
        after.children_user - before.children_user + \
        after.children_system - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=21, metavar="R")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "all.tdd")
        wall, processor = zip(*(compile_seconds(out)
                                for _ in range(args.repeat)))
        print(f"{'tdlc compile opdefs/*.tdl':44} "
              f"{statistics.median(wall) * 1e3:8.1f} ms  "
              f"({statistics.median(processor) * 1e3:.0f} ms of a processor, "
              f"{os.path.getsize(out)} bytes)", flush=True)
        models = []
        for name in args.names or ["resnet50", "shufflenet"]:
            models.append(os.path.join(folder, name + ".onnx"))
            light.write(name, models[-1], batch=8)
        subprocess.run([STRATEGIES, *files(OPDEFS),
                        *files(os.path.join(OPDEFS, "onnx")), *models],
                       check=True)


if __name__ == "__main__":
    main()
