"""Networks of text and of other sequences; see nets.py."""
import torch
from torch.nn import functional as F

from layers import (attention, first, from_heads, label_loss, layer_norm,
                    linear, perceptron, rms_norm, to_heads)


def rnn(p, x, label, layers):
    """Layer by layer; PyTorch's LSTM does all steps of one."""
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
    x, y = (F.embedding(s, table) * width ** 0.5 + at
            for s in (source, target))
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
        """A pair of halves as complex numbers, times exp(i angle)."""
        half = y.shape[-1] // 2
        x = y.to(torch.promote_types(y.dtype, torch.float32))
        on = {"dtype": x.dtype, "device": x.device}
        speed = theta ** (-torch.arange(half, **on) / half)
        angle = torch.arange(x.shape[2], **on)[:, None] * speed
        z = torch.complex(x[..., :half].clone(), x[..., half:].clone())
        z = z * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([z.real, z.imag], -1).to(y.dtype)

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
    """Expert by expert, the tokens of each text in their order; an expert
    takes the first `room` of them."""
    logits = x @ p["router"]
    most, at = torch.topk(logits, chosen)
    share = F.softmax(most, -1)
    result = [torch.zeros_like(text) for text in x]
    for b, text in enumerate(x):
        for e in range(p["router"].shape[1]):
            token, choice = torch.nonzero(at[b] == e, as_tuple=True)
            token, choice = token[:room], choice[:room]
            mine = {n: p[n][e] for n in ("gate", "up", "down")}
            y = gated(mine, text[token]) * share[b, token, choice][:, None]
            result[b] = result[b].index_add(0, token, y)
    used = F.one_hot(at, logits.shape[-1]).to(x.dtype).mean((0, 1)).sum(0)
    return torch.stack(result), used, F.softmax(logits, -1).mean((0, 1))


def moe(p, ids, label, layers, chosen, room, theta=1e6, balance=0.02):
    x = F.embedding(ids, p["words.table"])
    used, probability = [], []
    for i in range(layers):
        layer = p.of(f"layer_{i}")
        x = x + rotary_attention(layer.of("self"),
                                 rms_norm(layer.of("norm_1"), x), theta)
        y, f, q = experts(layer.of("moe"), rms_norm(layer.of("norm_2"), x),
                          chosen, room)
        x = x + y
        used.append(f)
        probability.append(q)
    uneven = len(f) * (torch.stack(used).mean(0)
                       @ torch.stack(probability).mean(0))
    return label_loss(rms_norm(p.of("norm"), x) @ p["classify"], label) \
        + balance * uneven
