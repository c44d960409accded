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
from torch.nn import functional as F


class Params:
    """Tensors by name, as seen from inside of a block."""

    def __init__(self, tensors, prefix="", training=True):
        self.tensors, self.prefix, self.training = tensors, prefix, training

    def __getitem__(self, name):
        return self.tensors[self.prefix + name]

    def of(self, name):
        return Params(self.tensors, f"{self.prefix}{name}.", self.training)


@dataclass(frozen=True)
class Net:
    """A network, the small sizes at which it is tried (arguments of the TDL
    model), and its inputs by name for these."""
    loss: Callable
    sizes: dict
    inputs: Callable


# ---- layers -----------------------------------------------------------------

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
    return (torch.arange(tokens) < length[:, None])[:, None, None]


def perceptron(p, x, active):
    return linear(p.of("down"), active(linear(p.of("up"), x)))


def label_loss(logits, label, smoothing=0.0):
    return F.cross_entropy(logits.flatten(0, -2), label.flatten(),
                           label_smoothing=smoothing)


# ---- images -----------------------------------------------------------------

def images(size, classes=10, batch=8):
    return lambda: {"x": torch.randn(batch, 3, size, size),
                    "label": torch.randint(0, classes, (batch,))}


def mlp(p, x, label, depth):
    for i in range(depth):
        x = F.relu(linear(p.of(f"layer_{i}"), x))
    return F.cross_entropy(linear(p.of("logits"), x), label)


def alexnet(p, x, label):
    x = F.relu(conv(p.of("conv_1"), x, 4, 2, bias=True))
    x = F.max_pool2d(x, 3, 2)
    x = F.max_pool2d(F.relu(conv(p.of("conv_2"), x, bias=True)), 3, 2)
    for i in (3, 4, 5):
        x = F.relu(conv(p.of(f"conv_{i}"), x, bias=True))
    x = F.max_pool2d(x, 3, 2).flatten(1)
    for name in ("fc_1", "fc_2"):
        x = F.relu(linear(p.of(name), x))
    return F.cross_entropy(linear(p.of("logits"), x), label)


def vgg19(p, x, label):
    for s, depth in enumerate((2, 2, 4, 4, 4)):
        for i in range(depth):
            x = F.relu(conv(p.of(f"conv_{s}_{i}"), x, bias=True))
        x = F.max_pool2d(x, 2)
    x = x.flatten(1)
    for name in ("fc_1", "fc_2"):
        x = F.relu(linear(p.of(name), x))
    return F.cross_entropy(linear(p.of("logits"), x), label)


def inception_v3(p, x, label):
    def unit(p, x, stride=1, pad=None):
        return F.relu(batch_norm(p.of("norm"), conv(p.of("w"), x, stride, pad),
                                 1e-3))

    def chain(p, x, *names):
        for name in names:
            x = unit(p.of(name), x)
        return x

    def block_a(p, x):
        return torch.cat([chain(p, x, "a"), chain(p, x, "b_1", "b_2"),
                          chain(p, x, "c_1", "c_2", "c_3"),
                          chain(p, F.avg_pool2d(x, 3, 1, 1), "d")], 1)

    def block_b(p, x):
        b = unit(p.of("b_3"), chain(p, x, "b_1", "b_2"), 2, 0)
        return torch.cat([unit(p.of("a"), x, 2, 0), b,
                          F.max_pool2d(x, 3, 2)], 1)

    def block_c(p, x):
        return torch.cat([chain(p, x, "a"), chain(p, x, "b_1", "b_2", "b_3"),
                          chain(p, x, "c_1", "c_2", "c_3", "c_4", "c_5"),
                          chain(p, F.avg_pool2d(x, 3, 1, 1), "d")], 1)

    def block_d(p, x):
        a = unit(p.of("a_2"), chain(p, x, "a_1"), 2, 0)
        b = unit(p.of("b_4"), chain(p, x, "b_1", "b_2", "b_3"), 2, 0)
        return torch.cat([a, b, F.max_pool2d(x, 3, 2)], 1)

    def block_e(p, x):
        b, c = chain(p, x, "b_1"), chain(p, x, "c_1", "c_2")
        return torch.cat([chain(p, x, "a"), chain(p, b, "b_2"),
                          chain(p, b, "b_3"), chain(p, c, "c_3"),
                          chain(p, c, "c_4"),
                          chain(p, F.avg_pool2d(x, 3, 1, 1), "d")], 1)

    x = unit(p.of("stem_1"), x, 2, 0)
    x = chain(p, unit(p.of("stem_2"), x, 1, 0), "stem_3")
    x = chain(p, F.max_pool2d(x, 3, 2), "stem_4")
    x = F.max_pool2d(unit(p.of("stem_5"), x, 1, 0), 3, 2)
    for name, block in (("a_1", block_a), ("a_2", block_a), ("a_3", block_a),
                        ("b", block_b), ("c_1", block_c), ("c_2", block_c),
                        ("c_3", block_c), ("c_4", block_c), ("d", block_d),
                        ("e_1", block_e), ("e_2", block_e)):
        x = block(p.of(name), x)
    x = F.adaptive_avg_pool2d(x, 1).flatten(1)
    return F.cross_entropy(linear(p.of("logits"), x), label)


def densenet121(p, x, label, depth):
    def norm_conv(p, x, which, **how):
        y = F.relu(batch_norm(p.of("norm" + which), x))
        return conv(p.of(("conv" if which else "half") + which), y, **how)

    x = conv(p.of("stem"), x, 2)
    x = F.max_pool2d(F.relu(batch_norm(p.of("stem_norm"), x)), 3, 2, 1)
    for s, n in enumerate(depth):
        if s > 0:
            x = F.avg_pool2d(norm_conv(p.of(f"transition_{s}"), x, ""), 2)
        for i in range(n):
            layer = p.of(f"dense_{s}_{i}")
            y = norm_conv(layer, norm_conv(layer, x, "_1"), "_2")
            x = torch.cat([x, y], 1)
    x = F.relu(batch_norm(p.of("norm"), x)).mean((2, 3))
    return F.cross_entropy(linear(p.of("logits"), x), label)


RESNET_UNITS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3),
                101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def resnet(p, x, label, depth):
    def unit(p, x, stride=1):
        return batch_norm(p.of("norm"), conv(p.of("w"), x, stride))

    def block(p, x, stride):
        narrow = depth >= 50
        a = F.relu(unit(p.of("a"), x, 1 if narrow else stride))
        y = unit(p.of("b"), a, stride if narrow else 1)
        if narrow:
            y = unit(p.of("c"), F.relu(y))
        if x.shape != y.shape:
            x = unit(p.of("short"), x, stride)
        return F.relu(x + y)

    x = F.max_pool2d(F.relu(unit(p.of("stem"), x, 2)), 3, 2, 1)
    for s, n in enumerate(RESNET_UNITS[depth]):
        for i in range(n):
            x = block(p.of(f"block_{s}_{i}"), x, 2 if s > 0 and i == 0 else 1)
    return F.cross_entropy(linear(p.of("logits"), x.mean((2, 3))), label)


def wresnet(p, x, label, depth):
    def block(p, x, stride):
        a = F.relu(x)
        y = F.relu(conv(p.of("b"), F.relu(conv(p.of("a"), a)), stride))
        y = conv(p.of("c"), y)
        if x.shape[1] != y.shape[1]:
            x = conv(p.of("short"), a, stride)
        return x + y

    x = F.max_pool2d(conv(p.of("stem"), x, 2), 3, 2, 1)
    for s, n in enumerate(RESNET_UNITS[depth]):
        for i in range(n):
            x = block(p.of(f"block_{s}_{i}"), x, 2 if s > 0 and i == 0 else 1)
    x = F.relu(x).mean((2, 3))
    return F.cross_entropy(linear(p.of("logits"), x), label)


def vit(p, x, label, layers):
    x = conv(p.of("patches"), x, p["patches.w"].shape[2], 0, bias=True)
    x = x.flatten(2).transpose(1, 2)
    whole = p["class"].expand(len(x), 1, -1)
    x = torch.cat([whole, x], 1) + p["places"]
    for i in range(layers):
        layer = p.of(f"layer_{i}")
        y = layer_norm(layer.of("norm_1"), x, 1e-6)
        x = x + attention(layer.of("self"), y, y)
        y = layer_norm(layer.of("norm_2"), x, 1e-6)
        x = x + perceptron(layer.of("ffn"), y, F.gelu)
    x = layer_norm(p.of("norm"), x, 1e-6)[:, 0]
    return F.cross_entropy(linear(p.of("logits"), x), label)


def unet(p, x, noise, t, widen, depth, attention_at, groups):
    def norm(p, x):
        return F.group_norm(x, groups, p["scale"], p["bias"], 1e-6)

    def residual(p, x):
        y = conv(p.of("conv_1"), F.silu(norm(p.of("norm_1"), x)), bias=True)
        y = y + linear(p.of("time"), F.silu(step))[:, :, None, None]
        y = conv(p.of("conv_2"), F.silu(norm(p.of("norm_2"), y)), bias=True)
        if x.shape[1] != y.shape[1]:
            x = conv(p.of("short"), x, bias=True)
        return x + y

    def attentive(p, x):
        tokens = norm(p.of("norm"), x).flatten(2).transpose(1, 2)
        y = attention(p.of("self"), tokens, tokens)
        return x + y.transpose(1, 2).unflatten(2, x.shape[2:])

    def level(name, s, i, x):
        x = residual(p.of(f"{name}_{s}_{i}"), x)
        if x.shape[2] == attention_at:
            x = attentive(p.of(f"{name}_attention_{s}_{i}"), x)
        return x

    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000,
                                            dtype=x.dtype), 0)
    kept = kept[t][:, None, None, None]
    y = kept.sqrt() * x + (1 - kept).sqrt() * noise
    half = p["step_1.w"].shape[0] // 2
    angle = t[:, None] * torch.logspace(0, -4, half, dtype=x.dtype)
    step = torch.cat([angle.sin(), angle.cos()], 1)
    step = linear(p.of("step_2"), F.silu(linear(p.of("step_1"), step)))

    y = conv(p.of("stem"), y, bias=True)
    seen = [y]
    for s in range(len(widen)):
        for i in range(depth):
            y = level("down", s, i, y)
            seen.append(y)
        if s + 1 < len(widen):
            y = conv(p.of(f"half_{s}"), F.pad(y, (0, 1, 0, 1)), 2, 0,
                     bias=True)
            seen.append(y)
    y = residual(p.of("middle_1"), y)
    y = residual(p.of("middle_2"), attentive(p.of("middle_attention"), y))
    for s in reversed(range(len(widen))):
        for i in range(depth + 1):
            y = level("up", s, i, torch.cat([y, seen.pop()], 1))
        if s > 0:
            y = conv(p.of(f"double_{s}"), F.interpolate(y, scale_factor=2),
                     bias=True)
    y = conv(p.of("predicted"), F.silu(norm(p.of("norm"), y)), bias=True)
    return F.mse_loss(y, noise)


# ---- text -------------------------------------------------------------------

WORDS = 24


def ids(*shape):
    return torch.randint(0, WORDS, shape)


def labels(*shape):
    """Some positions have none."""
    return torch.where(torch.rand(shape) < 0.3, -100, ids(*shape))


def text(batch=4, tokens=8):
    return lambda: {"ids": ids(batch, tokens), "label": labels(batch, tokens)}


def rnn(p, x, label, layers):
    """A layer at a time, and its steps by PyTorch's own recurrent network."""
    for i in range(layers):
        cell = torch.nn.LSTM(p[f"in_{i}"].shape[0], p[f"on_{i}"].shape[0],
                             bias=False, dtype=x.dtype)
        weights = {"weight_ih_l0": p[f"in_{i}"].flatten(1).T,
                   "weight_hh_l0": p[f"on_{i}"].flatten(1).T}
        x = torch.func.functional_call(cell, weights, (x,))[0]
    return label_loss(x @ p["classify"], label)


def sinusoids(tokens, width, dtype):
    i = torch.arange(0, width, 2, dtype=dtype)
    angle = torch.arange(tokens, dtype=dtype)[:, None] / 10000 ** (i / width)
    return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def transformer(p, source, length, target, label, layers, smoothing):
    table, tokens = p["table"], source.shape[1]
    width = table.shape[1]
    at = sinusoids(tokens, width, table.dtype)
    x, y = (F.embedding(s, table) * width ** 0.5 + at for s in (source, target))
    mask = first(length, tokens)
    for i in range(layers):
        layer = p.of(f"encoder_{i}")
        x = layer_norm(layer.of("norm_1"),
                       x + attention(layer.of("self"), x, x, mask))
        x = layer_norm(layer.of("norm_2"),
                       x + perceptron(layer.of("ffn"), x, F.relu))
    for i in range(layers):
        layer = p.of(f"decoder_{i}")
        y = layer_norm(layer.of("norm_1"),
                       y + attention(layer.of("self"), y, y, causal=True))
        y = layer_norm(layer.of("norm_2"),
                       y + attention(layer.of("cross"), y, x, mask))
        y = layer_norm(layer.of("norm_3"),
                       y + perceptron(layer.of("ffn"), y, F.relu))
    return label_loss(y @ table.T, label, smoothing)


def bert(p, ids, segment, length, label, follows, layers):
    eps, tokens = 1e-12, ids.shape[1]
    x = F.embedding(ids, p["words"]) + p["places"] \
        + F.embedding(segment, p["segments.table"])
    x = layer_norm(p.of("norm"), x, eps)
    for i in range(layers):
        layer = p.of(f"layer_{i}")
        y = attention(layer.of("self"), x, x, first(length, tokens))
        x = layer_norm(layer.of("norm_1"), x + y, eps)
        y = perceptron(layer.of("ffn"), x, F.gelu)
        x = layer_norm(layer.of("norm_2"), x + y, eps)
    y = layer_norm(p.of("transform_norm"),
                   F.gelu(linear(p.of("transform"), x)), eps)
    logits = F.linear(y, p["words"], p["bias"])
    pool = torch.tanh(linear(p.of("pool"), x[:, 0]))
    return label_loss(logits, label) \
        + F.cross_entropy(linear(p.of("next_logits"), pool), follows)


def gpt(p, ids, label, layers, window=None):
    """GPT-2, and GPT-3, whose odd layers see `window` tokens."""
    tokens = ids.shape[1]
    x = F.embedding(ids, p["words"]) + p["places"]
    seen = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    for i in range(layers):
        layer, mask = p.of(f"layer_{i}"), seen
        if window is not None and i % 2 == 1:
            mask = seen & seen.triu(1 - window)
        y = layer_norm(layer.of("norm_1"), x)
        x = x + attention(layer.of("self"), y, y, mask)
        y = layer_norm(layer.of("norm_2"), x)
        x = x + perceptron(layer, y,
                           lambda v: F.gelu(v, approximate="tanh"))
    return label_loss(layer_norm(p.of("norm"), x) @ p["words"].T, label)


def rotary_attention(p, x, theta):
    def rotated(y):
        """As complex numbers."""
        half = y.shape[-1] // 2
        speed = theta ** (-torch.arange(half, dtype=y.dtype) / half)
        angle = torch.arange(y.shape[2], dtype=y.dtype)[:, None] * speed
        z = torch.complex(y[..., :half].contiguous(), y[..., half:].contiguous())
        z = z * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([z.real, z.imag], -1)

    q, k, v = (to_heads(p.of(n), x, bias=False) for n in "qkv")
    y = F.scaled_dot_product_attention(rotated(q), rotated(k), v,
                                       is_causal=True, enable_gqa=True)
    return from_heads(p.of("out"), y, bias=False)


def gated(p, x):
    return (F.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]


def llama(p, ids, label, layers, theta=500000.0):
    x = F.embedding(ids, p["words.table"])
    for i in range(layers):
        layer = p.of(f"layer_{i}")
        x = x + rotary_attention(layer.of("self"),
                                 rms_norm(layer.of("norm_1"), x), theta)
        x = x + gated(layer, rms_norm(layer.of("norm_2"), x))
    return label_loss(rms_norm(p.of("norm"), x) @ p["classify"], label)


def experts(p, x, chosen, room):
    """Expert by expert, the tokens of each text in their order."""
    chances, at = torch.topk(x @ p["router"], chosen)
    share = F.softmax(chances, -1)
    result = [torch.zeros_like(text) for text in x]
    for b, text in enumerate(x):
        for e in range(p["router"].shape[1]):
            token, choice = torch.nonzero(at[b] == e, as_tuple=True)
            token, choice = token[:room], choice[:room]
            mine = {n: p[n][e] for n in ("gate", "up", "down")}
            y = gated(mine, text[token]) * share[b, token, choice][:, None]
            result[b] = result[b].index_add(0, token, y)
    return torch.stack(result)


def moe(p, ids, label, layers, chosen, room, theta=1e6):
    x = F.embedding(ids, p["words.table"])
    for i in range(layers):
        layer = p.of(f"layer_{i}")
        x = x + rotary_attention(layer.of("self"),
                                 rms_norm(layer.of("norm_1"), x), theta)
        x = x + experts(layer.of("moe"), rms_norm(layer.of("norm_2"), x),
                        chosen, room)
    return label_loss(rms_norm(p.of("norm"), x) @ p["classify"], label)


# ---- all of them ------------------------------------------------------------

def sizes(**small):
    return {"batch": 8, "classes": 10, **small}


def text_sizes(**small):
    return {"batch": 4, "tokens": 8, "vocabulary": WORDS, "width": 16, **small}


def translation(batch=4, tokens=8):
    return {"source": ids(batch, tokens), "target": ids(batch, tokens),
            "length": torch.randint(1, tokens + 1, (batch,)),
            "label": labels(batch, tokens)}


def pretraining(batch=4, tokens=8):
    return {"ids": ids(batch, tokens), "label": labels(batch, tokens),
            "segment": torch.randint(0, 2, (batch, tokens)),
            "length": torch.randint(1, tokens + 1, (batch,)),
            "follows": torch.randint(0, 2, (batch,))}


NETS = {
    "mlp": Net(mlp, sizes(inputs=12, width=16, depth=3),
               lambda: {"x": torch.randn(8, 12),
                        "label": torch.randint(0, 10, (8,))}),
    "alexnet": Net(alexnet, sizes(image=63, width=4, hidden=24), images(63)),
    "vgg19": Net(vgg19, sizes(image=32, width=4, hidden=24), images(32)),
    "inception_v3": Net(inception_v3, sizes(image=75, n=1), images(75)),
    "densenet121": Net(densenet121,
                       sizes(image=32, growth=4, depth=[2, 3, 2, 1]),
                       images(32)),
    "resnet": Net(resnet, sizes(depth=18, image=32, width=4), images(32)),
    "resnet-50": Net(resnet, sizes(depth=50, image=32, width=4), images(32)),
    "wresnet": Net(wresnet, sizes(depth=50, image=32, width=2, widen=2),
                   images(32)),
    "rnn": Net(rnn, sizes(layers=2, hidden=8, steps=5, inputs=12, classes=6),
               lambda: {"x": torch.randn(5, 8, 12),
                        "label": torch.randint(0, 6, (5, 8))}),
    "transformer": Net(transformer,
                       text_sizes(layers=2, heads=4, wide=32, smoothing=0.1),
                       translation),
    "bert": Net(bert, text_sizes(layers=2, heads=4, wide=32),
                pretraining),
    "gpt2": Net(gpt, text_sizes(layers=2, heads=4), text()),
    "gpt3": Net(gpt, text_sizes(layers=2, heads=4, window=3),
                text()),
    "llama": Net(llama, text_sizes(layers=2, heads=4, kv_heads=2, wide=32),
                 text()),
    "moe": Net(moe, text_sizes(layers=2, heads=4, kv_heads=2, wide=32,
                               experts=4, chosen=2, room=5), text()),
    "vit": Net(vit, sizes(image=16, patch=4, layers=2, width=16, heads=4,
                          wide=32), images(16)),
    "unet": Net(unet, {"batch": 4, "image": 8, "width": 8, "widen": [1, 2],
                       "depth": 1, "attention_at": 4, "groups": 4},
                lambda: {"x": torch.randn(4, 3, 8, 8),
                         "noise": torch.randn(4, 3, 8, 8),
                         "t": torch.randint(0, 1000, (4,))}),
}
