"""Networks as users of PyTorch have them, small, with seeded random weights.

The language models and ViT are those of the transformers package, from
configurations, nothing is downloaded; the others are written out below.
"""
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

VOCABULARY = 96


@dataclass(frozen=True)
class Sizes:
    batch: int = 2
    tokens: int = 12


@dataclass
class Net:
    """A module, its inputs by name for given sizes, and the dimensions of
    inputs that an export may leave open: {input: {dimension: size}}."""
    module: nn.Module
    inputs: Callable[[Sizes], dict]
    open: dict = field(default_factory=dict)


BATCH = {0: "batch"}
TEXT = {0: "batch", 1: "tokens"}


# ---- transformers -----------------------------------------------------------

class OneResult(nn.Module):
    """A model of transformers, which takes keywords and returns a record, as
    a module that takes a list and returns a tensor."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *args):
        return self.model(**dict(zip(self.names, args))).logits


def of_transformers(model, inputs, **open_dims):
    return Net(OneResult(model, list(open_dims)), inputs, open_dims)


def tokens(sizes, length=None):
    return torch.randint(0, VOCABULARY, (sizes.batch, length or sizes.tokens))


def text(sizes):
    """Tokens, and a mask of padding: each sequence is shorter by one than the
    one before."""
    lengths = sizes.tokens - torch.arange(sizes.batch)
    return {"input_ids": tokens(sizes), "attention_mask":
            (torch.arange(sizes.tokens) < lengths[:, None]).long()}


def bert():
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=32)
    return of_transformers(transformers.BertForMaskedLM(config), text,
                           input_ids=TEXT, attention_mask=TEXT)


def gpt2():
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=32, n_embd=32, n_layer=2, n_head=4,
        use_cache=False)
    return of_transformers(transformers.GPT2LMHeadModel(config), text,
                           input_ids=TEXT, attention_mask=TEXT)


def llama():
    """Rotary positions, two heads of keys for four of queries."""
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=32, use_cache=False)
    return of_transformers(transformers.LlamaForCausalLM(config), text,
                           input_ids=TEXT, attention_mask=TEXT)


def mixtral():
    """The experts in the form "batched_mm": each token gathers the weights of
    its experts.  The other, a loop over the experts that some token has
    chosen, is of a size that depends on data."""
    config = transformers.MixtralConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        num_local_experts=4, num_experts_per_tok=2,
        max_position_embeddings=32, use_cache=False)
    model = transformers.MixtralForCausalLM(config)
    model.set_experts_implementation("batched_mm")
    return of_transformers(model, text, input_ids=TEXT, attention_mask=TEXT)


def vit():
    config = transformers.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, image_size=32, patch_size=8, num_labels=10)
    return of_transformers(
        transformers.ViTForImageClassification(config),
        lambda s: {"pixel_values": torch.randn(s.batch, 3, 32, 32)},
        pixel_values=BATCH)


def t5():
    """Eager: PyTorch 2.13 does not decompose T5's attention otherwise."""
    config = transformers.T5Config(
        vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=64, num_layers=2,
        num_heads=4, use_cache=False, attn_implementation="eager")
    return of_transformers(
        transformers.T5ForConditionalGeneration(config),
        lambda s: {**text(s), "decoder_input_ids": tokens(s, 7)},
        input_ids=TEXT, attention_mask=TEXT, decoder_input_ids=BATCH)


def whisper():
    config = transformers.WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=16, d_model=32, encoder_layers=2,
        decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
        max_source_positions=16, max_target_positions=16, use_cache=False,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1)
    return of_transformers(
        transformers.WhisperForConditionalGeneration(config),
        lambda s: {"input_features": torch.randn(s.batch, 16, 32),
                   "decoder_input_ids": tokens(s, 7),
                   "decoder_attention_mask": torch.ones(
                       s.batch, 7, dtype=torch.int64)},
        input_features=BATCH, decoder_input_ids=BATCH,
        decoder_attention_mask=BATCH)


# ---- images -----------------------------------------------------------------

def of_images(module, size=16):
    return Net(module, lambda s: {"x": torch.randn(s.batch, 3, size, size)},
               {"x": BATCH})


class Residual(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outer), nn.ReLU(),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outer))
        self.short = nn.Sequential(
            nn.Conv2d(inner, outer, 1, stride, bias=False),
            nn.BatchNorm2d(outer))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def resnet():
    return of_images(nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1), Residual(8, 8, 1), Residual(8, 16, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)), size=32)


class Inverted(nn.Module):
    """MobileNet's block: widen, filter each channel, weigh channels, narrow."""

    def __init__(self, width):
        super().__init__()
        wide = 4 * width
        self.widen = nn.Sequential(nn.Conv2d(width, wide, 1, bias=False),
                                   nn.BatchNorm2d(wide), nn.Hardswish())
        self.filter = nn.Sequential(
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False),
            nn.BatchNorm2d(wide), nn.ReLU6())
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, width, 1), nn.ReLU(),
            nn.Conv2d(width, wide, 1), nn.Hardsigmoid())
        self.narrow = nn.Sequential(nn.Conv2d(wide, width, 1, bias=False),
                                    nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.filter(self.widen(x))
        return x + self.narrow(y * self.weigh(y))


def mobilenet():
    return of_images(nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.Hardswish(), Inverted(8), Inverted(8),
        nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dropout(0.2),
        nn.Linear(8, 10)))


class ConvNextBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.filter = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.3))

    def forward(self, x):
        y = self.norm(self.filter(x).permute(0, 2, 3, 1))
        y = self.scale * self.narrow(F.gelu(self.widen(y)))
        return x + y.permute(0, 3, 1, 2)


def convnext():
    return of_images(nn.Sequential(
        nn.Conv2d(3, 8, 4, 4), ConvNextBlock(8), nn.Conv2d(8, 16, 2, 2),
        ConvNextBlock(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.LayerNorm(16), nn.Linear(16, 10)), size=32)


class Step(nn.Module):
    """A U-Net's block, which gets the time of the diffusion."""

    def __init__(self, inner, outer, time):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, inner), nn.GroupNorm(4, outer)
        self.conv1 = nn.Conv2d(inner, outer, 3, padding=1)
        self.conv2 = nn.Conv2d(outer, outer, 3, padding=1)
        self.time = nn.Linear(time, outer)
        self.short = nn.Conv2d(inner, outer, 1)

    def forward(self, x, t):
        y = self.conv1(F.silu(self.norm1(x)))
        y = y + self.time(t)[:, :, None, None]
        return self.conv2(F.silu(self.norm2(y))) + self.short(x)


class ImageAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(4, width), heads
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x):
        n, c, h, w = x.shape
        qkv = self.qkv(self.norm(x))
        q, k, v = qkv.reshape(n, 3, self.heads, c // self.heads,
                              h * w).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(-1, -2).reshape(n, c, h, w))


class UNet(nn.Module):
    def __init__(self, width=8, time=16):
        super().__init__()
        self.time_width = time
        self.time = nn.Sequential(nn.Linear(time, time), nn.SiLU())
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down1 = Step(width, width, time)
        self.half1 = nn.Conv2d(width, width, 3, 2, 1)
        self.down2 = Step(width, 2 * width, time)
        self.half2 = nn.AvgPool2d(2)
        self.middle1 = Step(2 * width, 2 * width, time)
        self.attention = ImageAttention(2 * width, 2)
        self.middle2 = Step(2 * width, 2 * width, time)
        self.twice1 = nn.ConvTranspose2d(2 * width, 2 * width, 4, 2, 1)
        self.up1 = Step(4 * width, width, time)
        self.twice2 = nn.Upsample(scale_factor=2, mode="nearest")
        self.up2 = Step(2 * width, width, time)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, time):
        half = self.time_width // 2
        rates = torch.exp(-math.log(1e4) * torch.arange(half) / half)
        angles = time[:, None].float() * rates[None, :]
        t = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        a = self.down1(self.first(x), t)
        b = self.down2(self.half1(a), t)
        y = self.middle1(self.half2(b), t)
        y = self.middle2(self.attention(y), t)
        y = self.up1(torch.cat([self.twice1(y), b], dim=1), t)
        y = self.up2(torch.cat([self.twice2(y), a], dim=1), t)
        return self.last(F.silu(y))


def unet():
    return Net(UNet(), lambda s: {"x": torch.randn(s.batch, 3, 8, 8),
                                  "time": torch.randint(0, 1000, (s.batch,))},
               {"x": BATCH, "time": BATCH})


def dcgan():
    """The generator of images."""
    return Net(nn.Sequential(
        nn.ConvTranspose2d(8, 16, 4, 1, 0, bias=False), nn.BatchNorm2d(16),
        nn.ReLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False),
        nn.BatchNorm2d(8), nn.LeakyReLU(0.2),
        nn.ConvTranspose2d(8, 3, 4, 2, 1, bias=False), nn.Tanh()),
        lambda s: {"x": torch.randn(s.batch, 8, 1, 1)}, {"x": BATCH})


# ---- sequences --------------------------------------------------------------

class LstmLanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 16)
        self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True)
        self.head = nn.Linear(24, VOCABULARY)

    def forward(self, x):
        return self.head(self.lstm(self.embed(x))[0])


def lstm():
    return Net(LstmLanguageModel(), lambda s: {"x": tokens(s, 6)},
               {"x": BATCH})


class Tagger(nn.Module):
    """A GRU in both directions."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 16)
        self.gru = nn.GRU(16, 12, bidirectional=True, batch_first=True)
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        return F.log_softmax(self.head(self.gru(self.embed(x))[0]), dim=-1)


def gru():
    return Net(Tagger(), lambda s: {"x": tokens(s, 6)}, {"x": BATCH})


class Audio(nn.Module):
    """Convolutions that widen by dilation, gated, as in WaveNet."""

    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Conv1d(1, width, 9, 4, 4)
        self.layers = nn.ModuleList(
            nn.Conv1d(width, 2 * width, 3, dilation=2 ** i) for i in range(3))
        self.last = nn.Conv1d(width, 5, 1)

    def forward(self, x):
        x = self.first(x)
        for i, layer in enumerate(self.layers):
            y = layer(F.pad(x, (2 * 2 ** i, 0)))
            a, b = y.chunk(2, dim=1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return self.last(F.elu(x)).mean(dim=-1)


def audio():
    return Net(Audio(), lambda s: {"x": torch.randn(s.batch, 1, 128)},
               {"x": BATCH})


class Encoder(nn.Module):
    """PyTorch's own transformer, with a mask of padding.  The older exporter
    writes the number of its tokens into the model."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation="gelu",
                                           batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, nn.LayerNorm(32),
                                          enable_nested_tensor=False)

    def forward(self, x, padding):
        return self.body(self.embed(x), src_key_padding_mask=padding)


def encoder():
    def inputs(s):
        s = Sizes(batch=s.batch)
        return {"x": tokens(s), "padding": text(s)["attention_mask"] == 0}

    return Net(Encoder(), inputs, {"x": BATCH, "padding": BATCH})


class Experts(nn.Module):
    """A mixture of experts that computes all of them, and takes of each token
    what its router chose: what remains whole is divided by experts."""

    def __init__(self, width=16, count=4, chosen=2):
        super().__init__()
        self.embed, self.chosen = nn.Embedding(VOCABULARY, width), chosen
        self.router = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(torch.randn(count, width, 32) / 4)
        self.down = nn.Parameter(torch.randn(count, 32, width) / 6)

    def forward(self, x):
        x = self.embed(x)
        p, chosen = F.softmax(self.router(x), dim=-1).topk(self.chosen)
        weights = torch.zeros(*x.shape[:2], self.up.shape[0]).scatter(
            -1, chosen, p / p.sum(-1, keepdim=True))
        y = F.silu(torch.einsum("btd,edf->betf", x, self.up))
        y = torch.einsum("betf,efd->betd", y, self.down)
        return x + torch.einsum("betd,bte->btd", y, weights)


def experts():
    return Net(Experts(), lambda s: {"x": tokens(s)}, {"x": TEXT})


class Recommender(nn.Module):
    """A network on tables: categories, numbers, embeddings, a product."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, 8) for n in (10, 20, 30))
        self.numbers = nn.Linear(5, 8)
        self.top = nn.Sequential(nn.Linear(8 + 6, 16), nn.SELU(),
                                 nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, numbers, categories):
        rows = [self.numbers(numbers)]
        rows += [t(categories[:, i]) for i, t in enumerate(self.tables)]
        x = torch.stack(rows, dim=1)
        pairs = torch.bmm(x, x.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, offset=-1)
        return self.top(torch.cat([rows[0], pairs[:, i, j]], dim=1))


def recommender():
    return Net(Recommender(), lambda s: {
        "numbers": torch.randn(s.batch, 5),
        "categories": torch.randint(0, 10, (s.batch, 3))},
        {"numbers": BATCH, "categories": BATCH})


NETS = {f.__name__: f for f in (
    bert, gpt2, llama, mixtral, vit, t5, whisper, unet, resnet, mobilenet,
    convnext, dcgan, lstm, gru, audio, encoder, experts, recommender)}


def build(name):
    """The network of that name, the same at every call."""
    torch.manual_seed(7)
    net = NETS[name]()
    net.module.eval()
    for module in net.module.modules():  # statistics as after training
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return net
