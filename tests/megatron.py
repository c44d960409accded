# Tests: compiler/planners compiler/portfolio
"""Megatron's plan of transformers moves what Megatron-LM moves.

The bytes are computed here from the sizes of a model alone, as the papers do
(arXiv 1909.08053, 2205.05198): an all-reduce of n bytes over t devices moves
2 (t - 1) n in all, a reduce-scatter or an all-gather half of that.  A layer has
two all-reduces of b*s*h elements forwards and two backwards, the embedding one
forwards, the classifier one backwards, and the loss those of numbers per token.
What differs is a term of its own, each with its reason.  Plans are run and
verified, and what they move is counted.

	megatron.py [--all] [--table]

--table runs nothing, and prints the bytes and the formulas of each plan.
"""
import argparse
import itertools
import os
import sys
import tempfile

from programs import ALL, MODELS, TDLC, TDLRUN, call, sample, words

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
LAYERS, BATCH, TOKENS, WIDTH, VOCABULARY = 2, 2, 8, 32, 48
TEXT = {"batch": BATCH, "tokens": TOKENS, "vocabulary": VOCABULARY,
        "layers": LAYERS, "width": WIDTH, "heads": 8}
LLAMA = {**TEXT, "kv_heads": 8, "wide": 48}
SIZES = {
    "gpt2": TEXT, "gptj": TEXT, "falcon": {**TEXT, "wide": 48},
    "gpt3": {**TEXT, "window": 4}, "llama": LLAMA, "bert": TEXT,
    "llama-2": {**LLAMA, "kv_heads": 2},
    "transformer": TEXT, "moe": {**LLAMA, "experts": 8, "room": 4},
    "vit": {"batch": BATCH, "image": 16, "patch": 4, "layers": LAYERS,
            "width": WIDTH, "heads": 8, "classes": VOCABULARY},
}
WEIGHTS = 4  # bytes of an element of a weight's gradient, of the loss, ..


class Formula:
    """The bytes of a step on t devices; e: of an element of an activation."""

    def __init__(self, name, t, e, train, sequence):
        self.t, self.e, self.train, self.sequence = t, e, train, sequence
        self.hidden = BATCH * (17 if name == "vit" else TOKENS) * WIDTH
        self.total = 0
        getattr(self, name.replace("-", "_"))()

    # Collectives, of so many elements of e bytes.

    def all_reduce(self, times, n, e=None):
        self.total += times * 2 * (self.t - 1) * n * (e or self.e)

    def half(self, times, n, e=None):
        """A reduce-scatter, or an all-gather."""
        self.total += times * (self.t - 1) * n * (e or self.e)

    # Parts of models.

    def embedding(self):
        """Not of less precision, as Megatron's is: weights are read as they
        are stored."""
        self.all_reduce(1, self.hidden, WEIGHTS)

    def pair(self, times=LAYERS, n=None):
        """Contractions by columns, however many, then one by rows."""
        n = n or self.hidden
        self.all_reduce(times, n)
        if self.train:
            self.all_reduce(times, n)

    def loss(self, rows):
        """The maximum and the sum of each token, as Megatron's; and one number
        for all tokens, where Megatron has one of each."""
        self.all_reduce(2, rows, WEIGHTS)
        self.all_reduce(1, 1, WEIGHTS)

    def classifier(self, n=None):
        if self.train:
            self.all_reduce(1, n or self.hidden)

    def between(self, norms, biases, of_norm):
        """With sequence parallelism the devices have terms of the gradients of
        norms, of_norm weights each, and parts of those of biases behind
        rows."""
        if self.sequence:
            self.all_reduce(norms * of_norm, WIDTH, WEIGHTS)
            self.half(biases, WIDTH)

    # Models.

    def gpt2(self):
        self.embedding()
        self.pair()
        self.pair()
        self.classifier()
        self.loss(BATCH * TOKENS)
        self.between(2 * LAYERS + 1, 2 * LAYERS, 2)

    gpt3 = gpt2

    def llama(self):
        self.embedding()
        self.pair()
        self.pair()
        self.classifier()
        self.loss(BATCH * TOKENS)
        self.between(2 * LAYERS + 1, 0, 1)

    def llama_2(self):
        """Two heads of keys and values: where devices are more, t/2 of them
        have the same one, and add up its gradient."""
        self.llama()
        heads = LLAMA["heads"]
        if self.train and self.t > 2:
            self.total += 2 * LAYERS * 2 * (self.t - 2) * \
                BATCH * TOKENS * (WIDTH // heads) * self.e

    def gptj(self):
        """Attention and feed-forward are added to the residual together: one
        reduction forwards and one backwards.  But that sum has f32, of terms
        of less precision, of which two move no more than it."""
        self.embedding()
        self.pair()
        if self.e < WEIGHTS:
            self.all_reduce(LAYERS, self.hidden)
        self.classifier()
        self.loss(BATCH * TOKENS)

    def falcon(self):
        """The same; and all devices have the one head of keys and values, and
        add up its gradient."""
        self.gptj()
        if self.train:
            self.all_reduce(2 * LAYERS,
                            BATCH * TOKENS * (WIDTH // TEXT["heads"]))

    def bert(self):
        """Also what says whether texts belong together: columns, then rows."""
        self.embedding()
        self.pair()
        self.pair()
        self.classifier()
        self.all_reduce(1, BATCH * 2)
        self.classifier(BATCH * WIDTH)
        self.loss(BATCH * TOKENS)

    def transformer(self):
        """Decoders' keys and values are all of the encoders' result; Megatron
        reduces its gradient in each layer, here it is one sum of all."""
        self.embedding()
        self.embedding()
        self.pair(times=2 * LAYERS)
        self.pair(times=2 * LAYERS)
        self.pair()
        self.classifier()
        self.classifier()
        self.loss(BATCH * TOKENS)
        self.between(5 * LAYERS, 5 * LAYERS, 2)
        if self.sequence and self.train and self.e == WEIGHTS:
            # What is cut along the sequence is no part of a sum: attention's
            # gradients are scattered one by one.
            self.half(2 * LAYERS, self.hidden)

    def moe(self):
        """An expert's result is summed up before it goes back to its tokens,
        as many as the expert has room for."""
        sizes = SIZES["moe"]
        self.embedding()
        self.pair()
        self.pair(n=BATCH * sizes["experts"] * sizes["room"] * WIDTH)
        self.classifier()
        self.loss(BATCH * TOKENS)

    def vit(self):
        """No embedding; the classifier sees one token of each image, so that
        only that one is reduced behind the last layer, or with sequence
        parallelism gathered."""
        self.pair()
        self.pair()
        self.classifier(BATCH * WIDTH)
        self.loss(BATCH)
        self.between(2 * LAYERS - 1, 2 * LAYERS, 2)
        last = self.half if self.sequence else self.all_reduce
        last(-1, self.hidden)
        last(1, BATCH * WIDTH)


# Where sequence parallelism moves what the formula does; bert and moe have
# operators of their own between the chains.
SEQUENCE = ("gpt2", "gpt3", "llama", "llama-2", "transformer", "vit")


def papers(t, e):
    """The formula as Megatron-LM has it, of a decoder."""
    hidden = BATCH * TOKENS * WIDTH
    return ((4 * LAYERS + 2) * 2 * (t - 1) * hidden * e +
            3 * 2 * (t - 1) * BATCH * TOKENS * WEIGHTS)


# The layout of LLaMA's forward pass, written by hand.
HAND = """
*=replicated
*=whole
words.table=cut 0
words=by V
classify=cut 1
logits=cut 2
logits=by j
*.self.[qkv].w=cut 1
*.self.[qkv].y=cut 1
*.self.[qkv].y=by h
*.self.p*=cut 1
*.self.p.rope*=by b.1
*.self.p.s=by h
*.self.p.scale_by_root=by d.1
*.self.p.masked_causal=by b.1
*.self.p.softmax*=by d.1
*.self.out=cut 1
*.self.out=by h
*.self.out.w=cut 0
*.self.out.z=by h
*.gate=cut 1
*.up=cut 1
*.down=cut 0
*.inner=cut 2
*.inner.*=cut 2
*.inner.matmul*=by j
*.inner.swish=by d.2
*.inner.mul=by d.2
layer_[0-9].matmul=by k
loss.y=cut 2
loss.y=by d.2
loss.y.?=by d.2
loss.total=by y.2
"""


def check_hand(t):
    """The layout written by hand costs the same as the planner's."""
    with tempfile.NamedTemporaryFile("w", suffix=".pins") as pins:
        pins.write(HAND)
        pins.flush()
        score = call(TDLC, "score", os.path.join(MODELS, "llama.tdl"), "-k",
                     str(t), *words(SIZES["llama"]), "--pins", pins.name)
    of = next(p for p in score["planners"] if p["algorithm"] == "megatron")
    for figure in ("byte_model", "communication_bytes",
                   "peak_bytes_per_device", "predicted_seconds"):
        mine, its = score["pinned"][figure], of[figure]
        assert mine == its, f"{figure}: {mine} by hand, {its}"
    return of["communication_bytes"]


def cases():
    for name, t, half, sequence in itertools.product(
            SIZES, (2, 4, 8), (False, True), (False, True)):
        yield name, t, half, True, sequence
    for name, t in itertools.product(SIZES, (2, 4, 8)):
        yield name, t, False, False, False


def options(name, t, half, train, sequence):
    folder = DATA if name in ("gptj", "falcon") else MODELS
    return [os.path.join(folder, name.split("-")[0] + ".tdl"), "-I", MODELS,
            "-k", str(t),
            "--algorithm", "megatron", *words(SIZES[name]),
            *["--train"] * train, *["--precision", "bf16"] * half,
            *["--sequence-parallel"] * sequence]


def check_runs(plan, path):
    done = call(TDLRUN, path, "--verify", "--kernels", "interpreter")
    assert done["verified"], done
    assert done["communication_bytes"] == plan["communication_bytes"], done
    assert done["arena_bytes"] == plan["peak_bytes_per_device"], done


def check(name, t, half, train, sequence):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan")
        plan = call(TDLC, "plan", *options(name, t, half, train, sequence),
                    "-o", path)
        check_runs(plan, path)
    moved = plan["byte_model"]["total"]
    assert plan["communication_bytes"] == moved, plan["communication_bytes"]
    if not sequence or name in SEQUENCE:
        bytes = Formula(name, t, 2 if half else 4, train, sequence).total
        assert moved == bytes, f"{moved} bytes, not {bytes}"
    return moved


def table():
    print("model, t, type, by sequence: bytes; formula; Megatron-LM's; more")
    for name, t, half, train, sequence in cases():
        if not train or sequence and name not in SEQUENCE:
            continue
        e = 2 if half else 4
        plan = call(TDLC, "plan", *options(name, t, half, train, sequence))
        moved = plan["byte_model"]["total"]
        line = [name, t, "bf16" if half else "f32", sequence, moved,
                Formula(name, t, e, train, sequence).total]
        if name in ("gpt2", "gpt3", "llama"):
            line += [papers(t, e), moved - papers(t, e)]
        print(*line)


def attempt(what, check_it, *case):
    try:
        print(f"PASS: {what}: {check_it(*case)} bytes", flush=True)
        return True
    except AssertionError as e:
        print(f"FAIL: {what}: {str(e)[:300]}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", default=ALL)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        return table()
    passed = [attempt(f"by hand, t = {t}", check_hand, t) for t in (2, 4, 8)]
    every = list(cases())
    for case in every if args.all else sample(every, 5):
        name, t, half, train, sequence = case
        what = (f"{name}, t = {t}{', bf16' * half}{', trained' * train}"
                f"{', by sequence' * sequence}")
        passed.append(attempt(what, check, *case))
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
