"""Networks of PyTorch, small, that return their loss, for parallel.py."""
import torch
from torch import nn
from torch.nn import functional as F


def norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


def turned(x, angles):
    """Rotary embeddings."""
    a, b = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Attention(nn.Module):
    """With groups of heads that share keys and values."""

    def __init__(self, width, heads, shared, tokens):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.q, self.k, self.v, self.o = (
            nn.Linear(a, b, bias=False) for a, b in
            [(width, width), (width, self.size * shared),
             (width, self.size * shared), (width, width)])
        rates = 100.0 ** -torch.linspace(0, 1, self.size // 2)
        self.register_buffer("angles", torch.arange(tokens)[:, None] * rates)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (f(x).view(batch, tokens, -1, self.size).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        q, k = turned(q, self.angles), turned(k, self.angles)
        k, v = (y.repeat_interleave(self.heads // self.shared, dim=1)
                for y in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, tokens, width))


class Gated(nn.Module):
    def __init__(self, width, wide):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, wide, bias=False)
                              for _ in range(2))
        self.down = nn.Linear(wide, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """The two best of each token's experts, weighted; all are computed."""

    def __init__(self, width, wide, count):
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(torch.randn(count, width, wide) * 0.2)
        self.down = nn.Parameter(torch.randn(count, wide, width) * 0.2)

    def forward(self, x):
        p = self.router(x).softmax(-1)
        least = p.topk(2, dim=-1).values[..., 1:]
        p = p * (p >= least)
        p = p / p.sum(-1, keepdim=True)
        h = F.silu(torch.einsum("btw,ewh->beth", x, self.up))
        y = torch.einsum("beth,ehw->betw", h, self.down)
        return torch.einsum("betw,bte->btw", y, p)


class Llama(nn.Module):
    WORDS, TOKENS = 48, 8

    def __init__(self, inner=lambda: Gated(16, 32), depth=2, width=16):
        super().__init__()
        self.words = nn.Embedding(self.WORDS, width)
        self.attention = nn.ModuleList(Attention(width, 4, 2, self.TOKENS)
                                       for _ in range(depth))
        self.inner = nn.ModuleList(inner() for _ in range(depth))
        self.scales = nn.ParameterList(
            torch.ones(width) + 0.1 * torch.randn(width)
            for _ in range(2 * depth + 1))
        self.head = nn.Linear(width, self.WORDS, bias=False)

    def forward(self, ids, label):
        x = self.words(ids)
        for i, (attention, inner) in enumerate(zip(self.attention,
                                                   self.inner)):
            x = x + attention(norm(x, self.scales[2 * i]))
            x = x + inner(norm(x, self.scales[2 * i + 1]))
        y = self.head(norm(x, self.scales[-1]))
        return F.cross_entropy(y.flatten(0, 1), label.flatten())

    def inputs(self):
        return tuple(torch.randint(0, self.WORDS, (8, self.TOKENS))
                     for _ in range(2))


def moe():
    return Llama(lambda: Experts(16, 16, 4))


class Residual(nn.Module):
    def __init__(self, before, behind, stride):
        super().__init__()
        self.one = nn.Conv2d(before, behind, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(behind, behind, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(behind) for _ in range(2))
        self.side = nn.Conv2d(before, behind, 1, stride)

    def forward(self, x):
        y = F.relu(self.norms[0](self.one(x)))
        return F.relu(self.norms[1](self.two(y)) + self.side(x))


class Resnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1),
                                  Residual(8, 8, 1), Residual(8, 16, 2))
        self.head = nn.Linear(16, 8)

    def forward(self, x, label):
        return F.cross_entropy(self.head(self.body(x).mean((2, 3))), label)

    @staticmethod
    def inputs():
        return torch.randn(8, 3, 8, 8), torch.randint(0, 8, (8,))


class Unet(nn.Module):
    """Down and up again, beside what was there before."""

    def __init__(self, width=8):
        super().__init__()
        self.into = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.inner = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.back = nn.Conv2d(3 * width, width, 3, padding=1)
        self.out = nn.Conv2d(width, 3, 1)

    def forward(self, x, noise):
        top = F.silu(self.into(x))
        y = F.silu(self.down(top))
        y = y + F.silu(self.inner(y))
        y = F.interpolate(y, scale_factor=2.0, mode="nearest")
        y = F.silu(self.back(torch.cat([y, top], dim=1)))
        return F.mse_loss(self.out(y), noise)

    @staticmethod
    def inputs():
        return torch.randn(8, 3, 8, 8), torch.randn(8, 3, 8, 8)


NETS = {"llama": Llama, "moe": moe, "resnet": Resnet, "unet": Unet}
