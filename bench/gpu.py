"""The time of a step of training on a GPU, next to PyTorch.

	gpu.py [--precision f32|bf16] [--repeat R] [--steps N] [--json] [NAME...]

A row for each network has the time of our step; its ratios to the steps of
PyTorch's eager mode and of torch.compile in the same precision (bf16: autocast
there, --precision bf16 here; f32 without TF32 on both sides); its ratio to the
roofline that `tdlc plan --topology` predicts; and the ratio of our arena to
PyTorch's peak memory.  With several GPUs, NCCL's rate is measured as well.

It needs a GPU, a tdlrun that was built with CUDA, and PyTorch with CUDA; it
ends with status 77 where one of these is missing.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
sys.path.insert(0, os.path.join(HERE, "..", "tests", "models"))

TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")

# The model and its arguments, the network in PyTorch and its arguments.
CASES = {
    "resnet50": ("resnet", {"batch": 32}, "images.resnet", {"depth": 50}),
    "wresnet50-4": ("wresnet", {"depth": 50, "widen": 4, "batch": 8},
                    "images.wresnet", {"depth": 50}),
    "gpt2-medium": ("gpt2", {"batch": 4, "layers": 24, "width": 1024,
                             "heads": 16, "dropout": 0},
                    "text.gpt", {"layers": 24}),
    "llama-1b": ("llama", {"batch": 1, "tokens": 2048, "layers": 16,
                           "width": 2048, "heads": 32, "kv_heads": 8,
                           "wide": 8192}, "text.llama", {"layers": 16}),
}


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def call(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


# ---- ours -------------------------------------------------------------------

def make_plans(folder, case, precision):
    """The plan of a training step, that of the model, and the prediction."""
    name, sizes, _, _ = case
    model = [os.path.join(MODELS, name + ".tdl"),
             *(f"-D{n}={v}" for n, v in sizes.items()), "-k", "1"]
    step, alone = (os.path.join(folder, p) for p in ("step", "alone"))
    call(TDLC, "plan", *model, "-o", alone)
    said = call(TDLC, "plan", *model, "--train", "--optimizer", "adamw",
                "--precision", precision, "--topology", "8xh100-nvlink",
                "--json", "-o", step)
    return step, alone, json.loads(said)


def draw(plan):
    """States and inputs of a model, by name."""
    rng = np.random.default_rng(0)
    with open(plan, encoding="utf-8") as f:
        tensors = json.load(f)["tensors"]
    states, inputs = {}, {}
    for t in tensors:
        shape, name = t["shape"], t["name"]
        if t["role"] == "state":
            fan = np.prod(shape[1:] if len(shape) == 4 else shape[:1] or [1])
            x = rng.standard_normal(shape, np.float32) * np.float32(fan ** -0.5)
            if name.endswith(("var", "scale")):
                x = 1 + np.float32(0.1) * abs(x)
            states[name] = x
        elif t["role"] == "input" and t["type"] == "i64":
            inputs[name] = rng.integers(0, 10, shape)
        elif t["role"] == "input":
            inputs[name] = rng.standard_normal(shape, np.float32)
    return states, inputs


def our_step(plan, values, steps, repeat):
    """Seconds of a step, bytes of the arena."""
    times = []
    for _ in range(repeat):
        said = json.loads(call(TDLRUN, plan, "--backend", "cuda", "--inputs",
                               values, "--steps", str(steps), "--json"))
        times.append(said["seconds_per_step"])
    return statistics.median(times), said["arena_bytes"]


# ---- PyTorch ----------------------------------------------------------------

def network(case):
    import images
    import layers
    import text

    def attention(p, x, to, mask=None, causal=False):
        """PyTorch's fused attention; every mask of the cases is causal."""
        y = layers.F.scaled_dot_product_attention(
            layers.to_heads(p.of("q"), x), layers.to_heads(p.of("k"), to),
            layers.to_heads(p.of("v"), to), is_causal=mask is not None)
        return layers.from_heads(p.of("out"), y)

    text.attention = attention
    module, name = case[2].split(".")
    return {"images": images, "text": text}[module].__dict__[name], layers


def torch_step(case, states, inputs, precision, compiled, steps, repeat):
    """Seconds of a step, bytes at the peak."""
    import torch
    loss_of, layers = network(case)
    torch.set_default_device("cuda")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    p = {n: torch.tensor(v) for n, v in states.items()}
    trained = [v.requires_grad_() for n, v in p.items()
               if not n.endswith(("mean", "var"))]
    fed = {n: torch.tensor(v) for n, v in inputs.items()}
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)

    def loss():
        with torch.autocast("cuda", torch.bfloat16,
                            enabled=precision == "bf16"):
            return loss_of(layers.Params(p), **fed, **case[3])

    run = torch.compile(loss) if compiled else loss

    def step():
        optimizer.zero_grad(set_to_none=True)
        run().backward()
        optimizer.step()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(steps):
            step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / steps)
    peak = torch.cuda.max_memory_allocated()
    del p, trained, fed, optimizer
    torch.cuda.empty_cache()
    return statistics.median(times), peak


def bench(name, args):
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        step, alone, predicted = make_plans(folder, case, args.precision)
        states, inputs = draw(alone)
        values = os.path.join(folder, "values.npz")
        np.savez(values, **states, **inputs)
        seconds, arena = our_step(step, values, args.steps, args.repeat)
    eager, peak = torch_step(case, states, inputs, args.precision, False,
                             args.steps, args.repeat)
    compiled, low = torch_step(case, states, inputs, args.precision, True,
                               args.steps, args.repeat)
    return {"name": name, "precision": args.precision, "seconds": seconds,
            "eager_seconds": eager, "compiled_seconds": compiled,
            "to_eager": seconds / eager, "to_compiled": seconds / compiled,
            "roofline_seconds": predicted["predicted_seconds"],
            "to_roofline": seconds / predicted["predicted_seconds"],
            "arena_bytes": arena, "eager_peak_bytes": peak,
            "compiled_peak_bytes": low, "memory_to_eager": arena / peak}


# ---- collectives ------------------------------------------------------------

def collectives(ngpus):
    """The bytes that a device receives in a step of data parallelism, and
    their rate.  None on one GPU, or without mpirun."""
    if ngpus < 2 or not shutil.which("mpirun"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "plan")
        call(TDLC, "plan", os.path.join(MODELS, "mlp.tdl"), "-D", "width=16384",
             "-D", "batch=16", "-k", str(ngpus), "--algorithm",
             "data-parallel", "--train", "-o", plan)
        said = json.loads(call("mpirun", "-n", str(ngpus), TDLRUN, plan,
                               "--backend", "cuda", "--comm", "nccl",
                               "--steps", "20", "--json"))
    moved = said["communication_bytes"] / ngpus
    return {"devices": ngpus, "bytes_per_device": moved,
            "bytes_per_second": moved / said["seconds_per_step"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", choices=["f32", "bf16"],
                        default="bf16")
    parser.add_argument("--repeat", type=int, default=5, metavar="R")
    parser.add_argument("--steps", type=int, default=20, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        skip("there is no PyTorch")
    if not torch.cuda.is_available():
        skip("there is no GPU that PyTorch can use")
    if b"not built in" in subprocess.run(
            [TDLRUN, "none", "--backend", "cuda"], stderr=subprocess.PIPE,
            check=False).stderr:
        skip("tdlrun was built without CUDA")
    print(torch.cuda.get_device_name(), file=sys.stderr)
    rows = []
    if not args.json:
        print(f"{'network':13}{'ours':>11}{'/ eager':>9}{'/ compiled':>11}"
              f"{'/ roofline':>11}{'arena':>10}{'/ eager':>9}", flush=True)
    for name in args.names or CASES:
        r = bench(name, args)
        rows.append(r)
        if not args.json:
            print(f"{name:13}{r['seconds'] * 1e3:8.2f} ms{r['to_eager']:9.2f}"
                  f"{r['to_compiled']:11.2f}{r['to_roofline']:11.2f}"
                  f"{r['arena_bytes'] / 1e9:7.2f} GB"
                  f"{r['memory_to_eager']:9.2f}", flush=True)
    moved = collectives(torch.cuda.device_count())
    if args.json:
        print(json.dumps({"gpu": torch.cuda.get_device_name(),
                          "networks": rows, "collectives": moved}, indent=2))
    elif moved:
        print(f"{moved['devices']} GPUs: {moved['bytes_per_second'] / 1e9:.1f} "
              "GB/s received by each, in a step of data parallelism")


if __name__ == "__main__":
    main()
