# Tests: compiler/portfolio libtdl
"""The plans of tensor parallelism that Hugging Face's configurations have, as pins
of networks of these configurations: each weight is cut as the plan says, and
a step of LLaMA moves two sums a layer.
"""
import fnmatch
import json
import os
import tempfile

import package

package.needs("torch", "transformers", "tdl.torch")
import torch  # noqa: E402
import transformers as t  # noqa: E402
from torch.distributed.tensor import Replicate, Shard  # noqa: E402

import tdl  # noqa: E402
import tdl.torch  # noqa: E402, F401
from programs import expect, finish, sample  # noqa: E402

SIZES = dict(vocab_size=48, hidden_size=32, intermediate_size=64,
             num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=32,
             use_cache=False, attn_implementation="eager")
EXPERTS = dict(num_experts=4, num_local_experts=4, num_experts_per_tok=2,
               moe_intermediate_size=32, shared_expert_intermediate_size=32,
               decoder_sparse_step=1, experts_implementation="batched_mm")
NETS = {"llama": (t.LlamaConfig, t.LlamaForCausalLM, {}),
        "qwen3": (t.Qwen3Config, t.Qwen3ForCausalLM, {"head_dim": 8}),
        "mixtral": (t.MixtralConfig, t.MixtralForCausalLM, EXPERTS)}
# By the style, the dimension of nn.Linear's weight, [to, from], that is cut;
# of stacked experts' it is one more.
CUTS = {"colwise": 0, "packed_colwise": 0, "rowwise": 1}
K, ROWS, TOKENS = 2, 2, 8


class Net(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, ids):
        return self.net(ids).logits


def wanted(plan, name, ndim):
    """A weight's placement by the dictionary, as the format says it: what names
    the weight, or the module that it is in."""
    for key in (name, name.rpartition(".")[0]):
        for pattern, style in plan.items():
            if fnmatch.fnmatchcase(key, f"net.model.{pattern}") and \
                    style in CUTS:
                return Shard(CUTS[style] + (ndim == 3))
    return Replicate()


def check(name, folder):
    config, kind, more = NETS[name]
    torch.manual_seed(1)
    module = Net(kind(config(**SIZES, **more))).eval()
    styles = config.base_model_tp_plan
    path = os.path.join(folder, "config.json")
    with open(path, "w") as f:
        json.dump({"base_model_tp_plan": styles}, f)
    ids = torch.randint(0, 48, (ROWS, TOKENS))
    plan = tdl.plan(module, (ids,), K, evaluate=True, pins=path)
    for weight, x in module.named_parameters():
        got, want = plan.placements(weight), wanted(styles, weight, x.ndim)
        expect(f"{name}: {weight} is {got}, not {want}",
               got is None or tuple(got) == (want,))
    known = [n for n, _ in module.named_parameters() if plan.placements(n)]
    expect(f"{name}: {known} are the weights that the plan has",
           len(known) > len(SIZES))
    moved = plan.report()["communication_bytes"]
    sums = 2 * SIZES["num_hidden_layers"] * ROWS * TOKENS * 32 * 4
    print(f"{name}: {moved} bytes, {2 * (K - 1) * sums} of sums", flush=True)
    if name == "llama":
        expect(f"{name}: {moved} bytes", moved <= 1.25 * 2 * (K - 1) * sums)


with tempfile.TemporaryDirectory() as top:
    for net in sample(list(NETS), 3):
        try:
            check(net, top)
        except Exception as e:  # each network is looked at
            expect(f"{net}: {type(e).__name__}: {str(e)[:2000]}", False)
finish()
