"""Networks of images, see nets.py."""
import torch
from torch.nn import functional as F

from layers import (attention, batch_norm, conv, layer_norm, linear,
                    perceptron)


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
