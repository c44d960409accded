"""Plans of several stages, run: schedules x stages x tensors x replicas of three
networks, small, compared with one worker, and with each other; and some, drawn, of
all others.

	pipelines.py [--every N] [--from I] [--comm mpi] [--cuda]
		[--schedules S,S..] [--drawn N [--seed S]] [--done FILE]
		[NAME...]

Each line has what all schedules of a case have in common: whether --verify held,
whether bytes and arenas were those of the plan, and how many results, outputs
and states, have other bits than those of the first schedule.  Where a weight is
read in several stages, they add up its gradient: where chunks divide its reads
otherwise than stages do, it is the same within rounding.  --every N takes one case
of N, from number I on.  --comm mpi runs processes under mpirun, --cuda on GPUs,
or on what stands for these; results are then compared with those of threads, too.
--done FILE adds the cases to a file as they end; those that it already has are
counted, but not run again.

With --drawn N the networks are those of examples/models and those that PyTorch
exports (pipeline_nets.py), each in N of the cases for which it has the layers,
by one schedule that is drawn, too, and the first of all others.

The status is 1 where one of these is not so.
"""
import argparse
import functools
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
TDLC = os.environ.get("TDLC", "./tdlc")
TDLRUN = os.environ.get("TDLRUN", "./tdlrun")
TEXT = ["-Dtokens=4", "-Dvocabulary=12", "-Dlayers=8", "-Dwidth=8",
        "-Dheads=2"]
NETS = {
    "gpt2": ["gpt2.tdl", *TEXT],
    "unet": ["unet.tdl", "-Dimage=4", "-Dwidth=4", "-Dwiden=[1,2]", "-Ddepth=1",
             "-Dattention_at=2", "-Dgroups=2"],
    "moe": ["moe.tdl", *TEXT, "-Dkv_heads=2", "-Dwide=8", "-Dexperts=4",
            "-Dchosen=2", "-Droom=3", "--micro-batch-statistics"],
}
# The layouts of several devices: a rule that looks at a tensor alone, so that it
# has the same in stages of other layers.
INSIDE = "allrow"
SCHEDULES = "gpipe", "1f1b", "interleaved:2", "zb"
SHAPES = list(itertools.product((1, 2, 4, 8), (1, 2), (1, 2)))
RATE = 0.001  # AdamW's
NOISE = 1e-7  # in its means of gradients
NO_PLAN = 3  # the status of tdlc where there is none
TOO_FEW = "layers cannot make"


def turns(stages):
    """The micro-batches of a case."""
    return max(4, stages)


class Failed(RuntimeError):
    """A command's status, and what it said."""

    def __init__(self, command, done):
        super().__init__(f"status {done.returncode}: {' '.join(command)}\n"
                         f"{done.stderr[-800:]}".strip())
        self.too_few = done.returncode == NO_PLAN and TOO_FEW in done.stderr


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failed(command, done)
    return json.loads(done.stdout)


# ---- one plan ---------------------------------------------------------------

def launched(how, workers):
    """The command that runs a plan in a way."""
    if how == "mpi":
        # More processes than processors, on a machine that has other work.
        return ["mpirun", "--oversubscribe", "-n", str(workers), TDLRUN,
                "--comm", "mpi", "--kernels", "interpreter", "--timeout",
                "600"]
    if how == "cuda":
        return [TDLRUN, "--backend", "cuda"]
    return [TDLRUN, "--kernels", "interpreter"]


def run(how, plan, told, verify, out):
    """A run of a plan: the faults, and the results by name."""
    command, *rest = launched(how, told["devices"])
    ran = call(command, *rest, plan, *["--verify"] * verify, "--outputs", out,
               "--json")
    faults = []
    if verify and not ran["verified"]:
        faults.append("not verified")
    if not ran["communication_bytes"] == told["communication_bytes"] \
            == ran["predicted_communication_bytes"]:
        faults.append("bytes")
    arenas = [s["arena_bytes"] for s in ran.get("stages", [ran])]
    if arenas != [s["peak_bytes"] for s in told["stages"]]:
        faults.append("arenas")
    with np.load(out) as results:
        return faults, {n: results[n] for n in results.files}


def differing(a, b):
    """The names of results whose bits are not the same."""
    if a.keys() != b.keys():
        return sorted(a.keys() ^ b.keys())
    return [n for n in a if a[n].tobytes() != b[n].tobytes()]


def machine(stages, inside):
    """A machine whose stages are the devices of its fast links."""
    levels = [{"name": "between", "size": stages, "latency": 1e-4,
               "bandwidth": 1e8},
              {"name": "inside", "size": inside, "latency": 1e-7,
               "bandwidth": 1e10}]
    return {"format": "tdl-topology", "version": 1, "name": "stages",
            "device": {"bandwidth": 1e10, "flops": {"f32": 1e9},
                       "overlap": False},
            "levels": [x for x in levels if x["size"] > 1] or levels[1:]}


def shapes_of(told):
    """The devices and replicas that stages have."""
    return {(s["devices"], s["replicas"]) for s in told["stages"]}


def pins(told, devices, replicas):
    """The division of a plan, with as many devices in each stage."""
    lines = [f"stage {i}=devices {devices}, replicas {replicas}"
             for i, _ in enumerate(told["stages"])]
    return lines + [f"{s['first'].replace('[', '[[]')}=stage {i}"
                    for i, s in enumerate(told["stages"]) if i > 0]


def divides_tensors(path):
    """Whether a plan divides weights over the devices of a replica."""
    with open(path, encoding="utf-8") as f:
        tensors = json.load(f)["tensors"]
    return any(t["cuts"] and t["cuts"][-1] is not None for t in tensors
               if t["role"] == "state")


def rows_of_stages(plan):
    """The tensors and nodes of each stage of a plan."""
    rows = {kind: iter(plan[kind]) for kind in ("tensors", "nodes")}
    return [[list(itertools.islice(rows[kind], stage[kind])) for kind in rows]
            for stage in plan.get("stages", [])]


def tied(plan):
    """The states of a plan that several stages read, as they are or through what
    follows from states alone: their gradients are added up."""
    found = []  # by stage, by tensor: the states that it follows from
    for tensors, nodes in rows_of_stages(plan):
        of = [{t["name"]} if t["role"] == "state" else None for t in tensors]
        for node in nodes:
            read = [of[t] for t in node["inputs"]]
            if read and None not in read:
                of[node["output"]] = set().union(*read)
        found.append(of)
    sent = (found[c["from"]][c["source"]] for c in plan.get("channels", []))
    return set().union(*(names for names in sent if names))


def added_last(plan):
    """The results that a plan makes of partial ones: what devices have is added
    up when each has added up what its micro-batches gave, not before."""
    return {tensors[node["output"]]["name"]
            for tensors, nodes in rows_of_stages(plan) for node in nodes
            if "Sum" not in tensors[node["output"]]["cuts"] and
            any("Sum" in tensors[t]["cuts"] for t in node["inputs"])}


def distant(a, b):
    """The names of results that are not the same but for rounding.  Values that
    should be 0, as some gradients, are noise; elements of weights of which AdamW
    has seen nothing else may be a step of its apart, one way or the other."""
    def is_near(name):
        x, y = (np.asarray(z[name], float) for z in (a, b))
        allowed = 1e-4 * np.linalg.norm(y) + 1e-6 * x.size ** 0.5
        seen = b.get(f"{name}.mean")
        if seen is not None:
            allowed += 2 * RATE * np.sum(np.abs(seen) < NOISE) ** 0.5
        return np.linalg.norm(x - y) <= allowed
    return [n for n in b if n not in a or not is_near(n)]


class Case:
    """A network in stages of replicas of devices, by several schedules, which
    divide it alike if they can.  The first one's results on threads are verified,
    and all others' bits compared with these; bits of processes with those of
    threads; GPUs' with those of GPUs, of which the first are what threads make
    but for rounding.  Chunks may divide layers otherwise, and then the gradient of
    a tied weight, or the loss, is added up in another order."""

    def __init__(self, model, shape, folder, ways):
        stages, tensors, replicas = shape
        self.model, self.folder, self.ways = model, folder, ways
        self.tensors, self.replicas = tensors, replicas
        self.shape = tensors * replicas, replicas  # of each stage
        self.machine = os.path.join(folder, "machine.json")
        with open(self.machine, "w", encoding="utf-8") as f:
            json.dump(machine(stages, tensors * replicas), f)
        self.options = ["--train", "--optimizer", f"adamw,lr={RATE}", "-k",
                        str(stages * tensors * replicas), "--stages",
                        str(stages), "--micro-batches", str(turns(stages)),
                        "--topology", self.machine,
                        *["--inside", INSIDE] * (tensors > 1)]
        self.pins = None  # where the first schedule has its stages
        self.first = {}   # by way: the results of the first schedule
        self.chunks = None  # whether the first schedule has some
        self.threads = {} # the last results on threads
        self.tied = set() # weights of several stages, by any schedule so far
        self.late = None  # what the first schedule's plan adds up last
        self.other_order = set()  # what this one adds up in another order
        self.notes = set()

    def call_plan(self, schedule, path):
        pinned = self.pins and schedule.isalnum()
        how = ["--pins", self.pins] if pinned else \
            ["--replicas", str(self.replicas)]
        return call(TDLC, "plan", *self.model, *self.options, *how,
                    "--schedule", schedule, "-o", path, "--json")

    def plan(self, schedule, path):
        """A plan; one after the first, of whole stages, has the first's.  Where
        that would rather have unequal ones, it gets the devices that are asked
        for."""
        told = self.call_plan(schedule, path)
        if schedule.isalnum() and not self.pins:
            self.pins = os.path.join(self.folder, "pins")
            with open(self.pins, "w", encoding="utf-8") as f:
                print(*pins(told, *self.shape), sep="\n", file=f)
            if shapes_of(told) != {self.shape}:
                told = self.call_plan(schedule, path)
        return told

    def others(self, like, results, chunks):
        """The names of results that have other bits than those of the first
        schedule, but for what is rounded differently in chunks."""
        other = differing(like, results)
        if chunks == self.chunks or not other:
            return other
        far = distant(results, like)
        rounded = [n for n in other if n not in far and
                   (n in self.other_order or
                    any(f"{n}.".startswith(f"{w}.") for w in self.tied))]
        if rounded:
            self.notes.add(f"{len(rounded)} in chunks within rounding")
        return [n for n in other if n not in rounded]

    def try_way(self, how, plan, told, chunks):
        """The faults of a way."""
        out = os.path.join(self.folder, "out.npz")
        first = how not in self.first
        faults, results = run(how, plan, told, first and how == "threads", out)
        self.first.setdefault(how, results)
        if how == "mpi":
            other = differing(self.threads, results)
        else:
            other = self.others(self.first[how], results, chunks)
        if how == "threads":
            self.threads = results
        if other:
            faults.append(f"other bits in {len(other)} of {len(results)} "
                          f"({other[0]})")
        if first and how == "cuda":
            faults += [f"{n} is another one than on threads"
                       for n in distant(results, self.first["threads"])]
        return [f"{how}: {f}" for f in faults]

    def try_schedule(self, schedule):
        path = os.path.join(self.folder, "plan")
        faults = []
        told = self.plan(schedule, path)
        if shapes_of(told) != {self.shape}:
            faults.append("stages differ")
        if self.tensors > 1 and not divides_tensors(path):
            faults.append("tensors are whole")
        with open(path, encoding="utf-8") as f:
            plan = json.load(f)
        self.tied |= tied(plan)
        if self.late is None:
            self.late = added_last(plan)
        self.other_order = self.late ^ added_last(plan)
        chunks = not schedule.isalnum()
        if self.chunks is None:
            self.chunks = chunks
        for how in self.ways:
            faults += self.try_way(how, path, told, chunks)
        return [f"{schedule}: {f}" for f in faults]

    def try_all(self, schedules):
        """The faults of all schedules."""
        faults = []
        for schedule in schedules:
            try:
                faults += self.try_schedule(schedule)
            except Failed as e:
                if e.too_few:
                    raise
                faults.append(f"{schedule}: {e}")
        return faults


def try_case(name, shape, schedules, ways, model):
    """All schedules of a network in a shape; prints a line, and returns whether
    all is well: None where it has too few layers.  model(batch): tdlc's arguments."""
    began = time.perf_counter()
    stages, tensors, replicas = shape
    batch = turns(stages) * tensors * replicas
    with tempfile.TemporaryDirectory() as folder:
        case = Case(model(batch), shape, folder, ways)
        try:
            faults = case.try_all(schedules)
        except Failed:
            return None
    print(f"{name:21} {stages:6} {tensors:7} {replicas:8} "
          f"{time.perf_counter() - began:7.1f} s  {schedules[-1]:13} "
          f"{'; '.join([*(faults or ['well']), *sorted(case.notes)])}",
          flush=True)
    return not faults


# ---- which of them ----------------------------------------------------------

def of_three(name):
    model, *options = NETS[name]
    return lambda batch: [os.path.join(MODELS, model), *options,
                          f"-Dbatch={batch}"]


class Ended:
    """What came of cases, also of those that a file has; each is added there."""
    WORDS = {True: "well", False: "faulty", None: "too few layers"}

    def __init__(self, path):
        self.path, self.cases = path, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.cases = dict(line.rstrip("\n").split("\t") for line in f)

    def try_case(self, name, shape, schedules, ways, model):
        """try_case(), unless it has been called before."""
        case = " ".join(map(str, [name, *shape, *schedules, *ways]))
        for well, word in self.WORDS.items():
            if self.cases.get(case) == word:
                return well
        well = try_case(name, shape, schedules, ways, model)
        if self.path:
            with open(self.path, "a", encoding="utf-8") as f:
                print(case, self.WORDS[well], sep="\t", file=f)
        return well


def all_cases(args):
    """The cases of the three networks, each with all schedules."""
    cases = list(itertools.product(args.names or NETS, SHAPES))
    for name, shape in cases[args.first::args.every]:
        well = args.ended.try_case(name, shape, args.schedules, args.ways,
                                   of_three(name))
        if well is None:
            print(f"{name} {shape}: too few layers")
        else:
            yield well


def draw(args, name, model):
    """Cases of a network, in an order that is drawn, each with two schedules;
    those that it has the layers for, as many as are asked for."""
    cases = list(itertools.product(SHAPES, args.schedules))
    random.Random(f"{args.seed} {name}").shuffle(cases)
    found = 0
    for shape, schedule in cases:
        beside = next(s for s in args.schedules if s != schedule)
        well = args.ended.try_case(name, shape, [beside, schedule], args.ways,
                                   model)
        if well is not None:
            found += 1
            yield well
        if found == args.drawn:
            return
    print(f"{name}: it has the layers for {found} cases")


def drawn_cases(args):
    """Some of each other network's."""
    import pipeline_nets as nets
    for name in args.names or (n for n in nets.names() if n not in NETS):
        with tempfile.TemporaryDirectory() as folder:
            model = functools.partial(nets.arguments, name, folder)
            yield from draw(args, name, model)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--from", type=int, default=0, metavar="I",
                        dest="first")
    parser.add_argument("--comm", choices=["threads", "mpi"],
                        default="threads")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--schedules", default=SCHEDULES,
                        type=lambda s: s.split(","))
    parser.add_argument("--drawn", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--done", type=Ended, default=Ended(None),
                        metavar="FILE", dest="ended")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    args.ways = ["threads"] + ["mpi"] * (args.comm == "mpi") + \
        ["cuda"] * args.cuda
    print("network               stages tensors replicas    time")
    done = list((drawn_cases if args.drawn else all_cases)(args))
    print(f"{sum(done)} of {len(done)} cases well, "
          f"{2 if args.drawn else len(args.schedules)} schedules each")
    sys.exit(sum(done) < len(done))


if __name__ == "__main__":
    main()
