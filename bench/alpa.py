"""Plans of the form that Alpa finds, written down as pins, beside ours.

	alpa.py [NAME...]

Stages of whole layers, each on a submesh with so many replicas, as Zheng et al.,
"Alpa", OSDI'22, has them: GPT in equal stages, a mixture of experts in two, a
wide residual network on submeshes of 4, 4 and 8 devices.  Each line has the
predicted seconds of the pins, of the best pipeline, and of the best plan
without stages; the status is 1 where the pins are the fastest.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
TDLC = os.environ.get("TDLC", "./tdlc")
# Name: the model and its sizes, devices, micro-batches, the first layer of each
# stage behind the first, and devices and replicas of all.
PLANS = {
    "gpt": (["gpt2.tdl", "-Dlayers=12", "-Dbatch=16", "--optimizer", "adamw"],
            8, 8, ["layer_3.*", "layer_6.*", "layer_9.*"],
            [(2, 1), (2, 1), (2, 1), (2, 1)]),
    "moe": (["moe.tdl", "-Dlayers=4", "-Dbatch=16", "--optimizer", "adamw",
             "--micro-batch-statistics"], 8, 2, ["layer_2.*"], [(4, 4), (4, 4)]),
    "wide": (["wresnet.tdl", "-Ddepth=50", "-Dwiden=4", "-Dbatch=32"],
             16, 4, ["block_1_*", "block_2_*"], [(4, 4), (4, 2), (8, 2)]),
}


def pins(first, devices):
    lines = [f"{names}=stage {s + 1}" for s, names in enumerate(first)]
    return "\n".join(lines + [f"stage {s}=devices {n},replicas {d}"
                              for s, (n, d) in enumerate(devices)]) + "\n"


def score(name):
    (model, *sizes), k, turns, first, devices = PLANS[name]
    with tempfile.NamedTemporaryFile("w", suffix=".pins") as file:
        file.write(pins(first, devices))
        file.flush()
        done = subprocess.run(
            [TDLC, "score", os.path.join(MODELS, model), *sizes, "--train",
             "-k", str(k), "--micro-batches", str(turns), "--topology",
             "2x8xh100", "--pins", file.name, "--algorithm", "stages",
             "--algorithm", "data-parallel", "--algorithm", "megatron",
             "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    good = True
    print("plan        pins    stages  no stages  seconds predicted, for 2x8xh100")
    for name in parser.parse_args().names or PLANS:
        found = score(name)
        if "error" in found["pinned"]:
            sys.exit(f"{name}: {found['pinned']['error']}")
        own = found["pinned"]["predicted_seconds"]
        ours = found["pipelines"][0].get("predicted_seconds", float("inf"))
        flat = min((p["predicted_seconds"] for p in found["planners"]
                    if "error" not in p), default=float("inf"))
        good = good and min(ours, flat) <= own
        print(f"{name:6} {own:9.5f} {ours:9.5f} {flat:10.5f}", flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
