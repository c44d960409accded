"""What networks of images and of text have in common, in PyTorch."""
import torch
from torch.nn import functional as F


class Params:
    """Tensors by name, as seen from inside of a block."""

    def __init__(self, tensors, prefix="", training=True):
        self.tensors, self.prefix, self.training = tensors, prefix, training

    def __getitem__(self, name):
        return self.tensors[self.prefix + name]

    def of(self, name):
        return Params(self.tensors, f"{self.prefix}{name}.", self.training)


def linear(p, x):
    return F.linear(x, p["w"].T, p["b"])


def conv(p, x, stride=1, pad=None, bias=False):
    half = tuple(k // 2 for k in p["w"].shape[2:])
    return F.conv2d(x, p["w"], p["b"] if bias else None, stride,
                    half if pad is None else pad)


def batch_norm(p, x, eps=1e-5):
    """In training it changes the running statistics."""
    return F.batch_norm(x, p["mean"], p["var"], p["scale"], p["bias"],
                        p.training, 0.1, eps)


def layer_norm(p, x, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], p["scale"], p["bias"], eps)


def rms_norm(p, x, eps=1e-5):
    return F.rms_norm(x, x.shape[-1:], p["scale"], eps)


def to_heads(p, x, bias=True):
    """[batch, token, feature] to [batch, head, token, feature]."""
    heads, features = p["w"].shape[1:]
    y = F.linear(x, p["w"].flatten(1).T, p["b"].flatten() if bias else None)
    return y.unflatten(-1, (heads, features)).transpose(1, 2)


def from_heads(p, x, bias=True):
    return F.linear(x.transpose(1, 2).flatten(2), p["w"].flatten(0, 1).T,
                    p["b"] if bias else None)


def attention(p, x, to, mask=None, causal=False):
    """mask: where keys count, broadcast to [batch, head, query, key]."""
    y = F.scaled_dot_product_attention(
        to_heads(p.of("q"), x), to_heads(p.of("k"), to),
        to_heads(p.of("v"), to), mask, is_causal=causal)
    return from_heads(p.of("out"), y)


def first(length, tokens):
    """Which of the tokens are among the first length[b]."""
    at = torch.arange(tokens, device=length.device)
    return (at < length[:, None])[:, None, None]


def perceptron(p, x, active):
    return linear(p.of("down"), active(linear(p.of("up"), x)))


def label_loss(logits, label, smoothing=0.0):
    return F.cross_entropy(logits.flatten(0, -2), label.flatten(),
                           label_smoothing=smoothing)
