"""Networks of PyTorch, small, that return their loss, for parallel.py."""
import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 32), nn.ReLU(),
                                  nn.LayerNorm(32), nn.Linear(32, 8))

    def forward(self, x, label):
        return F.cross_entropy(self.body(x), label)

    @staticmethod
    def inputs():
        return torch.randn(16, 24), torch.randint(0, 8, (16,))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.behind = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (y.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for y in self.qkv(self.before(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.behind(x))))


class Gpt(nn.Module):
    """With a tied head."""

    def __init__(self, words=48, tokens=8, width=16, depth=2):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.randn(tokens, width) * 0.1)
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids, label):
        x = self.norm(self.blocks(self.words(ids) + self.places))
        return F.cross_entropy(self.head(x).flatten(0, 1), label.flatten())

    @staticmethod
    def inputs():
        label = torch.randint(0, 48, (8, 8))
        label[:3, 2:] = -100  # not part of the loss
        return torch.randint(0, 48, (8, 8)), label


class Cnn(nn.Module):
    """With weights of classes, one of which does not count, and zeros made by
    the batch's size."""

    SMOOTHING = 0.0

    def __init__(self):
        super().__init__()
        self.register_buffer("shares", torch.linspace(0.5, 4, 8))
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), *self.norms(), nn.ReLU(),
            nn.Conv2d(8, 16, 3, padding=1, stride=2), nn.SiLU(),
            nn.AvgPool2d(2), nn.Flatten(1), nn.Linear(16 * 4, 8))

    @staticmethod
    def norms():
        return []

    def forward(self, x, label):
        y = x.new_zeros(len(x), 8) + self.body(x)
        return F.cross_entropy(y, label, self.shares, ignore_index=3,
                               label_smoothing=self.SMOOTHING)

    @staticmethod
    def inputs():
        return (torch.randn(8, 3, 8, 8),
                torch.tensor([3, 0, 1, 3, 3, 7, 5, 2]))


class Grouped(Cnn):
    """With an operator that has to be gathered, and smoothed labels, which only
    to_dtensor has."""

    SMOOTHING = 0.2

    @staticmethod
    def norms():
        return [nn.GroupNorm(2, 8)]


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
        p = p * (p >= least).type_as(p)
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


def hugging_face(name):
    """A network of transformers, small, that returns its loss."""
    import transformers as t

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            if name == "hf-gpt2":
                self.net = t.GPT2LMHeadModel(t.GPT2Config(
                    vocab_size=96, n_positions=16, n_embd=32, n_layer=2,
                    n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                    use_cache=False))
            else:
                self.net = t.ViTForImageClassification(t.ViTConfig(
                    hidden_size=16, num_hidden_layers=1, image_size=8,
                    num_attention_heads=4, intermediate_size=32, patch_size=4,
                    num_labels=8, hidden_dropout_prob=0,
                    attention_probs_dropout_prob=0))

        def forward(self, x, label):
            logits = self.net(x).logits
            return F.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                                   label.flatten())

        @staticmethod
        def inputs():
            if name == "hf-gpt2":
                return (torch.randint(0, 96, (8, 16)),
                        torch.randint(0, 96, (8, 16)))
            return torch.randn(8, 3, 8, 8), torch.randint(0, 8, (8,))
    return Net()


NETS = {"mlp": Mlp, "gpt": Gpt, "cnn": Cnn, "grouped": Grouped,
        "llama": Llama, "moe": moe, "resnet": Resnet, "unet": Unet}
NETS.update({name: lambda name=name: hugging_face(name)
             for name in ("hf-gpt2", "hf-vit")})
