# Tests: runtime/cpu kernel
"""Kernels of oneDNN beside the interpreter's, in networks whose runs share what is
kept, or read outside of what there is."""
import os
import sys
import tempfile

from programs import TDLC, TDLRUN, expect, finish, run

try:
    import numpy as np
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements.txt)")
    sys.exit(77)

# One weight of one kernel, in parts that are cut by different variables.
TWICE = """
import "elementwise.tdl"
op mm(x[B, S, D], w[E, D]) -> y[S, B, E] =
    lambda s, b, e: Sum(lambda d: x[b, s, d] * w[e, d])
op off(a[S, B, E], t[S, B, E]) -> l[] =
    lambda : Sum(lambda s, b, e: (a[s, b, e] - t[s, b, e]) * (a[s, b, e] - t[s, b, e]))
model m() {
    input x1[2, 64, 256]
    input x2[2, 64, 256]
    input t[64, 2, 256]
    param w[256, 256]
    y1 = mm(x1, w)
    y2 = mm(x2, w)
    loss = off(y1, t) + off(y2, t)
    output loss
}
"""
# Both factors are kept; threads have parts of the first, and share the second.
BOTH = """
import "conv.tdl"
model m(n = 2) {
    input z[2]
    param a[n, 64, 33, 33]
    param w[32, 64, 3, 3]
    y = conv2d(a, w, strides = [2, 2])
    output y
}
"""
# Filters have more channels than the input, of which the rest is 0.
CHANNELS = """
op conv(x[C, N, H], w[K, D, R]) -> y[N, K, H - R + 1] =
    lambda n, k, h: Sum(lambda c, r: (x[c, n, h + r] else 0) * w[k, c, r])
model m() {
    input x[8, 4, 40]
    input w[16, 16, 3]
    y = conv(x, w)
    output y
}
"""
GROUPS = """
op conv(x[C, N, H], w[K, D, R]; group: int) -> y[N, K, H - R + 1] =
    lambda n, k, h:
        Sum(lambda c, r: (x[k / (K / group) * D + c, n, h + r] else 0) * w[k, c, r])
model m() {
    input x[24, 4, 40]
    input w[32, 8, 3]
    y = conv(x, w, group = 4)
    output y
}
"""
# A product of a few rows with a weight that is kept.
ROWS = """
op mm(x[N, D], w[D, E]) -> y[N, E] = lambda n, e: Sum(lambda d: x[n, d] * w[d, e])
model m(rows = 4) {
    input x[rows, 768]
    param w[768, 512]
    y = mm(x, w)
    output y
}
"""
CASES = [
    ("twice", TWICE, ["--train", "--optimizer", "sgd,lr=0.000001", "-k", "2",
                      "--pin", "y1=by s", "--pin", "y2=by b", "--pin",
                      "w=replicated"], ["--steps", "5"]),
    ("both", BOTH, ["--evaluate", "-k", "1"], ["--steps", "2"]),
    ("channels", CHANNELS, ["-k", "1"], []),
    ("groups", GROUPS, ["-k", "1"], []),
]


def outputs(folder, plan, kernels, options):
    to = os.path.join(folder, kernels + ".npz")
    run(TDLRUN, plan, "--kernels", kernels, "--outputs", to, *options)
    return np.load(to)


def check(folder, name, text, planned, ran):
    model, plan = (os.path.join(folder, f) for f in ("m.tdl", "m.plan"))
    with open(model, "w", encoding="utf-8") as f:
        f.write(text)
    run(TDLC, "plan", model, *planned, "-o", plan)
    wanted = outputs(folder, plan, "interpreter", ran)
    for threads in "1", "2":
        got = outputs(folder, plan, "library", [*ran, "--threads", threads])
        for key in wanted.files:
            off = np.abs(got[key] - wanted[key]).max()
            most = np.abs(wanted[key]).max()
            expect(f"{name}, {threads} threads: {key} is off by {off} of "
                   f"{most}", off <= 1e-5 * most)


def expect_choice(folder):
    """oneDNN, which lists its calls, computes what uses a kept factor often."""
    model, plan = (os.path.join(folder, f) for f in ("m.tdl", "m.plan"))
    with open(model, "w", encoding="utf-8") as f:
        f.write(ROWS)
    os.environ["DNNL_VERBOSE"] = "1"
    for rows, called in (4, False), (47, False), (48, True), (128, True):
        run(TDLC, "plan", model, "-D", f"rows={rows}", "--evaluate", "-k", "1",
            "-o", plan)
        lines = run(TDLRUN, plan, "--kernels", "library")
        if called and "_verbose" not in lines:
            print("oneDNN lists no calls")
            return
        expect(f"{rows} rows: oneDNN is called or not", called ==
               ("_verbose,exec" in lines))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            try:
                check(folder, *case)
            except AssertionError as e:
                if "not built in" in str(e) or "no library" in str(e):
                    print("SKIP: tdlrun has no oneDNN")
                    sys.exit(77)
                raise
        expect_choice(folder)
    finish()


main()
