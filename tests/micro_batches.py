# Tests: compiler/graph compiler/lower plan runtime
"""A batch divided over time gives the results of the whole one.

Each network of examples/models, small, is planned with micro-batches, trained
and not, and run: M micro-batches on k workers against one run of the whole
batch on one worker.  The bytes that the transport counts, and the arenas, are
as large as planned.  One of them is run by processes, too, where tdlrun has MPI:
these have the same results.  Networks that need whole batches inside are
refused, by the operator.

	micro_batches.py [--all] [--turns 2,3,8] [NET...]

Without --all, or CHECK_ALL=yes, some combinations of networks, numbers of
micro-batches and devices, planners and optimizers are tried.
"""
import argparse
import itertools
import os
import shutil
import subprocess
import tempfile

from programs import ALL, MODELS, TDLC, TDLRUN, call, check_run, expect, \
    finish, sample

TEXT = "batch=8 tokens=8 vocabulary=32 layers=2 width=16 heads=4"
# Sizes at which a run takes no time, with batches of 8 samples.
SIZES = {
    "mlp": "batch=8 inputs=12 width=16 depth=3",
    "alexnet": "batch=8 classes=10 image=63 width=4 hidden=24",
    "vgg19": "batch=8 classes=10 image=32 width=4 hidden=24",
    "wresnet": "batch=8 classes=10 image=32 depth=50 width=2 widen=2",
    "rnn": "batch=8 layers=2 hidden=8 steps=5 inputs=12 classes=6",
    "transformer": TEXT + " wide=32 smoothing=0.1",
    "bert": TEXT + " wide=32",
    "gpt2": TEXT,
    "gpt3": TEXT + " window=3",
    "llama": TEXT + " kv_heads=2 wide=32",
    "vit": "batch=8 classes=10 image=16 patch=4 layers=2 width=16 heads=4 "
           "wide=32",
    "unet": "batch=8 image=8 width=8 widen=[1,2] depth=1 attention_at=4 "
            "groups=4",
}
# These have statistics of the whole batch inside: of a normalisation, or of
# how many tokens an expert has taken.
WHOLE = {
    "inception_v3": "batch=8 classes=10 image=75 n=1",
    "densenet121": "batch=8 classes=10 image=32 growth=4 depth=[2,3,2,1]",
    "resnet": "batch=8 classes=10 image=32 depth=18 width=4",
    "moe": TEXT + " kv_heads=2 wide=32 experts=4 chosen=2 room=5",
}
# One input is what is read and what is to be said: how many positions count is
# computed before the turns, of all of it, and the rest in them.
BOTH = """model both(batch = 12, tokens = 3, words = 20, width = 8) {
    input text[batch, tokens + 1]: i64
    param table[words, width]
    param back[width, words]
    loss = 0
    for t < tokens {
        at_{t} = pick(text, outer = [batch], at = t)
        x_{t} = matmul(tanh(embedding(at_{t}, table)), back)
        to_{t} = pick(text, outer = [batch], at = t + 1)
        loss = loss + softmax_cross_entropy(x_{t}, to_{t}, ignore_index = 2)
    }
    output loss
}
"""
# tofu reduces at once; with the others values may stay partial, and their
# reductions may be put together.
ALGORITHMS = ([], ["--algorithm", "data-parallel"],
              ["--algorithm", "data-parallel", "--bucket-bytes", "1K"],
              ["--algorithm", "extended"])
OPTIMIZERS = ("sgd,momentum=0.9", "adam", "adamw")


def command(name, sizes, k, turns, more):
    model = os.path.join(MODELS, name + ".tdl")
    words = [w for size in sizes.split() for w in ("-D", size)]
    return ["plan", model, *words, "-k", str(k), "--micro-batches",
            str(turns), *more]


def check(folder, name, k, turns, more):
    path = os.path.join(folder, "plan")
    words = command(name, SIZES[name], k, turns, more)
    plan = call(TDLC, *words, "-o", path)
    run = call(TDLRUN, path, "--verify", "--kernels", "interpreter")
    at = f"{name}, {turns} micro-batches, {k} devices, {' '.join(more)}"
    expect(f"{at}: verified", run["verified"])
    expect(f"{at}: bytes",
           run["communication_bytes"] == plan["communication_bytes"])
    expect(f"{at}: arena",
           run["arena_bytes"] == plan["peak_bytes_per_device"])


def has_mpi():
    said = subprocess.run([TDLRUN, "--comm", "mpi", "none"], text=True,
                          capture_output=True).stderr
    return "not built in" not in said and shutil.which("mpirun")


def check_processes(folder, name, k, turns, more):
    """The same files by threads and by processes, which are verified."""
    os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
    os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    os.environ["OMPI_MCA_btl_base_warn_component_unused"] = "0"
    plan, mine, theirs = (os.path.join(folder, x)
                          for x in ("plan", "a.npz", "b.npz"))
    planned = call(TDLC, *command(name, SIZES[name], k, turns, more),
                   "-o", plan)
    run = call("timeout", "120", "mpirun", "--oversubscribe", "-n", str(k),
               TDLRUN, plan, "--comm", "mpi", "--kernels", "interpreter",
               "--verify", "--outputs", mine)
    check_run(run, planned)
    call(TDLRUN, plan, "--kernels", "interpreter", "--outputs", theirs)
    with open(mine, "rb") as x, open(theirs, "rb") as y:
        expect(f"{name}: threads and processes differ", x.read() == y.read())


def spoil(path, factor):
    """Scales the sum so far where a turn adds its part of a gradient: by 0 only
    the last turn's counts."""
    with open(path, encoding="utf-8") as f:
        rows = f.read().split("\n")
    for i, row in enumerate(rows):
        if not row.startswith('{"name":"accumulate","type":"f32","vars":[['):
            continue
        before, plus, after = row.partition('"body":["+",')
        total, part, rest = after.partition(',["read",1,')
        rows[i] = (f'{before}{plus}["*",{total},["float","f32",{factor}]]'
                   f'{part}{rest}')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(rows))


def check_faults(folder, name, k, optimizer):
    """--verify sees a gradient of which a turn is missing, or weighs 1 % more,
    after steps that change the weights by little."""
    path = os.path.join(folder, "plan")
    for factor in 1.0, 1.01, 0.0:
        call(TDLC, *command(name, SIZES[name], k, 3,
                            ["--train", "--optimizer", optimizer]),
             "-o", path)
        spoil(path, factor)
        done = subprocess.run(
            [TDLRUN, path, "--verify", "--kernels", "interpreter"],
            capture_output=True, text=True)
        expect(f"{name}, {k} devices, {optimizer}: a gradient times {factor} "
               f"has status {done.returncode}: {done.stdout}",
               done.returncode == (0 if factor == 1 else 5))


def check_refused(name):
    done = subprocess.run([TDLC, *command(name, WHOLE[name], 2, 2,
                                          ["--train"])],
                          capture_output=True, text=True)
    expect(f"{name}: {done.stderr}",
           done.returncode == 1 and "[whole-batch]" in done.stderr and
           " = " in done.stderr)


def check_both(folder):
    """An input that is needed whole leaves what reads it to the turns."""
    path, plan = (os.path.join(folder, x) for x in ("both.tdl", "plan"))
    with open(path, "w", encoding="utf-8") as f:
        f.write(BOTH)
    for more in ["-k", "2"], ["-k", "2", "--stages", "2"]:
        peaks = []
        for turns in "1", "4":
            planned = call(TDLC, "plan", path, "--train", *more,
                           "--micro-batches", turns, "-o", plan)
            check_run(call(TDLRUN, plan, "--verify", "--kernels",
                           "interpreter"), planned)
            peaks.append(planned["peak_bytes_per_device"])
        expect(f"both {more}: {peaks}", peaks[1] < peaks[0])
    # Labels are counted where they are, behind all weights.
    planned = call(TDLC, "plan", path, "-k", "2", "--stages", "2",
                   "--micro-batches", "4", "-o", plan)
    check_run(call(TDLRUN, plan, "--verify", "--kernels", "interpreter"),
              planned)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--all", action="store_true", default=ALL)
    p.add_argument("--turns", default="2,3,8")
    p.add_argument("nets", nargs="*", default=list(SIZES) + list(WHOLE))
    a = p.parse_args()
    turns = [int(t) for t in a.turns.split(",")]
    ways = [[*by, *more] for by in ALGORITHMS for more in
            ([], *(["--train", "--optimizer", o] for o in OPTIMIZERS))]
    cases = list(itertools.product([n for n in a.nets if n in SIZES],
                                   turns, (1, 2, 4), ways))
    with tempfile.TemporaryDirectory() as folder:
        # 97 has no common factor with the numbers of choices
        for name, t, k, more in cases if a.all else sample(cases, 97):
            try:
                check(folder, name, k, t, more)
            except AssertionError as e:
                expect(f"{name} {t} {k} {more}: {e}", False)
        check_both(folder)
        if "rnn" in a.nets and has_mpi():
            try:
                check_processes(folder, "rnn", 2, 3,
                                ["--algorithm", "data-parallel", "--train"])
            except AssertionError as e:
                expect(f"processes: {e}", False)
        faulty = list(itertools.product(("mlp", "gpt2", "alexnet"), (1, 4),
                                        ("sgd", "adamw")))
        for name, k, optimizer in faulty if a.all else sample(faulty, 2):
            if name in a.nets:
                check_faults(folder, name, k, optimizer + ",lr=1e-4")
    for name in a.nets:
        if name in WHOLE:
            check_refused(name)
    finish()


if __name__ == "__main__":
    main()
