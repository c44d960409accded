# Tests: plan runtime/exec runtime/cpu
"""Chains of kernels that are computed part by part, on random attention: a run
beside numpy, and beside one worker that has no chains, bit for bit."""
import json
import os
import random
import subprocess

from programs import TDLC, TDLRUN, call, over_seeds, run

import numpy as np

TEXT = """
import "attention.tdl"
import "norm.tdl"

op times(s[..b]; by: float) -> y[..b] = lambda ..b: s[..b] * by
op between(y[..b], t[..b]) -> l[] =
    lambda : Sum(lambda ..b: (y[..b] - t[..b]) * (y[..b] - t[..b]))

model m({sizes}) {{
    {role} q[b, h * r, t, d]
    {role} k[b, h, s, d]
    {role} v[b, h, s, d]
    input to[b, h * r, t, d]
    x = times(attention_scores(q, k, repeats = r), by = 0.25)
    {mask}
    y = attention_values(softmax(x), v, repeats = r)
    loss = between(y, to)
    output loss, y
}}
"""


def draw(rng):
    n = {"b": rng.choice([1, 2, 3]), "h": rng.choice([1, 2, 3]),
         "r": rng.choice([1, 1, 2]), "t": rng.choice([1, 130, 257, 400]),
         "s": rng.choice([1, 64, 255, 513]), "d": rng.choice([1, 8, 32])}
    return n, rng.random() < 0.5


def scores(n):
    """Bytes of the scores in f32."""
    return 4 * n["b"] * n["h"] * n["r"] * n["t"] * n["s"]


def expected(x, n, causal):
    k = np.repeat(x["k"], n["r"], axis=1).astype(np.float64)
    v = np.repeat(x["v"], n["r"], axis=1).astype(np.float64)
    s = 0.25 * np.einsum("bhid,bhjd->bhij", x["q"].astype(np.float64), k)
    if causal:
        later = np.arange(n["s"])[None, :] > np.arange(n["t"])[:, None]
        s[..., later] = -np.inf
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return np.einsum("bhij,bhjd->bhid", p, v)


def plan_of(folder, n, causal, train, workers):
    model, plan = (os.path.join(folder, f) for f in ("m.tdl", "m.plan"))
    with open(model, "w", encoding="utf-8") as f:
        f.write(TEXT.format(
            sizes=", ".join(f"{i} = {v}" for i, v in n.items()),
            role="param" if train else "input",
            mask="x = masked_causal(x)" if causal else ""))
    run(TDLC, "plan", model, "-k", str(workers), "-o", plan,
        *["--train", "--optimizer", "sgd,lr=0.01"] * train)
    with open(plan, encoding="utf-8") as f:
        return plan, '"chain":' in f.read()


def broken(rng, text):
    """A plan in which a run is not in its chain, or a result has no room."""
    p = json.loads(text)
    runs = [i for i in p["program"] if "chain" in i]
    outer = [i["to"] for i in p["program"]
             if "chain" not in i or i is runs[-1]]
    if rng.random() < 0.5:
        del rng.choice(runs)["chain"]
    else:
        p["buffers"][rng.choice(outer)]["bytes"] = 0
    return json.dumps(p)


def check_broken(rng, plan, folder):
    bad = os.path.join(folder, "bad.plan")
    with open(plan, encoding="utf-8") as f:
        text = broken(rng, f.read())
    with open(bad, "w", encoding="utf-8") as f:
        f.write(text)
    done = subprocess.run([TDLRUN, bad], capture_output=True, text=True)
    assert done.returncode == 1 and "[plan-invalid]" in done.stderr, \
        f"{done.returncode}: {done.stderr}"


def check(seed, folder):
    rng = random.Random(seed)
    n, causal = draw(rng)
    train, workers = rng.random() < 0.4, rng.choice([1, 1, 2, 3])
    plan, chained = plan_of(folder, n, causal, train, workers)
    # At least the scores and their softmax are handed on, in one worker; sums of
    # one term are no products of matrices.
    if not train and workers == 1 and n["d"] > 1:
        assert chained or scores(n) < 1 << 20, f"{n}: no chain"
    if chained:
        check_broken(rng, plan, folder)
    draws = np.random.default_rng(seed)
    x = {i: draws.standard_normal(
        [n["b"], n["h"] * (n["r"] if i in "qto" else 1),
         n["t" if i in "qto" else "s"], n["d"]]).astype(np.float32)
         for i in ("q", "k", "v", "to")}
    given, got = (os.path.join(folder, f) for f in ("x.npz", "y.npz"))
    np.savez(given, **x)
    result = call(TDLRUN, plan, "--inputs", given, "--outputs", got,
                  "--verify", "--threads", str(rng.choice([1, 2, 3])))
    assert result["verified"], f"{n}: {result['worst']}"
    assert result["arena_bytes"] == result["predicted_arena_bytes"], n
    if workers == 1:
        assert result["max_abs_error"] == 0, f"{n}: {result}"
    y, want = np.load(got)["y"], expected(x, n, causal)
    assert np.allclose(y, want, rtol=1e-4, atol=1e-5), \
        f"{n}: off by {abs(y - want).max()}"


if __name__ == "__main__":
    over_seeds(check, 2)
