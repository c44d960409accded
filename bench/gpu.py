"""The time of a step of training on a GPU, next to PyTorch.

	gpu.py [--precision f32|tf32|bf16] [--repeat R] [--steps N] [--eager]
	       [--lock FILE] [--json] [NAME...]

A row for each network has the time of our step; its ratios to the steps of
torch.compile, captured as a CUDA graph as ours is, and of PyTorch's eager mode,
which is not, in the same precision (bf16: autocast there, --precision bf16
here; f32 without TF32 on both sides, tf32 with it); its
ratio to the roofline that `tdlc plan --topology` predicts; and the ratio of our
arena to PyTorch's peak memory.  The three take turns, R times; a time is the
median.  --eager: torch.compile, which takes a minute for each network, is left
out.  --lock: GPUs are measured by one process at a time, that which has locked
FILE, so that several prepare their networks at once.  With several GPUs, NCCL's
rate is measured as well.

It needs a GPU, a tdlrun that was built with CUDA, and PyTorch with CUDA; it
ends with status 77 where one of these is missing.
"""
import argparse
import contextlib
import fcntl
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
sys.path.insert(0, os.path.join(HERE, "..", "tests", "models"))

TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")

# The model and its arguments, the network in PyTorch and its arguments.
CASES = {
    "resnet50": ("resnet", {"batch": 32}, "images.resnet", {"depth": 50}),
    "gpt2": ("gpt2", {"batch": 4, "dropout": 0}, "text.gpt", {"layers": 12}),
    "bert": ("bert", {"batch": 8, "layers": 12, "width": 768, "heads": 12,
                      "dropout": 0}, "text.bert", {"layers": 12}),
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
                "--precision", "bf16" if precision == "bf16" else "f32",
                "--topology", "8xh100-nvlink", "--json", "-o", step)
    return step, alone, json.loads(said)


def our_step(plan, precision, steps):
    """Seconds of a step, bytes of the arena; the step's numbers are those that
    tdlrun makes up."""
    tf32 = ["--tf32"] if precision == "tf32" else []
    said = json.loads(call(TDLRUN, plan, "--backend", "cuda", *tf32, "--steps",
                           str(steps + 2), "--json"))
    return said["seconds_per_step"], said["arena_bytes"]


# ---- PyTorch ----------------------------------------------------------------

def draw(plan):
    """States and inputs of a model, by name."""
    import torch
    with open(plan, encoding="utf-8") as f:
        tensors = json.load(f)["tensors"]
    states, inputs = {}, {}
    for t in tensors:
        shape, name = t["shape"], t["name"]
        if t["role"] == "state":
            x = 0.02 * torch.randn(shape)
            if name.endswith(("var", "scale")):
                x = 1 + x.abs()
            states[name] = x
        elif t["role"] == "input" and name == "length":
            inputs[name] = torch.full(shape, 1 << 20)
        elif t["role"] == "input" and t["type"] == "i64":
            inputs[name] = torch.randint(0, 2, shape)
        elif t["role"] == "input":
            inputs[name] = torch.randn(shape)
    return states, inputs


def network(case):
    import images
    import layers
    import text

    def attention(p, x, to, mask=None, causal=False):
        """PyTorch's fused attention; masks of all pairs are causal here."""
        causal = causal or (mask is not None and mask.dim() == 2)
        y = layers.F.scaled_dot_product_attention(
            layers.to_heads(p.of("q"), x), layers.to_heads(p.of("k"), to),
            layers.to_heads(p.of("v"), to), None if causal else mask,
            is_causal=causal)
        return layers.from_heads(p.of("out"), y)

    text.attention = attention
    module, name = case[2].split(".")
    return {"images": images, "text": text}[module].__dict__[name], layers


class Torch:
    """The network, ready to make steps."""

    def __init__(self, case, plan, precision, compiled):
        import torch
        before = torch.cuda.memory_allocated()
        loss_of, layers = network(case)
        torch.set_default_device("cuda")
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.benchmark = True
        p, fed = draw(plan)
        trained = [v.requires_grad_() for n, v in p.items()
                   if not n.endswith(("mean", "var"))]
        self.optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True,
                                           capturable=True)

        def loss():
            with torch.autocast("cuda", torch.bfloat16,
                                enabled=precision == "bf16"):
                return loss_of(layers.Params(p), **fed, **case[3])

        self.loss = torch.compile(loss) if compiled else loss
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        if compiled:
            self.capture()
        torch.cuda.synchronize()
        self.held = torch.cuda.memory_allocated() - before

    def capture(self):
        import torch
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self.step()
        except RuntimeError as e:
            print(f"PyTorch's step is not captured: {e}", file=sys.stderr)
        else:
            self.step = graph.replay

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimizer.step()

    def seconds(self, steps):
        """Of a step; and the most bytes that it and its network take."""
        import torch
        others = torch.cuda.memory_allocated() - self.held
        torch.cuda.reset_peak_memory_stats()
        for _ in range(3):
            self.step()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(steps):
            self.step()
        end.record()
        torch.cuda.synchronize()
        return (begin.elapsed_time(end) / 1e3 / steps,
                torch.cuda.max_memory_allocated() - others)


# ---- a row ------------------------------------------------------------------

@contextlib.contextmanager
def alone(lock):
    """Nobody else who knows the lock measures."""
    if not lock:
        yield
        return
    print("ready", file=sys.stderr, flush=True)
    with open(lock, "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def bench(name, args):
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        step, model, predicted = make_plans(folder, case, args.precision)
        makers = {"ours": functools.partial(our_step, step, args.precision)}
        for peer in ["eager"] + ([] if args.eager else ["compiled"]):
            makers[peer] = Torch(case, model, args.precision,
                                 peer == "compiled").seconds
        our_step(step, args.precision, 1)  # compiles its kernels
        measured = {n: [] for n in makers}
        with alone(args.lock):
            for _ in range(args.repeat):
                for n, maker in makers.items():
                    measured[n].append(maker(args.steps))
    row = {"name": name, "precision": args.precision,
           "roofline_seconds": predicted["predicted_seconds"]}
    for n, all_of in measured.items():
        row[n + "_seconds"] = statistics.median(s for s, _ in all_of)
        row[n + "_bytes"] = max(b for _, b in all_of)
    for other in ["roofline", "eager", "compiled"]:
        seconds = row.get(other + "_seconds")
        row["to_" + other] = seconds and row["ours_seconds"] / seconds
    row["memory_to_eager"] = row["ours_bytes"] / row["eager_bytes"]
    return row


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
    parser.add_argument("--precision", choices=["f32", "tf32", "bf16"],
                        default="bf16")
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--lock", metavar="FILE")
    parser.add_argument("--repeat", type=int, default=3, metavar="R")
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
        print(f"{'network':13}{'ours':>11}{'/ compiled':>11}{'/ eager':>9}"
              f"{'/ roofline':>11}{'arena':>10}{'/ eager':>9}", flush=True)
    for name in args.names or CASES:
        r = bench(name, args)
        rows.append(r)
        if not args.json:
            compiled = f"{r['to_compiled'] or float('nan'):11.2f}"
            print(f"{name:13}{r['ours_seconds'] * 1e3:8.2f} ms{compiled}"
                  f"{r['to_eager']:9.2f}{r['to_roofline']:11.2f}"
                  f"{r['ours_bytes'] / 1e9:7.2f} GB"
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
