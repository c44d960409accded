"""The tables of docs/tofu.md: the networks of Tofu (Wang, Huang, Li,
EuroSys'19), a step of training each, planned by all planners.

	tofu.py [--repeat R] [SECTION...]

SECTION: of the table below; all without one.
"""
import argparse
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
TDLC = os.environ.get("TDLC", "./tdlc")

WRESNET = {f"WResNet-{d}-10": ["wresnet.tdl", f"-Ddepth={d}"]
           for d in (50, 101, 152)}
RNN = {f"RNN-{n}-8K": ["rnn.tdl", f"-Dlayers={n}"] for n in (6, 8, 10)}
# Figure 10: its two networks, and each planner's share of communication.
FIGURE_10 = {
    "RNN-4-8K, batch 512": (
        ["rnn.tdl", "-Dlayers=4", "-Dbatch=512"],
        {"allrow": "24.5 %", "spartan": "21.1 %", "equalchop": "13.8 %",
         "optcnn": "13.2 %", "tofu": "6.4 %"}),
    "WResNet-152-10, batch 8": (
        WRESNET["WResNet-152-10"],
        {"allrow": "no memory", "spartan": "33.8 %", "equalchop": "35.2 %",
         "optcnn": "no memory", "tofu": "21.9 %"}),
}
# Table 1: seconds with recursion, and what it says of doing without.
TABLE_1 = {"WResNet-152-10": (8.3, "8 hours"),
           "RNN-10-8K": (66.6, "> 24 hours")}
# compiler/cost/topology.c's 8xk80 and 2x8xh100 with other links.
K80 = {"name": "half a Tesla K80", "memory": 12 << 30, "bandwidth": 240e9,
       "launch": 5e-6, "flops": {"f64": 1.4e12, "f32": 4.1e12}}
H100 = {"name": "H100 SXM", "memory": 80 << 30, "bandwidth": 3.35e12,
        "launch": 3e-6, "flops": {"f64": 34e12, "f32": 67e12}}
INFINIBAND = {"name": "InfiniBand", "latency": 8e-6, "bandwidth": 50e9}
FREE = {"name": "free", "latency": 0, "bandwidth": 1e30}
NVLINK = {"name": "NVLink", "latency": 3e-6, "bandwidth": 450e9}


def run(command, model, *options, k=8):
    """What `tdlc COMMAND MODEL` says with --json."""
    path = os.path.join(MODELS, model[0])
    done = subprocess.run(
        [TDLC, command, path, *model[1:], "-k", str(k), "--train", "--json",
         *options], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def table(head, rows):
    print("|", " | ".join(head), "|")
    print("|---" * len(head) + "|")
    for row in rows:
        print("|", " | ".join(row), "|", flush=True)
    print()


def machine(folder, device, *levels):
    """The path of a topology file."""
    name = "-".join(f"{level['size']}{level['name']}" for level in levels)
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"format": "tdl-topology", "version": 1, "name": name,
                   "device": device, "levels": levels}, out)
    return path


# ---- communication ---------------------------------------------------------

def communication(_):
    """The byte model of every planner, GB a step, and the gap of those that
    cut every tensor."""
    told = {name: run("compare", model)["planners"]
            for name, model in {**WRESNET, **RNN}.items()}
    planners = [p["algorithm"] for p in next(iter(told.values()))]

    def cell(p):
        if "error" in p:
            return "-"
        text = f"{p['byte_model']['total'] / 1e9:.1f}"
        return text if p["gap"] is None else f"{text} ({100 * p['gap']:.1f})"

    def moved(p):
        return ("-" if "error" in p
                else f"{p['communication_bytes'] / 1e9:.1f}")

    for value in cell, moved:
        table(["", *told],
              [[f"`{name}`", *(value(of[i]) for of in told.values())]
               for i, name in enumerate(planners)])


# ---- search times ----------------------------------------------------------

def times(args):
    """Table 1: search time for 8 workers."""
    rows = []
    for name, model in {**WRESNET, **RNN}.items():
        runs = [run("plan", model) for _ in range(args.repeat)]
        all_at_once = [run("plan", model, "--algorithm", "joint")
                       for _ in range(args.repeat)]
        joint = min(all_at_once, key=lambda r: r["search_seconds"])
        paper = TABLE_1.get(name)
        rows.append([
            name, str(runs[0]["operators"]),
            f"{min(r['search_seconds'] for r in runs) * 1e3:.0f} ms",
            f"{paper[0]} s" if paper else "",
            f"{joint['search_seconds']:.2f} s", paper[1] if paper else "",
            f"{runs[0]['byte_model']['total'] / 1e9:.2f}",
            f"{joint['byte_model']['total'] / 1e9:.2f}",
            "-" if joint["lower_bound"] is None
            else f"{joint['lower_bound'] / 1e9:.2f}"])
    table(["", "operators", "`tofu`", "paper, recursion", "`joint`",
           "paper, without", "`tofu`, GB", "`joint`, GB", "bound, GB"], rows)


def recursion(_):
    """What the steps of tofu move, and those of joint."""
    rows = []
    for name, model in {**WRESNET, **RNN}.items():
        for planner in "tofu", "joint":
            told = run("plan", model, "--algorithm", planner)["byte_model"]
            rows.append([name, f"`{planner}`",
                         *(f"{b / 1e9:.2f}" for b in told["by_step"]),
                         f"{told['total'] / 1e9:.2f}"])
    table(["GB", "", "step 1", "step 2", "step 3", "in all"], rows)


# ---- figure 10 -------------------------------------------------------------

def figure10(_):
    """The part of a predicted step that is communication: the step on 8 halves
    of K80s, and on the same ones with links that take no time."""
    with tempfile.TemporaryDirectory() as folder:
        free = machine(folder, K80, {**FREE, "size": 8})
        for name, (model, paper) in FIGURE_10.items():
            rows = []
            for planner, share in paper.items():
                how = ["--algorithm", planner, "--topology"]
                slow = run("plan", model, *how, "8xk80")
                fast = run("plan", model, *how, free)["predicted_seconds"]
                all_of_it = slow["predicted_seconds"]
                rows.append([
                    f"`{planner}`", f"{all_of_it:.2f} s",
                    f"{100 * (1 - fast / all_of_it):.1f} %", share,
                    f"{slow['peak_bytes_per_device'] / 2**30:.1f} GiB"])
            table([name, "predicted", "communication", "paper", "memory"],
                  rows)


# ---- one dimension, the first step's ---------------------------------------

def repeated(_):
    """What plans move that cut every tensor for 8 devices along the dimension
    that is the best for 2, as Tofu's prototype of EqualChop does; operators,
    and tensors that are too short for that, are left to `tofu`."""
    rows = []
    networks = {"RNN-4-8K, batch 512": FIGURE_10["RNN-4-8K, batch 512"][0],
                **RNN, **WRESNET}
    with tempfile.TemporaryDirectory() as folder:
        pins = os.path.join(folder, "pins")
        for name, model in networks.items():
            with open(pins, "w", encoding="utf-8") as out:
                for t in run("plan", model, k=2)["tensor_layouts"]:
                    how = t["layout"][0]
                    if (how.startswith("cut ") and
                            t["shape"][int(how.split()[1])] >= 8):
                        out.write(f"{t['name']}={how}\n")
            told = run("score", model, "--pins", pins, "--algorithm", "tofu",
                       "--algorithm", "equalchop")
            rows.append([name, *(f"{p['byte_model']['total'] / 1e9:.1f}"
                                 for p in (*told["planners"],
                                           told["pinned"]))])
    table(["GB", "`tofu`", "`equalchop`", "first step, repeated"], rows)


# ---- figure 11 -------------------------------------------------------------

def place(name):
    """("0", 2, "b") of block_0_2.b.y, a convolution of it or a gradient;
    "stem" is a stage of its own."""
    block, _, rest = name.partition(".")
    if not block.startswith("block_"):
        return block, 0, block
    _, stage, number = block.split("_")
    return stage, int(number), rest.split(".")[0]


class Plan:
    """A plan file, as far as the figure needs it."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.file = json.load(file)

    def convolutions(self):
        return ((i, n) for i, n in enumerate(self.file["nodes"])
                if n["op"].startswith("conv"))

    def divided(self, node):
        """"n/n/k": the variable that each axis divides."""
        names = self.file["kernels"][node["kernel"]]["vars"]
        return "/".join("-" if v is None else names[v][0]
                        for v in node["cuts"])

    def sharers(self, node):
        """How many devices hold partial results of the same."""
        kinds = self.file["kernels"][node["kernel"]]["vars"]
        n = 1
        for size, v in zip(self.file["mesh"], node["cuts"]):
            n *= size if v is not None and kinds[v][1] != "output" else 1
        return n

    def received(self):
        """Per node what a device brings together for it: bytes of weights
        and their gradients, and bytes of activations and theirs."""
        buffers, nodes = self.file["buffers"], self.file["nodes"]
        all_of_it = {}
        for step in self.file["program"]:
            to = buffers[step["to"]]
            if step.get("move", "local") != "local" and to["region"] == "needs":
                node, size = to["node"], to["bytes"]
                weight = self.file["tensors"][to["tensor"]]["role"] == "state"
            elif "combine" in step:
                node = step["combine"]
                size = to["bytes"] * (self.sharers(nodes[node]) - 1)
                weight = nodes[node]["op"].endswith("grad_w")
            else:
                continue
            all_of_it.setdefault(node, [0, 0])[not weight] += size
        return all_of_it


def forward(plan):
    """Rows of blocks that are divided alike: stage, blocks, and how the
    convolutions are."""
    blocks = {}
    for _, node in plan.convolutions():
        if node["op"] == "conv2d":
            stage, number, which = place(node["name"])
            blocks.setdefault((stage, number), {})[which] = plan.divided(node)
    rows = []
    for (stage, number), ways in blocks.items():
        if rows and rows[-1][0] == stage and rows[-1][2] == ways:
            rows[-1][1].append(number)
        else:
            rows.append([stage, [number], ways])
    return rows


def figure11(_):
    """How the convolutions of WResNet-152-10 are divided, and what a device
    receives of weights and of activations."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan")
        run("plan", WRESNET["WResNet-152-10"], "-o", path)
        plan = Plan(path)
    table(["stage", "blocks", "1x1, narrowing", "3x3", "1x1, widening",
           "shortcut"],
          [[stage, str(n[0]) if len(n) == 1 else f"{n[0]} to {n[-1]}",
            *(ways.get(which, "") for which in "abc"),
            ways.get("short", ways.get("stem", ""))]
           for stage, n, ways in forward(plan)])
    stages, received = {}, plan.received()
    for i, node in plan.convolutions():
        at = stages.setdefault(place(node["name"])[0], [0, 0])
        for kind, size in enumerate(received.get(i, [0, 0])):
            at[kind] += size
    table(["stage", "weights, GB", "activations, GB"],
          [[stage, *(f"{size / 1e9:.2f}" for size in at)]
           for stage, at in stages.items()])


# ---- machines --------------------------------------------------------------

def machines(_):
    """What moves takes, predicted, of a step on 16 H100s in two boxes: the
    slow link for the first axis of the mesh, for the last, and for all."""
    first, inside = {**INFINIBAND, "size": 2}, {**NVLINK, "size": 8}
    with tempfile.TemporaryDirectory() as folder:
        free = machine(folder, H100, {**FREE, "size": 16})
        places = {
            "InfiniBand first": "2x8xh100",
            "InfiniBand last": machine(folder, H100, inside, first),
            "InfiniBand alone": machine(folder, H100,
                                        {**INFINIBAND, "size": 16}),
        }
        rows = []
        for name, model in {**WRESNET, **RNN}.items():
            def plan(place, model=[*model, "-Dbatch=256"]):
                return run("plan", model, "--topology", place, k=16)
            kernels = plan(free)
            steps = kernels["byte_model"]["by_step"]
            least = kernels["predicted_seconds"]
            rows.append([
                name, " + ".join(f"{b / 1e9:.0f}" for b in steps),
                f"{least:.2f} s",
                *(f"{(plan(p)['predicted_seconds'] - least) * 1e3:.0f} ms"
                  for p in places.values())])
        table(["", "bytes by step, GB", "kernels", *places], rows)


SECTIONS = {"communication": communication, "times": times,
            "recursion": recursion, "figure10": figure10,
            "repeated": repeated,
            "figure11": figure11, "machines": machines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, metavar="R")
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    args = parser.parse_args()
    for name in args.sections or SECTIONS:
        SECTIONS[name](args)


if __name__ == "__main__":
    main()
