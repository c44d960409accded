"""Networks to run in stages: those of examples/models at the sizes of
tests/models/nets.py, some of them deeper, and those of tests/onnx/exported_nets.py,
which PyTorch exports.

It needs tests/requirements-torch.txt.
"""
import contextlib
import io
import logging
import os
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "tests")
MODELS = os.path.join(HERE, "..", "examples", "models")
sys.path[:0] = [os.path.join(TESTS, "models"), os.path.join(TESTS, "onnx")]
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import torch  # noqa: E402

import exported_nets  # noqa: E402
import nets  # noqa: E402

# Sizes that make room for stages.
DEEPER = {"mlp": {"depth": 20}, "bert": {"layers": 4}, "gpt3": {"layers": 4},
          "llama": {"layers": 4}, "transformer": {"layers": 3},
          "vit": {"layers": 4}, "rnn": {"layers": 4}}
EXPORTED = "exported."


def names():
    return [*nets.NETS, *(EXPORTED + n for n in exported_nets.NETS)]


def of_examples(name, batch):
    sizes = {**nets.NETS[name].sizes, **DEEPER.get(name, {}), "batch": batch}
    model = name.partition("-")[0] + ".tdl"
    return [os.path.join(MODELS, model),
            *(f"-D{n}={v}".replace(" ", "") for n, v in sizes.items())]


def of_pytorch(name, batch, folder):
    """Exports a network for a batch, if that is not done yet."""
    path = os.path.join(folder, f"{name}-{batch}.onnx")
    net = exported_nets.build(name)
    inputs = net.inputs(exported_nets.Sizes(batch=batch))
    if not os.path.exists(path):
        chat = io.StringIO()
        with contextlib.redirect_stdout(chat), \
                contextlib.redirect_stderr(chat):
            torch.onnx.export(net.module, tuple(inputs.values()), path,
                              dynamo=False, opset_version=17,
                              input_names=list(inputs), output_names=["y"],
                              do_constant_folding=False)
    return [path, "--loss", "mse", "--batch-dim", "label=0",
            *(f"--batch-dim={n}=0" for n in inputs)]


def arguments(name, folder, batch):
    """The model and the options of tdlc that train a network on a batch; what
    is exported lies in the folder."""
    own = ["--micro-batch-statistics"]
    if name.startswith(EXPORTED):
        return of_pytorch(name[len(EXPORTED):], batch, folder) + own
    return of_examples(name, batch) + own
