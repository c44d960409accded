"""Networks on the processor: generated kernels, and with --library those of oneDNN
where they fit, beside PyTorch and ONNX Runtime.

Each network is exported by PyTorch, planned for one device and run in this
process, in turns with PyTorch and, where nothing is trained, with ONNX Runtime:
a step of each, R times.  A row has the median of a step's time on the clock, and
of PyTorch's and ONNX Runtime's by ours, more than 1 where ours is faster; then
the same of processor time, of all threads, which says the same on a machine that
others use, too.  With --library a network has a row of each kind of ours, and one
of the faster of the two.

	cpu.py [--batch 1,8] [--train] [--threads 2] [--repeat R] [--keep FOLDER]
	       [--library] [--profile] [--json] [NAME...]
	cpu.py --operators [--threads 2] [--repeat R] [--json] [NAME...]

--train has a step of gradient descent in place of a run.  A FOLDER keeps what is
exported, for the next time.  --profile runs ours alone, R times, for perf.

--operators has operators in place of networks: by processor time of R steps, the
kernels of the operator and those of its gradients, and PyTorch's times by ours.
"""
import argparse
import contextlib
import io
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "onnx"))
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import exported_nets as nets  # noqa: E402

TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")
RATE = 1e-4


# ---- the networks -----------------------------------------------------------

class Bottleneck(nn.Module):
    def __init__(self, inner, width, stride):
        super().__init__()
        outer = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(), nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outer, 1, bias=False), nn.BatchNorm2d(outer))
        self.short = nn.Identity() if inner == outer else nn.Sequential(
            nn.Conv2d(inner, outer, 1, stride, bias=False),
            nn.BatchNorm2d(outer))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def resnet50():
    blocks, inner = [], 64
    for stage, count in enumerate((3, 4, 6, 3)):
        for i in range(count):
            width = 64 << stage
            blocks.append(Bottleneck(inner, width, 2 if stage and not i else 1))
            inner = 4 * width
    return nets.of_images(nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(inner, 1000)), size=224)


def bert():
    config = transformers.BertConfig(
        hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    return nets.of_transformers(transformers.BertForMaskedLM(config),
                                nets.text, input_ids=nets.TEXT,
                                attention_mask=nets.TEXT)


def gpt2():
    config = transformers.GPT2Config(use_cache=False, resid_pdrop=0,
                                     embd_pdrop=0, attn_pdrop=0)
    return nets.of_transformers(transformers.GPT2LMHeadModel(config),
                                nets.text, input_ids=nets.TEXT,
                                attention_mask=nets.TEXT)


def vit():
    config = transformers.ViTConfig(num_labels=1000)
    return nets.of_transformers(
        transformers.ViTForImageClassification(config),
        lambda s: {"pixel_values": torch.randn(s.batch, 3, 224, 224)},
        pixel_values=nets.BATCH)


def unet():
    return nets.Net(nets.UNet(width=64, time=128), lambda s: {
        "x": torch.randn(s.batch, 3, 64, 64),
        "time": torch.randint(0, 1000, (s.batch,))})


def mobilenet():
    layers, inner = [nn.Conv2d(3, 16, 3, 2, 1), nn.Hardswish()], 16
    for width, count in ((24, 2), (48, 3), (96, 4)):
        layers += [nn.Conv2d(inner, width, 3, 2, 1, bias=False),
                   nn.BatchNorm2d(width)]
        layers += [nets.Inverted(width) for _ in range(count)]
        inner = width
    return nets.of_images(nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(),
        nn.Linear(inner, 1000)), size=224)


class LanguageModel(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.embed = nn.Embedding(nets.VOCABULARY, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, nets.VOCABULARY)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0])


def lstm():
    return nets.Net(LanguageModel(), lambda s: {"x": nets.tokens(s, 32)})


NETS = {f.__name__: f for f in (resnet50, bert, gpt2, vit, unet, mobilenet,
                                lstm)}


# ---- operators ----------------------------------------------------------------

# By name: parameters with their shapes, the operator and its arguments in TDL, and
# what PyTorch makes of the same parameters.
OPERATORS = {
    "max_pool": ({"x": (4, 64, 112, 112)}, "max_pool2d",
                 "kernel = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]",
                 lambda x: F.max_pool2d(x, 3, 2, 1)),
    "depthwise": ({"x": (4, 96, 56, 56), "w": (96, 1, 3, 3)},
                  "conv2d_grouped", "group = 96, pads = [1, 1, 1, 1]",
                  lambda x, w: F.conv2d(x, w, None, 1, 1, 1, 96)),
    "depthwise_2": ({"x": (4, 96, 56, 56), "w": (96, 1, 3, 3)},
                    "conv2d_grouped",
                    "group = 96, strides = [2, 2], pads = [1, 1, 1, 1]",
                    lambda x, w: F.conv2d(x, w, None, 2, 1, 1, 96)),
    "conv_2": ({"x": (4, 64, 56, 56), "w": (128, 64, 3, 3)}, "conv2d",
               "strides = [2, 2], pads = [1, 1, 1, 1]",
               lambda x, w: F.conv2d(x, w, None, 2, 1)),
    "layer_norm": ({"x": (1024, 768), "scale": (768,), "bias": (768,)},
                   "layer_norm", "",
                   lambda x, s, b: F.layer_norm(x, (768,), s, b)),
    "gelu": ({"x": (1024, 3072)}, "gelu", "", F.gelu),
    "softmax": ({"x": (12, 512, 512)}, "softmax", "",
                lambda x: F.softmax(x, -1)),
    "log_softmax": ({"x": (256, 8192)}, "log_softmax", "axes = [-1]",
                    lambda x: F.log_softmax(x, -1)),
}
OPERATOR_MODEL = """{imports}
op apart(y[..b], t[..b]) -> l[] =
    lambda : Sum(lambda ..b: (y[..b] - t[..b]) * (y[..b] - t[..b]))
model m() {{
    {params}
    input t{shape}
    y = {call}
    loss = apart(y, t)
    output loss
}}
"""


def operator_plan(name, shape, folder):
    params, op, arguments, _ = OPERATORS[name]
    model, plan = (os.path.join(folder, n) for n in ("m.tdl", "plan"))
    text = OPERATOR_MODEL.format(
        imports="\n".join(f'import "{n}.tdl"' for n in (
            "conv", "elementwise", "norm", "pool")),
        params="\n    ".join(f"param {n}{list(d)}" for n, d in params.items()),
        shape=list(shape),
        call=f"{op}({', '.join([*params, arguments]).rstrip(', ')})")
    with open(model, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([TDLC, "plan", model, "-k", "1", "-o", plan, "--train",
                    "--no-fuse", "--optimizer", "sgd,lr=0.01"], check=True,
                   stdout=subprocess.DEVNULL)
    return plan


def kernel_seconds(name, shape, args):
    """Of the operator's kernels, and of those of its gradients."""
    op = OPERATORS[name][1]
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.json")
        subprocess.run([TDLRUN, operator_plan(name, shape, folder),
                        "--threads", str(args.threads), "--profile", profile,
                        "--steps", str(args.repeat + 2)], check=True,
                       stdout=subprocess.DEVNULL)
        with open(profile, encoding="utf-8") as f:
            kernels = json.load(f)["kernels"]
    parts = [(k["name"], k["seconds"]) for k in kernels]
    gradient = sum(s for n, s in parts if n.startswith(op + "_grad"))
    return sum(s for n, s in parts if n.startswith(op)) - gradient, gradient


def operator_of_pytorch(name, args):
    """The shape of the result, the seconds of both."""
    params, _, _, made = OPERATORS[name]
    x = [torch.randn(d, requires_grad=True) for d in params.values()]
    y = made(*x)
    dy = torch.randn(y.shape)
    steps = {"forward": lambda: made(*x),
             "gradient": lambda: torch.autograd.grad(y, x, dy,
                                                     retain_graph=True)}
    times = measured(steps, args.repeat)
    return y.shape, times["forward"][1], times["gradient"][1]


def bench_operator(name, args):
    shape, *theirs = operator_of_pytorch(name, args)
    ours_ = kernel_seconds(name, shape, args)
    return {"name": name, "forward": ours_[0], "gradient": ours_[1],
            "pytorch": dict(zip(("forward", "gradient"), theirs))}


def bench_operators(args):
    results = []
    if not args.json:
        print(f"{'operator':12}{'forward':>12}{'PyTorch':>9}{'gradients':>12}"
              f"{'PyTorch':>9}", flush=True)
    for name in args.names or OPERATORS:
        r = bench_operator(name, args)
        results.append(r)
        if not args.json:
            cells = "".join(f"{r[k] * 1e3:9.2f} ms{r['pytorch'][k] / r[k]:9.2f}"
                            for k in ("forward", "gradient"))
            print(f"{name:12}{cells}", flush=True)
    if args.json:
        print(json.dumps({"threads": args.threads, "operators": results},
                         indent=2))


# ---- the three of them --------------------------------------------------------

def build(name, args):
    torch.manual_seed(7)
    net = NETS[name]()
    net.module.train(args.train)
    return net


def export(net, inputs, path, args):
    options = {"training": torch.onnx.TrainingMode.TRAINING,
               "do_constant_folding": False} if args.train else {}
    chat = io.StringIO()
    with contextlib.redirect_stdout(chat), contextlib.redirect_stderr(chat):
        torch.onnx.export(net.module, tuple(inputs.values()), path,
                          dynamo=False, opset_version=17, output_names=["y"],
                          input_names=list(inputs), **options)


def planned(net, inputs, folder, args):
    """The model, and a plan of it for one device."""
    model, plan = (os.path.join(folder, n) for n in ("model.onnx", "plan"))
    if not os.path.exists(model):
        export(net, inputs, model, args)
    train = ["--train", "--loss", "mse", "--optimizer", f"sgd,lr={RATE}"]
    subprocess.run([TDLC, "plan", model, "-k", "1", "-o", plan,
                    *train * args.train], check=True,
                   stdout=subprocess.DEVNULL)
    return model, plan


def ours(plan, inputs, kernels="generated"):
    import tdl
    run = tdl.Plan.load(plan).run(kernels=kernels)
    feed = {n: v.numpy() for n, v in inputs.items()}
    taken = [t["name"] for t in tdl.Plan.load(plan).tables()["tensors"]
             if t["role"] == "input"]
    feed |= {n: np.float64(RATE) for n in taken if n == "lr"}
    return lambda: run.step({n: feed[n] for n in taken})


def pytorch(net, inputs):
    def step():
        with torch.inference_mode():
            net.module(*inputs.values())
    return step


def pytorch_training(net, inputs):
    given = {n: v for n, v in inputs.items() if n != "label"}
    by = torch.optim.SGD(net.module.parameters(), lr=RATE)

    def step():
        by.zero_grad()
        F.mse_loss(net.module(*given.values()), inputs["label"]).backward()
        by.step()
    return step


def onnx_runtime(model, inputs, args):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    feed = {i.name: inputs[i.name].numpy() for i in session.get_inputs()}
    return lambda: session.run(None, feed)


def programs(name, batch, folder, args):
    """A step of each, by name."""
    net = build(name, args)
    torch.manual_seed(11)
    inputs = net.inputs(nets.Sizes(batch=batch, tokens=args.tokens))
    model, plan = planned(net, inputs, folder, args)
    if args.train:
        with torch.no_grad():
            y = net.module(*inputs.values())
        inputs["label"] = torch.randn(y.shape)
    steps = {"ours": ours(plan, inputs)}
    if args.library:
        steps["library"] = ours(plan, inputs, "library")
    if args.profile:
        return {"ours": steps.popitem()[1]}
    if args.train:
        return steps | {"pytorch": pytorch_training(net, inputs)}
    return steps | {"pytorch": pytorch(net, inputs),
                    "onnxruntime": onnx_runtime(model, inputs, args)}


def seconds(step):
    """On the clock, and of processors."""
    clock, own = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - clock, time.process_time() - own


def idle():
    """Threads that wait for work in loops fall asleep."""
    time.sleep(0.05)


def measured(steps, repeat):
    """By program: the medians of both times."""
    times = {n: [] for n in steps}
    for step in steps.values():
        step()
    for _ in range(repeat):
        for n, step in steps.items():
            idle()
            times[n].append(seconds(step))
    return {n: [statistics.median(x) for x in zip(*t)]
            for n, t in times.items()}


# ---- the table ----------------------------------------------------------------

def bench(name, batch, args):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if args.keep:
            kind = "train" if args.train else "run"
            folder = os.path.join(args.keep, f"{name}-{batch}-{kind}")
            os.makedirs(folder, exist_ok=True)
        return measured(programs(name, batch, folder, args), args.repeat)


def row(name, batch, times, mine):
    cells = [f"{name:12}{batch:6}"]
    for i in range(2):
        cells.append(f"{mine[i] * 1e3:9.1f} ms")
        cells += [f"{times[n][i] / mine[i]:9.2f}" if n in times
                  else f"{'':9}" for n in ("pytorch", "onnxruntime")]
    return "".join(cells)


def rows(name, batch, times):
    """One of generated kernels; of the library's, too, and of the faster."""
    lines = [row(name, batch, times, times["ours"])]
    if "library" in times:
        best = [min(x) for x in zip(times["ours"], times["library"])]
        lines += [row("  oneDNN", batch, times, times["library"]),
                  row("  faster", batch, times, best)]
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", default="1,8", metavar="B,..",
                        type=lambda s: [int(b) for b in s.split(",")])
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=7, metavar="R")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    for name in args.names:
        known = OPERATORS if args.operators else NETS
        if name not in known:
            parser.error(f"'{name}' is none of {', '.join(known)}")
    return args


def main():
    args = parse_arguments()
    mine = sorted(os.sched_getaffinity(0))[:args.threads]
    os.sched_setaffinity(0, mine)   # before any of them starts its threads
    torch.set_num_threads(args.threads)
    if args.operators:
        bench_operators(args)
        return
    results = []
    if not args.json:
        print(f"{'network':12}{'batch':>6}{'clock':>12}{'PyTorch':>9}"
              f"{'ONNX RT':>9}{'processor':>12}{'PyTorch':>9}{'ONNX RT':>9}",
              flush=True)
    for name in args.names or NETS:
        for batch in args.batch:
            times = bench(name, batch, args)
            results.append({"name": name, "batch": batch, "seconds": {
                n: {"clock": t[0], "processor": t[1]}
                for n, t in times.items()}})
            if not args.json:
                print(rows(name, batch, times), flush=True)
    if args.json:
        print(json.dumps({"threads": args.threads, "train": args.train,
                          "networks": results}, indent=2))


if __name__ == "__main__":
    main()
