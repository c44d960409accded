# Tests: compiler/model compiler/lower compiler/train
"""Random models against PyTorch, planned, run and trained in random ways.

A model of operators of the library and of its own is drawn (drawn.py), its
twin in PyTorch follows from the same description (described.py, twins.py,
lambdas.py), and so does what is asked for: planner, devices, training,
optimizer, precision, memory.  It is run whole and divided; outputs, losses,
weights and states have to be PyTorch's, as exactly as the type computes
(steps.py), and the three figures have to agree.  Everything follows from a
seed.

Without --seed what was found before comes first: cases/*.json.

	random_models.py [--seed N] [--count M] [--jobs J] [--log FILE]
			 [--save FOLDER] [--generated SHARE]

With --log seeds that the file has are left out, so that a run goes on where
it ended.  A failure is shrunk, and saved with what it takes to see it again:
model.tdl, in.npz or data.npz, commands.sh, case.json; `--case FILE' tries such
a case.json.  CHECK_ALL=yes tries 1,000.
"""
import argparse
import collections
import concurrent.futures
import functools
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from programs import ALL, TDLC, TDLRUN, sample  # noqa: E402

try:
    import numpy as np
    import torch

    import described
    import drawn
    import known
    import shrinking
    import steps
except ImportError as e:
    print(f"SKIP: {e} (tests/requirements-torch.txt)")
    sys.exit(77)

TOPOLOGIES = {"8xk80": range(1, 9), "8xh100-nvlink": range(1, 9),
              "2x8xh100": (*range(1, 9), 16)}  # devices
ATTEMPTS = 5
COARSE = 0.15  # of the models
PATIENCE = 1800  # seconds of a command, which then hangs
# Messages with which a planner or a model is rightly refused, and faults that
# are others' to mend.
REFUSED = [
    (4, r"tdlc plan: ilp: no solver", "no solver"),
    (3, r"tdlc plan: ilp: the model is too large", "planner"),
    (3, r"tdlc plan: megatron: ", "planner"),
    (1, r"--recompute: error: the tensors computed in a step take at least \d+",
     "recompute"),
    (3, r"needs? \d+|enough would be", "memory"),
    (1, r"\[nothing-trained\]", "nothing to train"),
]


GOOD = "passed", "unfit", "known"


class Fault(Exception):
    """What is wrong, in a word, and how it shows."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Refused(Exception):
    """A plan that rightly is not made."""


# ---- what is asked for -------------------------------------------------------

@functools.cache
def planners():
    """The program's own list."""
    text = subprocess.run([TDLC, "plan", "--help"], capture_output=True,
                          text=True, check=True).stdout
    words = re.search(r"--algorithm=A(.*?);", text, re.S)[1]
    names = re.sub(r"plan with A:|\(default\)", "", words)
    return [n.strip() for n in names.replace("\n", " ").split(",")]


def draw_optimizer(rng):
    name = rng.choice(["sgd", "sgd", "adam", "adamw", "lion"])
    decay = rng.choice([0.0, 0.0, 0.05])
    if name == "sgd":
        how = rng.choice([{}, {"momentum": 0.9}, {"momentum": 0.8,
                                                  "dampening": 0.3},
                          {"momentum": 0.9, "nesterov": True}])
        return name, how | {"weight_decay": decay}
    if name == "lion":
        return name, {"weight_decay": decay}
    betas = rng.choice([{}, {"beta1": 0.8, "beta2": 0.9}])
    return name, betas | {"weight_decay": decay,
                          "eps": rng.choice([1e-8, 1e-3])}


def draw_how(rng, generated):
    """What is asked for, but for what hangs on the model."""
    name, attributes = draw_optimizer(rng)
    how = {
        "train": rng.random() < 0.75, "optimizer": name,
        "attributes": attributes, "freeze": [],
        "lr": rng.choice([0.01, 0.05]) if name == "sgd" else 0.01,
        "clip": rng.choice([0, 0, 0, 0.5, 20.0]),
        "precision": rng.choice(["f32"] * 8 + ["bf16", "f16"]),
        "steps": rng.choice([1, 1, 2, 3, 5]), "warmup": 0,
        "schedule": "constant", "feed": rng.choice(["same", "same", "data"]),
        "k": rng.choice([2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 13, 15,
                         16, 17, 18, 20, 21, 23, 24]),
        "algorithm": rng.choice(planners()),
        "recompute": rng.choice(["", "", "sqrt", "t*", "16K"]),
        "memory": rng.choice([0, 0, 0, 0.7, 0.9, 1.0, 1.3]),
        "objective": rng.choice(["time", "bytes", "memory"]),
        "topology": rng.choice(["", "", *TOPOLOGIES]),
        "no_fuse": rng.random() < 0.15,
        "kernels": ["generated" if rng.random() < generated
                    else "interpreter" for _ in range(2)],
    }
    if not how["train"]:
        how |= {"feed": "same", "precision": "f32"}
    elif how["feed"] == "data":
        how |= {"warmup": rng.choice([0, 0, 1, how["steps"]]),
                "schedule": rng.choice(["constant", "linear", "cosine"])}
        how["warmup"] = min(how["warmup"], how["steps"] - 1)
    if rng.random() < 0.2:  # the gradient itself
        how |= {"optimizer": "sgd", "attributes": {}, "lr": 1.0, "steps": 1,
                "clip": 0, "warmup": 0, "schedule": "constant"}
    return how


def data_of(case):
    return described.Data(case["seed"], case.get("coarse", False))


def draw_model(seed, how, data):
    """One of which something can be said; a few are drawn."""
    for attempt in range(ATTEMPTS):
        try:
            model = drawn.draw(f"{seed} {attempt}", data, how["train"])
            steps.Steps(model, data, how)
            return model
        except (steps.Unfit, ValueError, RuntimeError):
            continue  # PyTorch cannot run it, or not backwards
    raise ValueError("nothing drawn")


def draw_case(seed, generated):
    rng = random.Random(f"{seed} how")
    how = draw_how(rng, generated)
    # Numbers on a grid, of which many are equal: ties, and steps of 0.
    coarse = random.Random(f"{seed} coarse").random() < COARSE
    model = draw_model(seed, how, described.Data(seed, coarse))
    weights = [s[1] for s in model["body"] if s[0] == "param"]
    if how["train"] and len(weights) > 1 and rng.random() < 0.2:
        how["freeze"] = [rng.choice(weights)]
    return {"seed": seed, "model": model, "how": how, "coarse": coarse}


# ---- running -----------------------------------------------------------------

def execute(folder, commands, *command):
    """Status, and what was printed, of a command; it must not crash."""
    commands.append(shlex.join(command))
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              cwd=folder, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Fault("slow", f"{PATIENCE} s: {shlex.join(command)}") from None
    if done.returncode < 0 or "ssertion" in done.stderr \
            or done.returncode > 5:
        raise Fault("crash", f"status {done.returncode}: "
                    f"{shlex.join(command)}\n{done.stderr[-1500:]}")
    return done


def answer(folder, commands, *command):
    """What it prints as JSON; what is refused is checked to be so rightly."""
    done = execute(folder, commands, *command, "--json")
    if done.returncode == 5:
        raise Fault("verify", f"{shlex.join(command)}\n{done.stdout}")
    if done.returncode:
        for status, pattern, why in REFUSED:
            if done.returncode == status \
                    and re.search(pattern, done.stderr, re.S):
                raise Refused(why)
        raise Fault("refused", f"status {done.returncode}: "
                    f"{shlex.join(command)}\n{done.stderr[-1500:]}")
    return json.loads(done.stdout)


def training_options(how):
    if not how["train"]:
        return []
    words = [how["optimizer"], f"lr={how['lr']}"]
    words += [f"{n}={str(v).lower()}" for n, v in how["attributes"].items()]
    options = ["--train", "--optimizer", ",".join(words)]
    if how["clip"]:
        options += ["--clip-norm", str(how["clip"])]
    for name in how["freeze"]:
        options += ["--freeze", name]
    if how["recompute"]:
        options += ["--recompute", how["recompute"]]
    return options


def plan_options(how, k, algorithm):
    options = training_options(how)
    if how["precision"] != "f32":
        options += ["--precision", how["precision"]]
    if how["no_fuse"]:
        options.append("--no-fuse")
    if algorithm == "auto":
        options += ["--objective", how["objective"]]
    if k in TOPOLOGIES.get(how["topology"], ()):
        options += ["--topology", how["topology"]]
    return [*options, "-k", str(k), "--algorithm", algorithm]


def make_plan(folder, commands, how, k, algorithm):
    """The plan, as JSON, in the file `plan`; under a limit of memory where
    there is one that can be kept."""
    command = [TDLC, "plan", "model.tdl", *plan_options(how, k, algorithm),
               "-o", "plan"]
    plan = answer(folder, commands, *command)
    if how["memory"] and k > 1:
        limit = int(plan["peak_bytes_per_device"] * how["memory"])
        try:
            less = answer(folder, commands, *command, "--memory", str(limit))
        except Refused as e:
            if str(e) != "memory" or how["memory"] >= 1:
                raise Fault("refused", f"{e}: --memory {limit}, of a plan of "
                            f"{plan['peak_bytes_per_device']}") from None
            return plan
        if less["peak_bytes_per_device"] > limit:
            raise Fault("memory", f"{less['peak_bytes_per_device']} bytes, "
                        f"more than {limit}")
        return less
    return plan


def run_plan(folder, commands, how, kernels):
    command = [TDLRUN, "plan", "--inputs", "in.npz", "--outputs", "out.npz",
               "--kernels", kernels]
    if how["feed"] == "same":
        return answer(folder, commands, *command, "--verify", "--steps",
                      str(how["steps"]))
    command += ["--data", "data.npz", "--steps", str(how["steps"])]
    command += ["--learning-rate", str(how["lr"]), "--schedule",
                how["schedule"], "--warmup", str(how["warmup"])]
    return answer(folder, commands, *command)


def check_figures(plan, run):
    for ours, theirs in (("communication_bytes",) * 2,
                         ("predicted_communication_bytes",
                          "communication_bytes"),
                         ("arena_bytes", "peak_bytes_per_device"),
                         ("predicted_arena_bytes", "peak_bytes_per_device")):
        if run[ours] != plan[theirs]:
            raise Fault("figures", f"{ours} {run[ours]}, the plan has "
                        f"{plan[theirs]}")
    if plan["communication_bytes"] > plan["byte_model"]["total"]:
        raise Fault("figures", f"{plan['communication_bytes']} bytes, more "
                    f"than the byte model's {plan['byte_model']['total']}")


def write_model(folder, case):
    how = case["how"]
    with open(os.path.join(folder, "model.tdl"), "w", encoding="utf-8") as f:
        f.write(described.text_of_model(case["model"]))
        f.write(steps.LION if how["optimizer"] == "lion" else "")


def write_inputs(folder, how, expected):
    """What the plan is fed; it has nothing that the outputs do not hang
    on."""
    with open(os.path.join(folder, "plan"), encoding="utf-8") as f:
        there = {t["name"] for t in json.load(f)["tensors"]
                 if t["role"] in ("input", "state")}
    fed = dict(expected.states)
    if how["train"] and how["precision"] == "f16":
        fed["optimizer.loss_scale"] = np.array(steps.F16_SCALE)
    if how["feed"] == "same":
        fed |= expected.inputs[0]
    else:
        np.savez(os.path.join(folder, "data.npz"), **{
            n: np.stack([shortened(step[n]) for step in expected.inputs])
            for n in expected.inputs[0] if n in there})
    np.savez(os.path.join(folder, "in.npz"),
             **{n: x if n.startswith("optimizer.") else shortened(x)
                for n, x in fed.items() if n in there})


def shortened(x):
    x = np.asarray(x)
    return x.astype("f4") if x.dtype == np.float64 else x


def check_plan(folder, commands, case, expected, k, algorithm, kernels):
    """One plan and its run; the number of differences near a kink."""
    how = case["how"]
    plan = make_plan(folder, commands, how, k, algorithm)
    write_inputs(folder, how, expected)
    run = run_plan(folder, commands, how, kernels)
    check_figures(plan, run)
    with np.load(os.path.join(folder, "out.npz")) as f:
        results = {n: f[n] for n in f.files}
    scale = results.get("optimizer.loss_scale", steps.F16_SCALE)
    if scale != steps.F16_SCALE:
        return 1  # a gradient was not finite in f16
    losses = run.get("loss") or []
    differences = expected.differences(results, losses)
    if not differences:
        return 0
    for seed, count in enumerate(steps.MORE, 1):
        expected.widen(count, seed)
        differences = expected.differences(results, losses)
        if not differences:
            break
    if differences:
        name, error, allowed = differences[0]
        raise Fault("values", f"{name} differs by {error}, allowed is "
                    f"{allowed} (k = {k}, {algorithm}, {kernels}; "
                    f"{len(differences)} tensors)")
    return 1


def check_case(case, folder):
    """Tries a case in a folder; raises Fault."""
    how, commands = case["how"], []
    try:
        expected = steps.Steps(case["model"], data_of(case), how)
        expected.allowance()
    except RuntimeError as e:
        raise steps.Unfit(f"PyTorch cannot: {e}") from None
    write_model(folder, case)
    kinks, refusals = 0, []
    try:
        for k, algorithm, kernels in ((1, "tofu", how["kernels"][0]),
                                      (how["k"], how["algorithm"],
                                       how["kernels"][1])):
            try:
                kinks += check_plan(folder, commands, case, expected, k,
                                    algorithm, kernels)
            except Refused as e:
                if str(e) == "nothing to train" and expected.has_slope:
                    raise Fault("refused", str(e)) from None
                refusals.append(str(e))
    finally:
        with open(os.path.join(folder, "commands.sh"), "w",
                  encoding="utf-8") as f:
            f.write("\n".join(commands) + "\n")
    return kinks, refusals


# ---- all of them --------------------------------------------------------------

def save(case, fault, folder):
    """Leaves behind what shows the fault again."""
    os.makedirs(folder, exist_ok=True)
    try:
        check_case(case, folder)
    except Exception:  # which is known
        pass
    said = str(fault)
    for program in TDLC, TDLRUN:  # a case goes into the tree without a path
        said = said.replace(program, os.path.basename(program))
    with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as f:
        json.dump(case | {"fault": said}, f, indent=1)


def outcome(case):
    """A word for how a case went, and what there is to say."""
    word, said = tried(case)
    if word in GOOD:
        return word, said
    why = known.recognised(case, said)
    return ("known", f"{why}: {said}") if why else (word, said)


def signature(case):
    """What two cases have in common that fail in the same way."""
    word, said = outcome(case)
    return word, sorted(set(re.findall(r"error: .*\[([\w-]+)\]", said)))


def tried(case):
    with tempfile.TemporaryDirectory() as folder:
        try:
            kinks, refusals = check_case(case, folder)
        except steps.Unfit as e:
            return "unfit", str(e)
        except Fault as e:
            return e.kind, str(e)
        except Exception:  # whatever it is, the next is tried
            return "error", traceback.format_exc(limit=-3)
    said = "kink " * bool(kinks) + " ".join(refusals)
    return "passed", said.strip()


def try_seed(seed, args):
    began = time.monotonic()
    torch.set_num_threads(1)
    try:
        case = draw_case(seed, args.generated)
    except ValueError as e:
        return seed, "unfit", str(e), 0.0
    except Exception:  # the next is drawn nevertheless
        return seed, "error", traceback.format_exc(limit=-3), 0.0
    word, said = outcome(case)
    if word not in GOOD:
        was = signature(case)
        small = case if args.whole else shrinking.shrunk(
            case, lambda c: signature(c) == was)
        save(small, said, os.path.join(args.save, f"seed-{seed}"))
    return seed, word, said, time.monotonic() - began


def finished(log):
    """The seeds that a log has."""
    if not log or not os.path.exists(log):
        return set()
    with open(log, encoding="utf-8") as f:
        return {int(line.split()[0]) for line in f if line.split()}


def results_of(seeds, args):
    if args.jobs == 1:
        yield from (try_seed(s, args) for s in seeds)
        return
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        yield from pool.map(try_seed, seeds, [args] * len(seeds))


def campaign(args):
    done = finished(args.log)
    seeds = [s for s in sample(range(args.seed, args.seed + args.count))
             if s not in done]
    counts = collections.Counter()
    log = open(args.log, "a", encoding="utf-8") if args.log else None
    for seed, word, said, seconds in results_of(seeds, args):
        counts[word] += 1
        line = f"{seed} {word} {seconds:.1f} {said.splitlines()[:1]}"
        if log:
            print(line, file=log, flush=True)
        if word not in GOOD:
            print(f"FAIL: seed {seed}: {said}", flush=True)
    print(", ".join(f"{n} {w}" for w, n in counts.most_common()))
    failed = sum(n for w, n in counts.items() if w not in GOOD)
    few = counts["passed"] * 2 < len(seeds)
    return 1 if failed or few else 0


def earlier():
    """The cases that failed before; how many do again."""
    folder = os.path.join(os.path.dirname(__file__), "cases")
    failed = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            word, said = outcome(json.load(f))
        if word != "passed":
            print(f"FAIL: {name}: {word} {said}", flush=True)
            failed += 1
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=1000 if ALL else 60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log")
    parser.add_argument("--save", default="random_models.failed")
    parser.add_argument("--generated", type=float, default=0.03,
                        help="the share of runs with generated kernels")
    parser.add_argument("--whole", action="store_true",
                        help="save failures without shrinking them")
    parser.add_argument("--case", help="a case.json")
    args = parser.parse_args()
    if args.case:
        with open(args.case, encoding="utf-8") as f:
            print(*outcome(json.load(f)))
        return
    failed = 0
    if args.seed is None:
        args.seed, failed = 0, earlier()
    sys.exit(campaign(args) or bool(failed))


if __name__ == "__main__":
    main()
