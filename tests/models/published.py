# Tests: compiler/model
"""The judges of train_step.py judged: nets.py against PyTorch's own networks.

Models of the transformers package and torch.nn.Transformer, small, with random
weights, have to have the loss that nets.py computes of the same weights.
"""
import logging
import os
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch
    import transformers
    from torch.nn import functional as F

    import images
    import layers
    import nets
    import text
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

HEADS, KV_HEADS, WIDTH, WIDE, LAYERS, WORDS = 4, 2, 16, 32, 2, nets.WORDS


class Weights:
    """The weights of a module, in the form that TDL's names ask for."""

    def __init__(self, module):
        # Norms would be 1 and biases 0.
        with torch.no_grad():
            for w in module.parameters():
                w.add_(0.3 * torch.randn_like(w))
        self.of = {n: w.detach() for n, w in module.state_dict().items()}

    def linear(self, name, transposed=True):
        w = self.of[name + ".weight"]
        return {"w": w.T if transposed else w, "b": self.of[name + ".bias"]}

    def norm(self, name):
        r = {"scale": self.of[name + ".weight"]}
        if name + ".bias" in self.of:
            r["bias"] = self.of[name + ".bias"]
        return r


def by_heads(w, heads=HEADS):
    """A linear map to heads."""
    r = {"w": w["w"].unflatten(1, (heads, -1))}
    if w.get("b") is not None:
        r["b"] = w["b"].unflatten(0, (heads, -1))
    return r


def from_heads(w):
    return {**w, "w": w["w"].unflatten(0, (HEADS, -1))}


def chunk(w, i, n):
    """Part i of n of a linear map to several things."""
    return {"w": w["w"].chunk(n, 1)[i], "b": w["b"].chunk(n)[i]}


def flat(tree, prefix=""):
    """{"a": {"b": x}} as {"a.b": x}."""
    if not isinstance(tree, dict):
        return {prefix: tree}
    return {n: v for name, inner in tree.items()
            for n, v in flat(inner, f"{prefix}.{name}".strip(".")).items()}


def loss_of(function, tree, *args):
    return function(layers.Params(flat(tree)), *args)


def mask_of(length, tokens):
    return (torch.arange(tokens) < length[:, None]).long()


# ---- the networks: pairs of losses ------------------------------------------

def bert():
    model = transformers.BertForPreTraining(transformers.BertConfig(
        vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, intermediate_size=WIDE,
        max_position_embeddings=8)).eval()
    w, x = Weights(model), nets.pretraining()
    def layer(i):
        at = f"bert.encoder.layer.{i}."
        inner = at + "attention.self."
        return {"self": {
                    "q": by_heads(w.linear(inner + "query")),
                    "k": by_heads(w.linear(inner + "key")),
                    "v": by_heads(w.linear(inner + "value")),
                    "out": from_heads(
                        w.linear(at + "attention.output.dense"))},
                "norm_1": w.norm(at + "attention.output.LayerNorm"),
                "ffn": {"up": w.linear(at + "intermediate.dense"),
                        "down": w.linear(at + "output.dense")},
                "norm_2": w.norm(at + "output.LayerNorm")}

    tree = {"words": w.of["bert.embeddings.word_embeddings.weight"],
            "places": w.of["bert.embeddings.position_embeddings.weight"],
            "segments.table":
                w.of["bert.embeddings.token_type_embeddings.weight"],
            "norm": w.norm("bert.embeddings.LayerNorm"),
            "pool": w.linear("bert.pooler.dense"),
            "transform": w.linear("cls.predictions.transform.dense"),
            "transform_norm": w.norm("cls.predictions.transform.LayerNorm"),
            "bias": w.of["cls.predictions.bias"],
            "next_logits": w.linear("cls.seq_relationship"),
            **{f"layer_{i}": layer(i) for i in range(LAYERS)}}
    theirs = model(x["ids"], mask_of(x["length"], 8), x["segment"],
                   labels=x["label"], next_sentence_label=x["follows"])
    return theirs.loss, loss_of(text.bert, tree, x["ids"], x["segment"],
                                x["length"], x["label"], x["follows"], LAYERS)


def gpt2():
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=WORDS, n_positions=8, n_embd=WIDTH, n_layer=LAYERS,
        n_head=HEADS)).eval()
    w, x = Weights(model), nets.sentences()

    def layer(i):
        at = f"transformer.h.{i}."
        qkv = w.linear(at + "attn.c_attn", transposed=False)
        return {"norm_1": w.norm(at + "ln_1"), "norm_2": w.norm(at + "ln_2"),
                "self": {
                    **{n: by_heads(chunk(qkv, j, 3))
                       for j, n in enumerate("qkv")},
                    "out": from_heads(w.linear(at + "attn.c_proj", False))},
                "up": w.linear(at + "mlp.c_fc", False),
                "down": w.linear(at + "mlp.c_proj", False)}

    tree = {"words": w.of["transformer.wte.weight"],
            "places": w.of["transformer.wpe.weight"],
            "norm": w.norm("transformer.ln_f"),
            **{f"layer_{i}": layer(i) for i in range(LAYERS)}}
    logits = model(x["ids"]).logits
    return layers.label_loss(logits, x["label"]), \
        loss_of(text.gpt, tree, x["ids"], x["label"], LAYERS)


def rotary_layer(w, i):
    """What LLaMA and Mixtral share."""
    at = f"model.layers.{i}."
    def heads(name, n):
        return by_heads({"w": w.of[f"{at}self_attn.{name}_proj.weight"].T}, n)

    out = w.of[at + "self_attn.o_proj.weight"].T
    return {"norm_1": w.norm(at + "input_layernorm"),
            "norm_2": w.norm(at + "post_attention_layernorm"),
            "self": {"q": heads("q", HEADS), "k": heads("k", KV_HEADS),
                     "v": heads("v", KV_HEADS),
                     "out": from_heads({"w": out})}}


def rotary_network(w, layer):
    return {"words.table": w.of["model.embed_tokens.weight"],
            "norm": w.norm("model.norm"), "classify": w.of["lm_head.weight"].T,
            **{f"layer_{i}": layer(i) for i in range(LAYERS)}}


def rotary_config(**how):
    return {"vocab_size": WORDS, "hidden_size": WIDTH, "rms_norm_eps": 1e-5,
            "intermediate_size": WIDE, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
            "rope_parameters": {"rope_type": "default", "rope_theta": 5e5},
            **how}


def llama():
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**rotary_config())).eval()
    w, x = Weights(model), nets.sentences()

    def layer(i):
        at = f"model.layers.{i}.mlp."
        return {**rotary_layer(w, i),
                **{n: w.of[f"{at}{n}_proj.weight"].T
                   for n in ("gate", "up", "down")}}

    logits = model(x["ids"]).logits
    return layers.label_loss(logits, x["label"]), \
        loss_of(text.llama, rotary_network(w, layer), x["ids"], x["label"],
                LAYERS)


def moe():
    """With room for all; Mixtral leaves no token out."""
    model = transformers.MixtralForCausalLM(transformers.MixtralConfig(
        num_local_experts=4, num_experts_per_tok=2, output_router_logits=True,
        router_aux_loss_coef=0.5, **rotary_config())).eval()
    w, x = Weights(model), nets.sentences()

    def layer(i):
        at = f"model.layers.{i}.mlp."
        gate, up = w.of[at + "experts.gate_up_proj"].mT.chunk(2, 2)
        return {**rotary_layer(w, i), "moe": {
            "router": w.of[at + "gate.weight"].T, "gate": gate, "up": up,
            "down": w.of[at + "experts.down_proj"].mT}}

    theirs = model(x["ids"])
    return layers.label_loss(theirs.logits, x["label"]) \
        + 0.5 * theirs.aux_loss, \
        loss_of(text.moe, rotary_network(w, layer), x["ids"], x["label"],
                LAYERS, 2, 8, 5e5, 0.5)


def vit():
    model = transformers.ViTForImageClassification(transformers.ViTConfig(
        hidden_size=WIDTH, num_hidden_layers=LAYERS, intermediate_size=WIDE,
        num_attention_heads=HEADS, image_size=16, patch_size=4, num_labels=10,
        layer_norm_eps=1e-6)).eval()
    w, x = Weights(model), nets.pictures(16)()

    def layer(i):
        at = f"vit.layers.{i}."
        return {"norm_1": w.norm(at + "layernorm_before"),
                "norm_2": w.norm(at + "layernorm_after"),
                "self": {
                    **{n: by_heads(w.linear(f"{at}attention.{n}_proj"))
                       for n in "qkv"},
                    "out": from_heads(w.linear(at + "attention.o_proj"))},
                "ffn": {"up": w.linear(at + "mlp.fc1"),
                        "down": w.linear(at + "mlp.fc2")}}

    tree = {"patches": w.linear("vit.embeddings.patch_embeddings.projection",
                                transposed=False),
            "class": w.of["vit.embeddings.cls_token"].flatten(),
            "places": w.of["vit.embeddings.position_embeddings"][0],
            "norm": w.norm("vit.layernorm"), "logits": w.linear("classifier"),
            **{f"layer_{i}": layer(i) for i in range(LAYERS)}}
    logits = model(x["x"]).logits
    return F.cross_entropy(logits, x["label"]), \
        loss_of(images.vit, tree, x["x"], x["label"], LAYERS)


def transformer():
    """The stacks of torch.nn; the tables are made here."""
    how = {"d_model": WIDTH, "nhead": HEADS, "dim_feedforward": WIDE,
           "dropout": 0.0, "batch_first": True}
    model = torch.nn.ModuleDict({
        "encoder": torch.nn.TransformerEncoder(
            torch.nn.TransformerEncoderLayer(**how), LAYERS,
            enable_nested_tensor=False),
        "decoder": torch.nn.TransformerDecoder(
            torch.nn.TransformerDecoderLayer(**how), LAYERS)})
    w, x = Weights(model), nets.translation()
    table = torch.randn(WORDS, WIDTH)

    def attention(name):
        qkv = {"w": w.of[name + ".in_proj_weight"].T,
               "b": w.of[name + ".in_proj_bias"]}
        return {**{n: by_heads(chunk(qkv, j, 3)) for j, n in enumerate("qkv")},
                "out": from_heads(w.linear(name + ".out_proj"))}

    def layer(name, i, norms):
        at = f"{name}.layers.{i}."
        r = {"self": attention(at + "self_attn"),
             "ffn": {"up": w.linear(at + "linear1"),
                     "down": w.linear(at + "linear2")},
             **{f"norm_{j}": w.norm(f"{at}norm{j}")
                for j in range(1, norms + 1)}}
        if norms == 3:
            r["cross"] = attention(at + "multihead_attn")
        return r

    tree = {"table": table,
            **{f"encoder_{i}": layer("encoder", i, 2) for i in range(LAYERS)},
            **{f"decoder_{i}": layer("decoder", i, 3) for i in range(LAYERS)}}
    at = text.sinusoids(8, WIDTH, table.dtype)
    source, target = (F.embedding(x[n], table) * WIDTH ** 0.5 + at
                      for n in ("source", "target"))
    hidden = mask_of(x["length"], 8) == 0
    later = torch.nn.Transformer.generate_square_subsequent_mask(8)
    source = model["encoder"](source, src_key_padding_mask=hidden)
    y = model["decoder"](target, source, tgt_mask=later,
                         memory_key_padding_mask=hidden)
    return layers.label_loss(y @ table.T, x["label"], 0.1), \
        loss_of(text.transformer, tree, x["source"], x["length"], x["target"],
                x["label"], LAYERS, 0.1)


def main():
    torch.manual_seed(1)
    failed = 0
    for network in (bert, gpt2, llama, moe, transformer, vit):
        theirs, ours = (loss.item() for loss in network())
        wrong = abs(ours / theirs - 1) > 1e-6
        failed += wrong
        print(f"{'FAIL' if wrong else 'PASS'}: {network.__name__}: {ours}, "
              f"{theirs} published")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
