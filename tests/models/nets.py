"""The networks of examples/models in PyTorch's own operators.

Each is a function of its parameters and its inputs that gives the loss.
Parameters come by the names that they have in TDL, and in TDL's layouts:
linear maps are [inputs, outputs], heads [features, head, feature of the head].
Nothing is taken from our operators: torch.nn.functional, and what autograd
makes of it, is the judge.
"""
from collections.abc import Callable
from dataclasses import dataclass

import torch

import images
import text

WORDS = 24


@dataclass(frozen=True)
class Net:
    """A network, the small sizes at which it is tried (arguments of the TDL
    model), and its inputs by name for these."""
    loss: Callable
    sizes: dict
    inputs: Callable


# ---- inputs -----------------------------------------------------------------

def pictures(size, classes=10, batch=8):
    return lambda: {"x": torch.randn(batch, 3, size, size),
                    "label": torch.randint(0, classes, (batch,))}


def ids(*shape):
    return torch.randint(0, WORDS, shape)


def labels(*shape):
    """Some positions have none."""
    return torch.where(torch.rand(shape) < 0.3, -100, ids(*shape))


def sentences(batch=4, tokens=8):
    return {"ids": ids(batch, tokens), "label": labels(batch, tokens)}


def translation(batch=4, tokens=8):
    return {"source": ids(batch, tokens), "target": ids(batch, tokens),
            "length": torch.randint(1, tokens + 1, (batch,)),
            "label": labels(batch, tokens)}


def pretraining(batch=4, tokens=8):
    return {"ids": ids(batch, tokens), "label": labels(batch, tokens),
            "segment": torch.randint(0, 2, (batch, tokens)),
            "length": torch.randint(1, tokens + 1, (batch,)),
            "follows": torch.randint(0, 2, (batch,))}


# ---- all of them ------------------------------------------------------------

def of_images(loss, image, **small):
    return Net(loss, {"batch": 8, "classes": 10, "image": image, **small},
               pictures(image))


def of_text(loss, inputs=sentences, **small):
    return Net(loss, {"batch": 4, "tokens": 8, "vocabulary": WORDS,
                      "layers": 2, "width": 16, "heads": 4, **small}, inputs)


NETS = {
    "mlp": Net(images.mlp,
               {"batch": 8, "inputs": 12, "width": 16, "depth": 3},
               lambda: {"x": torch.randn(8, 12),
                        "label": torch.randint(0, 10, (8,))}),
    "alexnet": of_images(images.alexnet, 63, width=4, hidden=24,
                         dropout=0),
    "vgg19": of_images(images.vgg19, 32, width=4, hidden=24,
                         dropout=0),
    "inception_v3": of_images(images.inception_v3, 75, n=1, dropout=0),
    "densenet121": of_images(images.densenet121, 32, growth=4,
                             depth=[2, 3, 2, 1]),
    "resnet": of_images(images.resnet, 32, depth=18, width=4),
    "resnet-50": of_images(images.resnet, 32, depth=50, width=4),
    "wresnet": of_images(images.wresnet, 32, depth=50, width=2, widen=2),
    "rnn": Net(text.rnn,
               {"batch": 8, "layers": 2, "hidden": 8, "steps": 5,
                "inputs": 12, "classes": 6},
               lambda: {"x": torch.randn(5, 8, 12),
                        "label": torch.randint(0, 6, (5, 8))}),
    "transformer": of_text(text.transformer, translation, wide=32,
                           smoothing=0.1, dropout=0),
    "bert": of_text(text.bert, pretraining, wide=32, dropout=0),
    "gpt2": of_text(text.gpt, dropout=0),
    "gpt3": of_text(text.gpt, window=3),
    "llama": of_text(text.llama, kv_heads=2, wide=32),
    "moe": of_text(text.moe, kv_heads=2, wide=32, experts=4, chosen=2,
                   room=5),
    "vit": of_images(images.vit, 16, patch=4, layers=2, width=16, heads=4,
                     wide=32),
    "unet": Net(images.unet,
                {"batch": 4, "image": 8, "width": 8, "widen": [1, 2],
                 "depth": 1, "attention_at": 4, "groups": 4,
                 "dropout": 0},
                lambda: {"x": torch.randn(4, 3, 8, 8),
                         "noise": torch.randn(4, 3, 8, 8),
                         "t": torch.randint(0, 1000, (4,))}),
}
