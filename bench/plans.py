"""The time in which steps of training are planned: import and all of `tdlc plan` as
wall time and as processor time, the search as it says itself, the least of R.

	plans.py [--repeat R] [NAME...]

NAME: rows of the table below.
"""
import argparse
import json
import os
import resource
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "examples", "models")
TDLC = os.environ.get("TDLC", "./tdlc")
LLAMA_70B = ["-Dlayers=80", "-Dwidth=8192", "-Dheads=64", "-Dkv_heads=8",
             "-Dwide=28672"]
ROWS = {
    "wresnet-152-10": ("wresnet.tdl", 8, []),
    "rnn-10-8k": ("rnn.tdl", 8, []),
    "rnn-100-steps": ("rnn.tdl", 8, ["-Dsteps=100"]),
    "gpt3-96": ("gpt3.tdl", 64, ["--optimizer", "adamw"]),
    "gpt3-300": ("gpt3.tdl", 8, ["-Dlayers=300"]),
    "gpt3-1100": ("gpt3.tdl", 8, ["-Dlayers=1100"]),
    "unet-4096": ("unet.tdl", 4096, []),
    "unet-4096-h100": ("unet.tdl", 4096, ["--topology", "h100-cluster"]),
    "llama-70b": ("llama.tdl", 1024, LLAMA_70B),
    "llama-70b-h100": ("llama.tdl", 1024,
                       [*LLAMA_70B, "--topology", "h100-cluster"]),
    "mlp-joint": ("mlp.tdl", 256, ["--algorithm", "joint"]),
    "mlp-optcnn": ("mlp.tdl", 256, ["--algorithm", "optcnn"]),
    "gpt3-auto": ("gpt3.tdl", 64, ["--algorithm", "auto",
                                   "--topology", "h100-cluster"]),
}


def run(*args):
    """Wall time, processor time, and what is printed."""
    began, before = time.perf_counter(), processor()
    done = subprocess.run([TDLC, *args], stdout=subprocess.PIPE, check=True)
    return time.perf_counter() - began, processor() - before, done.stdout


def processor():
    """Seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(model, devices, options, repeat):
    path = os.path.join(MODELS, model)
    plan = ["plan", path, "-k", str(devices), "--train", *options, "--json"]
    runs = [(*seconds, json.loads(text))
            for *seconds, text in (run(*plan) for _ in range(repeat))]
    told = runs[0][2]
    return {"operators": told["operators"],
            "search": min(r["search_seconds"] for *_, r in runs),
            "all": min(wall for wall, *_ in runs),
            "processor": min(used for _, used, _ in runs),
            "proven": all(told["optimal_by_step"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, metavar="R")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    print(f"{'':16} {'devices':>7} {'operators':>9} {'search':>10} "
          f"{'all':>10} {'processor':>10} optimal")
    for name in args.names or ROWS:
        model, devices, options = ROWS[name]
        r = measure(model, devices, options, args.repeat)
        print(f"{name:16} {devices:7} {r['operators']:9} "
              f"{r['search'] * 1e3:7.0f} ms {r['all'] * 1e3:7.0f} ms "
              f"{r['processor'] * 1e3:7.0f} ms "
              f"{'proven' if r['proven'] else 'not proven'}", flush=True)


if __name__ == "__main__":
    main()
