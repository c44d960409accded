"""Greedy generation with caches: tokens per second, beside ONNX Runtime.

A decoder of the size of GPT-2 small, unless options say otherwise, is planned
once with `--carry`, then continues a prompt; ONNX Runtime does the same with
caches that grow, which is what its users write.  Both on as many threads; the
tokens have to be equal.  A row has tokens per second of the prompt and of what
is generated, over all rows, and ours by ONNX Runtime's.

	generation.py [--rows 1,8] [--prompt N] [--count N] [--layers N]
	              [--width N] [--words N] [-k WORKERS] [--json]
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
import decoders  # noqa: E402

TDLC = os.environ.get("TDLC", "tdlc")
TDLRUN = os.environ.get("TDLRUN", "tdlrun")


def call(*command):
    done = subprocess.run([*command, "--json"], capture_output=True,
                          text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def ours(model, folder, prompt, args):
    """Tokens per second, of the prompt and behind it, and the tokens."""
    plan = os.path.join(folder, "decoder.plan")
    given = os.path.join(folder, "prompt.npz")
    length = args.prompt + args.count
    np.savez(given, input_ids=prompt)
    call(TDLC, "plan", model, "-k", str(args.k), "-D", f"batch={len(prompt)}",
         "-D", "new=1", "-D", f"all={length + 1}", "--carry",
         "present_*=past_*", "--carry-length", str(length), "--carry-mask",
         "attention_mask", "--carry-positions", "position_ids", "-o", plan)
    got = call(TDLRUN, plan, "--generate", str(args.count), "--prompt", given)
    return (got["prompt_tokens_per_second"], got["tokens_per_second"],
            np.array(got["tokens"]))


def onnx_runtime(model, prompt, args):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.k
    net = onnxruntime.InferenceSession(model, options)
    caches = {x.name: np.zeros([len(prompt), *(
        d if isinstance(d, int) else 0 for d in x.shape[1:])], np.float32)
        for x in net.get_inputs() if x.name.startswith("past_")}
    names = [o.name for o in net.get_outputs()]
    ids, new, times = prompt, prompt, []
    for _ in range(args.count):
        first, last = ids.shape[1] - new.shape[1], ids.shape[1]
        begun = time.perf_counter()
        got = dict(zip(names, net.run(None, {
            "input_ids": new, "position_ids":
                np.arange(first, last)[None].repeat(len(ids), 0),
            "attention_mask": np.ones([len(ids), last], np.int64), **caches})))
        times.append(time.perf_counter() - begun)
        caches = {n: got[n.replace("past", "present")] for n in caches}
        new = got["logits"][:, -1].argmax(-1)[:, None]
        ids = np.concatenate([ids, new], 1)
    return (prompt.size / times[0],
            len(prompt) * (args.count - 1) / sum(times[1:]), ids)


def bench(rows, folder, args):
    model = os.path.join(folder, "decoder.onnx")
    decoders.gpt(model, layers=args.layers, heads=max(args.width // 64, 1),
                 width=args.width, words=args.words,
                 places=args.prompt + args.count)
    prompt = np.random.default_rng(1).integers(0, args.words,
                                               [rows, args.prompt])
    mine, theirs = ours(model, folder, prompt, args), onnx_runtime(
        model, prompt, args)
    same = (mine[2] == theirs[2]).mean()
    return {"rows": rows, "prompt": mine[0], "generated": mine[1],
            "onnxruntime_prompt": theirs[0], "onnxruntime": theirs[1],
            "equal_tokens": same}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", default="1,8")
    for name, value in (("prompt", 32), ("count", 96), ("layers", 12),
                        ("width", 768), ("words", 50257)):
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("-k", type=int, default=1)
    p.add_argument("--json", action="store_true")
    args = p.parse_args()
    if not args.json:
        print("rows  prompt  generated  ONNX Runtime's      ratio  "
              "equal tokens")
    for rows in map(int, args.rows.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            x = bench(rows, folder, args)
        if args.json:
            print(json.dumps(x), flush=True)
            continue
        print(f"{rows:4}  {x['prompt']:6.1f}  {x['generated']:9.1f}  "
              f"{x['onnxruntime_prompt']:6.1f} {x['onnxruntime']:9.1f}  "
              f"{x['generated'] / x['onnxruntime']:6.2f}  "
              f"{x['equal_tokens']:.1%}", flush=True)


if __name__ == "__main__":
    main()
