# Tests: runtime/run compiler/onnx
"""ONNX networks that are evaluated while they train.

The accuracy that tdlrun --evaluate prints after each epoch is NumPy's for the
weights of that epoch's checkpoint, and so is what --parameters gives to a plan
that is run alone, whether it was made to be evaluated or, with weights folded
into constants, to infer.  A plan in which a trained weight is frozen is refused.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements.txt)")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import TDLC, TDLRUN, call, expect, finish, run  # noqa: E402

BATCH, WIDTH, HIDDEN, CLASSES = 8, 6, 16, 4
LOSS = ["--loss", "softmax_cross_entropy"]


def draw_weights():
    rng = np.random.default_rng(1)
    shapes = {"a.w": (HIDDEN, WIDTH), "a.b": (HIDDEN,),
              "norm.scale": (HIDDEN,), "norm.bias": (HIDDEN,),
              "norm.mean": (HIDDEN,), "norm.var": (HIDDEN,),
              "b.w": (HIDDEN, CLASSES)}
    weights = {n: (0.5 * rng.standard_normal(s)).astype(np.float32)
               for n, s in shapes.items()}
    weights["norm.var"] = abs(weights["norm.var"]) + np.float32(0.5)
    weights["gain"] = np.float32(1.25)  # no weight unless it is named
    return weights


def write_network(path, weights):
    """A layer whose matrix lies transposed, a normalisation, another layer;
    beside the logits, whether they are right."""
    nodes = [
        helper.make_node("Transpose", ["a.w"], ["a.turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "a.turned"], ["product"]),
        helper.make_node("Add", ["product", "a.b"], ["h"]),
        helper.make_node("BatchNormalization",
                         ["h", "norm.scale", "norm.bias", "norm.mean",
                          "norm.var"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
        helper.make_node("MatMul", ["r", "b.w"], ["scores"]),
        helper.make_node("Mul", ["scores", "gain"], ["logits"]),
        helper.make_node("ArgMax", ["logits"], ["best"], axis=1, keepdims=0),
        helper.make_node("Equal", ["best", "target"], ["same"]),
        helper.make_node("Cast", ["same"], ["right"], to=TensorProto.FLOAT),
    ]

    def value(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(
        nodes, "net",
        [value("x", TensorProto.FLOAT, BATCH, WIDTH),
         value("target", TensorProto.INT64, BATCH)],
        [value("logits", TensorProto.FLOAT, BATCH, CLASSES),
         value("right", TensorProto.FLOAT, BATCH)],
        [numpy_helper.from_array(np.asarray(v), n)
         for n, v in weights.items()],
        value_info=[value("product", TensorProto.FLOAT, BATCH, HIDDEN)])
    onnx.save(helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)


def logits_of(w, x):
    h = x @ w["a.w"].T + w["a.b"]
    n = (h - w["norm.mean"]) / np.sqrt(w["norm.var"] + 1e-5)
    scores = np.maximum(n * w["norm.scale"] + w["norm.bias"], 0) @ w["b.w"]
    return scores * w["gain"]


def loss_of(w, x, target):
    y = logits_of(w, x).astype(np.float64)
    y -= y.max(axis=1, keepdims=True)
    chosen = y[np.arange(len(y)), target]
    return float(np.mean(np.log(np.exp(y).sum(axis=1)) - chosen))


def accuracy_of(w, x, target):
    return float(np.mean(logits_of(w, x).argmax(axis=1) == target))


def draw_data(path, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, WIDTH)).astype(np.float32)
    target = (x[:, 0] > 0) * 2 + (x[:, 1] * x[:, 2] > 0)
    target = target.astype(np.int64)
    np.savez(path, x=x, target=target, label=target)
    return x, target


def load(path, weights):
    """The weights, with those of a checkpoint."""
    with np.load(path) as states:
        return {n: states[n] if n in states else v
                for n, v in weights.items()}


def refused(what, word, *command):
    done = subprocess.run(command, capture_output=True, text=True)
    expect(f"{what}: status {done.returncode}, {done.stderr}",
           done.returncode == 1 and word in done.stderr and
           "--evaluate" in done.stderr)


def check(folder, k, train_options, evaluate_options):
    """Trains; each epoch's accuracy and loss have to be NumPy's."""
    def path(name):
        return os.path.join(folder, name)

    weights = draw_weights()
    write_network(path("net.onnx"), weights)
    draw_data(path("train.npz"), 160, 2)
    x, target = draw_data(path("test.npz"), 48, 3)
    run(TDLC, "plan", path("net.onnx"), "-k", str(k), "--train", *LOSS,
        "--optimizer", "adam,lr=0.02", *train_options, "-o", path("a.plan"))
    run(TDLC, "plan", path("net.onnx"), "-k", str(k), "--evaluate",
        *evaluate_options, "-o", path("b.plan"))
    result = call(
        TDLRUN, path("a.plan"), "--data", path("train.npz"), "--epochs", "5",
        "--shuffle", "--evaluate", path("b.plan"), "--evaluate-data",
        path("test.npz"), "--checkpoint", path("c"), "--keep", "0")
    seen = []
    for epoch in result["evaluations"]:
        w = load(path(f"c/step-{epoch['step']}.npz"), weights)
        want = accuracy_of(w, x, target)
        seen.append(epoch["means"]["right"])
        expect(f"accuracy {seen[-1]}, NumPy's {want}",
               abs(seen[-1] - want) < 1e-6)
        if "loss" in epoch["means"]:
            want, got = loss_of(w, x, target), epoch["means"]["loss"]
            expect(f"loss {got}, NumPy's {want}", abs(got - want) < 1e-5)
    print(f"{k} workers, {train_options}, {evaluate_options}: {seen}")
    expect("nothing was learnt", seen[-1] > seen[0])
    # The same from the checkpoint alone.
    run(TDLC, "plan", path("net.onnx"), "-k", str(k), "-o", path("i.plan"))
    for name in "b", "i":
        alone = call(TDLRUN, path(f"{name}.plan"), "--parameters", path("c"),
                     "--data", path("test.npz"))
        got = alone["evaluation"]["right"]
        expect(f"{name}.plan: {got} alone, {seen[-1]} beside training",
               got == seen[-1])
    return path


def check_resumed(path):
    """The loss of an epoch is the mean over its steps, wherever it was
    interrupted."""
    def train(folder, *options):
        lines = run(TDLRUN, path("a.plan"), "--data", path("train.npz"),
                    "--checkpoint", path(folder), *options).splitlines()
        return re.search("loss ([^,]*),", lines[0])[1]

    want = train("whole", "--epochs", "1")
    train("parts", "--steps", "7")
    train("parts", "--steps", "12", "--resume")
    got = train("parts", "--epochs", "1", "--resume")
    expect(f"the epoch's loss is {got} after resuming, not {want}",
           got == want)


def check_shown(path):
    """What is frozen is listed, and short floats are no reason to warn."""
    def show(*options):
        done = subprocess.run(
            [TDLC, "show", path("net.onnx"), "--train", *LOSS, *options],
            capture_output=True, text=True, check=True)
        expect(f"{options}: {done.stderr}", not done.stderr)
        words = [line.split() for line in done.stdout.splitlines()]
        return {w[1] for w in words if w and w[0] == "fixed"}

    expect("fixed", show() == {"norm.mean", "norm.var"})
    expect("frozen", show("--freeze", "a.*", "--freeze", "norm.*") ==
           {"a.w", "a.b", *(n for n in draw_weights() if "norm" in n)})
    show("--precision", "bf16")


def check_refused(path):
    """A plan in which what is trained is a constant."""
    plan = path("frozen.plan")
    run(TDLC, "plan", path("net.onnx"), "-k", "2", "--evaluate", *LOSS,
        "--freeze", "a.w", "-o", plan)
    refused("--evaluate", "a.w", TDLRUN, path("a.plan"), "--data",
            path("train.npz"), "--evaluate", plan, "--evaluate-data",
            path("test.npz"))
    refused("--parameters", "a.w", TDLRUN, plan, "--parameters", path("c"),
            "--data", path("test.npz"))


def check_number(path):
    """A single number that was trained, because it was named."""
    named = ["--train-only", "*"]
    run(TDLC, "plan", path("net.onnx"), "-k", "2", "--train", *LOSS, *named,
        "--optimizer", "sgd,lr=0.5", "-o", path("n.plan"))
    run(TDLRUN, path("n.plan"), "--data", path("train.npz"), "--epochs", "1",
        "--checkpoint", path("n"))
    run(TDLC, "plan", path("net.onnx"), "-k", "2", "--evaluate", *named, "-o",
        path("given.plan"))
    states = path("n/step-20.npz")
    weights = load(states, draw_weights())
    expect("the number was not trained", weights["gain"] != np.float32(1.25))
    with np.load(path("test.npz")) as data:
        x, batch = data["x"], {n: data[n][:BATCH] for n in ("x", "target")}
    np.savez(path("batch.npz"), **batch)
    run(TDLRUN, path("given.plan"), "--parameters", states, "--inputs",
        path("batch.npz"), "--outputs", path("out.npz"))
    with np.load(path("out.npz")) as out:
        expect("other logits than NumPy's", np.allclose(
            out["logits"], logits_of(weights, x[:BATCH]), atol=1e-4))
    refused("--parameters", "gain", TDLRUN, path("i.plan"), "--parameters",
            states, "--inputs", path("batch.npz"))
    # Another file may have all that the model has.
    np.savez(path("all.npz"), **draw_weights())
    run(TDLRUN, path("i.plan"), "--parameters", path("all.npz"), "--inputs",
        path("batch.npz"))


with tempfile.TemporaryDirectory() as tmp:
    for number, (devices, train, evaluate) in enumerate((
            (2, [], LOSS),
            (1, ["--freeze", "norm.*"], [*LOSS, "--freeze", "norm.*"]),
            (4, [], ["--freeze", "norm.mean", "--freeze", "norm.var"]))):
        at = os.path.join(tmp, str(number))
        os.mkdir(at)
        there = check(at, devices, train, evaluate)
        if number == 0:
            check_refused(there)
            check_number(there)
            check_shown(there)
            check_resumed(there)
finish()
