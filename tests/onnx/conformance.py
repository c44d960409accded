# Tests: compiler/onnx
"""ONNX's own node tests through tdlc and tdlrun, whole and partitioned.

Each test becomes a model file, is planned for each number of devices, run,
and its outputs are compared with the expected ones.  A test

	passes       on every number of devices
	unsupported  where tdlc says clearly that it does not have it
	fails        where results differ, a diagnostic is about the operator's
	             own text, or a program crashes or hangs

conformance.tsv lists what does not pass, with the reasons; a test that is not
as listed there makes this script fail.  The interpreter runs all tests, on
three devices, and every fourth, or with CHECK_ALL=yes all, on one; then
generated kernels run every 50th, on two.

	conformance.py [--devices 1,2,3] [--kernels generated|interpreter]
	               [--only PATTERN] [--summary] [--json FILE] [-v]
"""
import argparse
import collections
import fnmatch
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import dtypes
    import node_tests
except ImportError as e:
    print(f"SKIP: {e}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import ALL, TDLC, TDLRUN, sample  # noqa: E402

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "conformance.tsv")
SECONDS = 60  # more is taken for a hang
SAMPLE = 50  # every how many tests run with generated kernels, too

# Diagnostics that tell a user what the model has and tdlc has not; any other
# is about the text of opdefs/, which is a defect there.
CLEAR = {"missing-operator", "unsupported", "onnx-type", "not-constant"}

Result = collections.namedtuple("Result", "kind k said")


def call(command):
    """Exit status and what is said; a signal or a hang has none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"{os.path.basename(command[0])} hangs"
    if done.returncode not in (0, 1):
        return None, f"{os.path.basename(command[0])}: status " \
            f"{done.returncode}: {done.stderr.strip()[-300:]}"
    return done.returncode, done.stderr.strip()


def judge_diagnostics(text, k):
    """A plan that is refused: clearly, or for a reason of our own."""
    try:
        said = json.loads(text)["diagnostics"]
    except ValueError:
        return Result("failed", k, text)
    errors = [d for d in said if d["severity"] == "error"]
    words = "; ".join(f"{d['message']} [{d['name']}]" for d in errors)
    clear = errors and all(d["name"] in CLEAR for d in errors)
    return Result("unsupported" if clear else "failed", k, words)


def relative_tolerance(dtype, test):
    """The test's, but two units in the last place: these are one sum or the
    other rounded first, which ONNX leaves open."""
    eps = {"float16": 2 ** -10, "bfloat16": 2 ** -7}.get(dtype.name, 0)
    return max(test.rtol, 2 * eps)


def difference(got, want, test):
    """What is wrong with an output, or None."""
    if got.dtype != dtypes.stored(want).dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} for " \
            f"{want.dtype}{list(want.shape)}"
    got = got.view(want.dtype)
    if not dtypes.is_float(want.dtype):
        wrong = got != want
    else:
        wrong = ~np.isclose(got.astype(np.float64), want.astype(np.float64),
                            rtol=relative_tolerance(want.dtype, test),
                            atol=test.atol, equal_nan=True)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{got[at]} for {want[at]} at {list(at)}, {wrong.sum()} of " \
        f"{wrong.size} differ"


def run_one(test, k, kernels, folder, options):
    """Plans and runs what is in the folder."""
    model, plan, fed, out = (os.path.join(folder, n) for n in
                             ("m.onnx", "m.plan", "in.npz", "out.npz"))
    status, said = call([TDLC, "plan", model, "-k", str(k), "-o", plan,
                         "--diagnostics=json", *options])
    if status is None:
        return Result("failed", k, said)
    if status:
        return judge_diagnostics(said, k)
    status, said = call([TDLRUN, plan, "--kernels", kernels, "--inputs", fed,
                         "--outputs", out])
    if status != 0:
        return Result("failed", k, said)
    with np.load(out) as results:
        for name, want in node_tests.expected(test).items():
            wrong = difference(results[name], want, test) \
                if name in results.files else "missing"
            if wrong:
                return Result("failed", k, f"{name}: {wrong}")
    return Result("passed", k, "")


def run_test(test, devices, kernels):
    with tempfile.TemporaryDirectory() as folder:
        model, fed, options = node_tests.model_of(test)
        onnx.save(model, os.path.join(folder, "m.onnx"))
        np.savez(os.path.join(folder, "in.npz"),
                 **{n: dtypes.stored(x) for n, x in fed.items()})
        results = []
        for k in devices:
            results.append(run_one(test, k, kernels, folder, options))
            if results[-1].kind == "unsupported":
                break
        return results


def worst(results):
    order = ["failed", "unsupported", "passed"]
    return min(results, key=lambda r: order.index(r.kind))


# ---- the list of what does not pass -----------------------------------------


class Expectations:
    """Lines of: kind, pattern of names, reason.  The kind `interpreter` is a
    failure with its kernels, and a pass with generated ones."""

    def __init__(self, path):
        self.lines = []
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    self.lines.append(line.rstrip("\n").split("\t"))

    def of(self, name, kernels):
        line = self.line(name)
        if line is None:
            return "passed"
        if line[0] == "interpreter":
            return "failed" if kernels == line[0] else "passed"
        return line[0]

    def line(self, name):
        """The first that is about it, or None."""
        return next((line for line in self.lines
                     if fnmatch.fnmatchcase(name, line[1])), None)

    def unused(self, tests):
        """The patterns of lines that are about none of these tests."""
        used = [self.line(t.name) for t in tests]
        return [line[1] for line in self.lines if line not in used]


def report(test, result, want, verbose):
    """Says what is not as expected; whether it is."""
    if result.kind == want:
        if verbose and result.kind != "passed":
            print(f"{result.kind}: {test.name}: {result.said}", flush=True)
        return True
    if result.kind == "passed":
        print(f"PASSES: {test.name} is listed as {want}: remove it from "
              "conformance.tsv", flush=True)
    else:
        print(f"FAIL: {test.name}, k = {result.k}: {result.kind}: "
              f"{result.said}", flush=True)
    return False


def print_table(rows):
    """Tests by operator and outcome, worst operators first."""
    table = collections.defaultdict(collections.Counter)
    for test, results in rows:
        table[test.op][worst(results).kind] += 1
    print(f"{'operator':32} passed failed unsupported")
    for op, n in sorted(table.items(), key=lambda row: (
            row[1]["passed"] - sum(row[1].values()), row[0])):
        print(f"{op:32} {n['passed']:6} {n['failed']:6} "
              f"{n['unsupported']:11}")


def print_totals(rows):
    """What is unsupported is tried on no more devices."""
    for k in sorted({r.k for _, results in rows for r in results}):
        n = collections.Counter(r.kind for _, results in rows for r in results
                                if r.k == k)
        print(f"k = {k}: {n['passed']} passed, {n['failed']} failed, "
              f"{n['unsupported']} unsupported")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", help="default: 3, and for some 1")
    parser.add_argument("--kernels", choices=["generated", "interpreter"],
                        help="run all tests with these alone")
    parser.add_argument("--only", default="*", metavar="PATTERN")
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--summary", action="store_true",
                        help="print a table by operator")
    parser.add_argument("--json", metavar="FILE",
                        help="write all results to FILE")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="print also what does not pass as expected")
    return parser.parse_args()


JOB = {}  # tests, devices, kernels: what a forked worker finds


def some_devices(i):
    """What is right when it is cut is so on one device, as a rule."""
    return [1, 3] if ALL or i % 4 == 0 else [3]


def work(i):
    devices = JOB["devices"] or some_devices(i)
    return i, run_test(JOB["tests"][i], devices, JOB["kernels"])


def run_all(args, tests, devices, kernels, expectations):
    """Runs and reports; the results by test, and whether all is expected."""
    JOB.update(tests=tests, devices=devices, kernels=kernels)
    rows, good = [], True
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for i, results in pool.imap(work, range(len(tests))):
            test = tests[i]
            rows.append((test, results))
            good &= report(test, worst(results),
                           expectations.of(test.name, kernels), args.verbose)
    print(f"{kernels} kernels:")
    print_totals(rows)
    return rows, good


def main():
    args = arguments()
    devices = [int(k) for k in args.devices.split(",")] \
        if args.devices else None
    everything = node_tests.load()
    tests = sample([t for t in everything
                    if fnmatch.fnmatchcase(t.name, args.only)])
    expectations = Expectations(LIST)
    unused = expectations.unused(everything)
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TDL_CACHE", cache)
        rows, good = run_all(args, tests, devices,
                             args.kernels or "interpreter", expectations)
        if not args.kernels:
            good &= run_all(args, tests[::SAMPLE], [2], "generated",
                            expectations)[1]
    if args.summary:
        print_table(rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump([{"name": t.name, "op": t.op, "domain": t.domain,
                        "results": [r._asdict() for r in results]}
                       for t, results in rows], f, indent=1)
    for pattern in unused:
        print(f"FAIL: {pattern} in conformance.tsv is no test")
        good = False
    sys.exit(0 if good and rows else 1)


if __name__ == "__main__":
    main()
