# Tests: compiler/graph compiler/onnx runtime/run
"""Greedy generation with caches: the tokens are ONNX Runtime's, which is fed
caches that grow, row by row, on up to 8 workers, and no cache is moved.  Rows
of a prompt have different lengths, and may end at a token before others do.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

import decoders

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, TDLRUN, call, expect, finish, sample  # noqa: E402

LENGTH = 40


def present(past):
    """The output that is the next value of a cache."""
    return past.replace("past_key_values.", "present.") \
        if "." in past else past.replace("past", "present")


def judge(path, prompt, count, mask, four):
    """ONNX Runtime's tokens, all of a prompt at once, then one by one, and how
    far the best score was ahead of the next at least."""
    net = onnxruntime.InferenceSession(path)
    kind = {"i64": np.int64, "i32": np.int32, "bool": bool}[mask]
    caches = {}
    for x in net.get_inputs():
        if x.name.startswith("past_"):
            caches[x.name] = np.zeros([len(prompt), *(
                d if isinstance(d, int) else 0 for d in x.shape[1:])],
                np.float32)
    ids, new, margin = prompt, prompt, np.inf
    names = [o.name for o in net.get_outputs()]
    for _ in range(count):
        first, last = ids.shape[1] - new.shape[1], ids.shape[1]
        seen = np.ones([len(ids), last], kind)
        if four:
            seen = np.tri(new.shape[1], last, first, dtype=kind)
            seen = np.broadcast_to(seen, (len(ids), 1, *seen.shape))
        places = np.arange(first, last)[None].repeat(len(ids), 0)
        got = dict(zip(names, net.run(None, {
            "input_ids": new, "attention_mask": seen, "position_ids": places,
            **caches})))
        caches = {n: got[present(n)] for n in caches}
        scores = got["logits"][:, -1]
        two = np.sort(scores, -1)
        margin = min(margin, (two[:, -1] - two[:, -2]).min())
        new = scores.argmax(-1)[:, None]
        ids = np.concatenate([ids, new], 1)
    return ids, margin


def plan(model, folder, k, rows, width, planner, carry):
    """Plans a decoder; none of its caches may move."""
    path = os.path.join(folder, f"{k}-{width}-{planner}.plan")
    call(TDLC, "plan", model, "-k", str(k), "--algorithm", planner, "-D",
         f"batch={rows}", "-D", f"new={width}", "-D", f"all={LENGTH + width}",
         "--carry", carry, "--carry-length", str(LENGTH),
         "--carry-mask", "attention_mask", "--carry-positions", "position_ids",
         "-o", path)
    return path


def stays(path):
    """Whether a plan has states, and their next values are computed in their
    places, of which no instruction sends a part."""
    with open(path) as f:
        p = json.load(f)
    states = {i: t["next"] for i, t in enumerate(p["tensors"])
              if t["role"] == "state" and "next" in t}
    caches = set(states) | set(states.values())
    places = {b["tensor"]: b["offset"] for b in p["buffers"]
              if b["region"] == "stored"}
    sent = [i for i in p["program"] if "move" in i and
            p["buffers"][i["from"]]["tensor"] in caches]
    return len(states) == 4 and not sent and \
        all(places[x] == places[y] for x, y in states.items())


def judge_rows(path, rows, count, mask, four, stop):
    """The same of rows by themselves, each up to a token that ends it."""
    texts, margins = [], []
    for row in rows:
        ids, margin = judge(path, np.array([row]), count, mask, four)
        text = ids[0].tolist()
        ends = [i for i in range(len(row), len(text)) if text[i] == stop]
        texts.append(text[:ends[0] + 1] if ends else text)
        margins.append(margin)
    return texts, min(margins)


def padded(rows):
    """Rows as an array, with -1 behind the shorter ones."""
    x = np.full([len(rows), max(map(len, rows))], -1)
    for to, row in zip(x, rows):
        to[:len(row)] = row
    return x


def refuses_position(path, folder, options):
    """The running position is not to be fed."""
    np.savez(os.path.join(folder, "position.npz"), position=np.array(1))
    done = subprocess.run([TDLRUN, path, *options, "--inputs", os.path.join(
        folder, "position.npz")], capture_output=True, text=True)
    assert done.returncode == 1 and "'position'" in done.stderr, done.stderr


def check(folder, case):
    seed, (k, width, mask, four, planner, kind) = case
    rng = np.random.default_rng(seed)
    rows, length = int(rng.integers(2, 5)), int(rng.integers(1, 12))
    model = os.path.join(folder, "decoder.onnx")
    KINDS[kind](model, seed=seed, mask=mask, four=four)
    lengths = [length] * rows if seed % 3 == 0 else \
        rng.integers(1, length + 1, rows)
    prompt = [rng.integers(0, 61, n).tolist() for n in lengths]
    np.savez(os.path.join(folder, "prompt.npz"), input_ids=padded(prompt))
    count = LENGTH + 1 - max(lengths)
    free, _ = judge_rows(model, prompt, count, mask, four, None)
    stop = int(rng.choice(free[0][lengths[0]:])) if seed % 2 else None
    want, margin = judge_rows(model, prompt, count, mask, four, stop)
    path = plan(model, folder, k, rows, width, planner,
                "present.*=past_key_values.*" if kind == "llama" else
                "present_*=past_*")
    options = ["--generate", str(count), "--prompt",
               os.path.join(folder, "prompt.npz"),
               *(["--stop", str(stop)] if stop is not None else [])]
    got = call(TDLRUN, path, *options, "--outputs",
               os.path.join(folder, "text.npz"))
    assert margin > 1e-4, f"{case}: scores too near to each other: {margin}"
    assert got["tokens"] == want, f"{case}: {got['tokens']} {want}"
    assert got["prompt_lengths"] == [len(r) for r in prompt], case
    text = np.load(os.path.join(folder, "text.npz"))["tokens"]
    assert np.array_equal(text, padded(want)), case
    refuses_position(path, folder, options)
    assert got["communication_bytes"] == got["predicted_communication_bytes"]
    assert got["arena_bytes"] == got["predicted_arena_bytes"], case
    assert stays(path) or kind == "turned", f"{case}: caches are moved"


KINDS = {"gpt": decoders.gpt, "llama": decoders.llama,
         "turned": functools.partial(decoders.gpt, turned=True)}
# (workers, new tokens of a step, the mask's type, whether it says all that is
# seen, planner, decoder; of one that is turned a cache lies otherwise than it is
# computed)
CASES = [(1, 1, "i64", False, "tofu", "gpt"),
         (2, 1, "i64", False, "joint", "gpt"),
         (4, 1, "i64", False, "auto", "gpt"),
         (1, 5, "i32", True, "tofu", "gpt"),
         (2, 3, "bool", False, "tofu", "gpt"),
         (4, 4, "i64", True, "joint", "gpt"),
         (1, 2, "i64", False, "tofu", "turned"),
         (2, 1, "bool", True, "megatron", "gpt"),
         (4, 2, "i32", False, "megatron", "gpt"),
         (4, 1, "i64", False, "tofu", "turned"),
         (2, 1, "i64", False, "data-parallel", "gpt"),
         (2, 3, "i64", False, "tofu", "llama"),
         (4, 1, "bool", True, "auto", "llama"),
         (8, 2, "i32", False, "joint", "llama"),
         (3, 1, "i64", False, "megatron", "llama")]
CASES = list(enumerate(CASES))

WIDE = """
op favours(tokens[R]: i8) -> y[R, 300]: f32 =
    lambda r, w: if w == 200 then 1.0 else 0.0

model wide() {
    input tokens[1]: i8
    logits = favours(tokens)
    output logits
}
"""


def check_wide(folder):
    """A word that is no number of the type of tokens is not fed, wrapped."""
    model, path, prompt = (os.path.join(folder, f) for f in
                           ("wide.tdl", "wide.plan", "bytes.npz"))
    with open(model, "w") as f:
        f.write(WIDE)
    call(TDLC, "plan", model, "-k", "1", "-o", path)
    np.savez(prompt, tokens=np.ones([1, 1], np.int8))
    done = subprocess.run([TDLRUN, path, "--generate", "2", "--prompt",
                           prompt], capture_output=True, text=True)
    assert done.returncode == 1 and "word 200" in done.stderr and \
        "is no i8" in done.stderr, done
    # What nothing follows is fed to nobody.
    for words in (["1"], ["5", "--stop", "200"]):
        made = os.path.join(folder, "made.npz")
        call(TDLRUN, path, "--prompt", prompt, "--outputs", made,
             "--generate", *words)
        assert np.load(made)["tokens"].ravel().tolist() == [1, 200], words


with tempfile.TemporaryDirectory() as top:
    try:
        check_wide(top)
    except AssertionError as e:
        expect(e, False)
    for one in sample(CASES, 4):
        try:
            check(top, one)
        except AssertionError as e:
            expect(e, False)
finish()
