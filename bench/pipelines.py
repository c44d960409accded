"""Plans of several stages, run: schedules x stages x tensors x replicas of three
networks, small, compared with one worker, and with each other.

	pipelines.py [--every N] [--from I] [--comm mpi] [--cuda]
		[--schedules S,S..] [NAME...]

Each line has what all schedules of a case have in common: whether --verify held,
whether bytes and arenas were those of the plan, and how many results, outputs
and states, have other bits than those of the first schedule.  --every N takes
one case of N, from number I on.  --comm mpi runs processes under mpirun, --cuda
on GPUs, or on what stands for these; results are then compared with those of
threads and processors, too.  The status is 1 where one of these is not so.
"""
import argparse
import itertools
import json
import os
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
SCHEDULES = "gpipe", "1f1b", "interleaved:2", "zb"


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {' '.join(command)}\n"
                           f"{done.stderr[-800:]}")
    return json.loads(done.stdout)


def launched(how, workers):
    """The command that runs a plan in a way."""
    if how == "mpi":
        return ["mpirun", "--oversubscribe", "-n", str(workers), TDLRUN,
                "--comm", "mpi", "--kernels", "interpreter"]
    if how == "cuda":
        return [TDLRUN, "--backend", "cuda"]
    return [TDLRUN, "--kernels", "interpreter"]


def elsewhere(how, plan, workers, out, want):
    """The faults of a run in another way, whose results are to be `want`: of
    GPUs, but for rounding, for which --verify allows."""
    command, *rest = launched(how, workers)
    ran = call(command, *rest, plan, "--verify", "--outputs", out, "--json")
    faults = [] if ran["verified"] else [f"{how}: not verified"]
    if ran["communication_bytes"] != ran["predicted_communication_bytes"]:
        faults.append(f"{how}: bytes")
    with np.load(out) as results:
        got = {n: results[n] for n in results.files}
    other = differing(want, got) if how == "mpi" else \
        sorted(want.keys() ^ got.keys())
    return faults + ([f"{how}: other bits ({other[0]})"] if other else [])


def run(net, schedule, stages, tensors, replicas, folder, ways):
    """One plan and its run: a list of faults, and the results by name."""
    plan, out = os.path.join(folder, "plan"), os.path.join(folder, "out.npz")
    turns = max(4, stages)
    model, *options = NETS[net]
    told = call(TDLC, "plan", os.path.join(MODELS, model), *options,
                f"-Dbatch={turns * tensors * replicas}", "--train", "--optimizer",
                "adamw", "-k", str(stages * tensors * replicas),
                "--stages", str(stages), "--replicas", str(replicas),
                "--schedule", schedule, "--micro-batches", str(turns),
                "-o", plan, "--json")
    ran = call(*launched("threads", told["devices"]), plan, "--verify",
               "--outputs", out, "--json")
    faults = []
    if not ran["verified"]:
        faults.append("not verified")
    if not ran["communication_bytes"] == told["communication_bytes"] \
            == ran["predicted_communication_bytes"]:
        faults.append("bytes")
    arenas = [s["arena_bytes"] for s in ran.get("stages", [ran])]
    if arenas != [s["peak_bytes"] for s in told["stages"]]:
        faults.append("arenas")
    with np.load(out) as results:
        found = {n: results[n] for n in results.files}
    for how in ways:
        faults += elsewhere(how, plan, told["devices"], out, found)
    return faults, found


def differing(a, b):
    """The names of results whose bits are not the same."""
    if a.keys() != b.keys():
        return sorted(a.keys() ^ b.keys())
    return [n for n in a if a[n].tobytes() != b[n].tobytes()]


def case(net, stages, tensors, replicas, schedules, ways):
    """All schedules of a case; prints a line, and returns whether all is well."""
    began, faults, first = time.perf_counter(), [], None
    with tempfile.TemporaryDirectory() as folder:
        for schedule in schedules:
            try:
                wrong, results = run(net, schedule, stages, tensors, replicas,
                                     folder, ways)
            except RuntimeError as e:
                faults.append(f"{schedule}: {e}".strip())
                continue
            faults += [f"{schedule}: {w}" for w in wrong]
            first = first or results
            other = differing(first, results)
            if other:
                faults.append(f"{schedule}: other bits in {len(other)} of "
                              f"{len(first)} ({other[0]})")
    print(f"{net:6} {stages:6} {tensors:7} {replicas:8} "
          f"{time.perf_counter() - began:7.1f} s  "
          f"{'; '.join(faults) or 'well'}", flush=True)
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--from", type=int, default=0, metavar="I",
                        dest="first")
    parser.add_argument("--comm", choices=["threads", "mpi"],
                        default="threads")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--schedules", default=",".join(SCHEDULES))
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    cases = list(itertools.product(args.names or NETS, (1, 2, 4, 8), (1, 2),
                                   (1, 2)))[args.first::args.every]
    print("net    stages tensors replicas   time")
    ways = ["mpi"] * (args.comm == "mpi") + ["cuda"] * args.cuda
    schedules = args.schedules.split(",")
    good = sum([case(*c, schedules, ways) for c in cases])
    print(f"{good} of {len(cases)} cases well, {len(schedules)} schedules each")
    sys.exit(good < len(cases))


if __name__ == "__main__":
    main()
