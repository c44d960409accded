# Tests: compiler/onnx
"""docs/coverage.md: what of ONNX tdlc has, operator by operator.

	coverage.py [--write]

Without options it checks that the file is what it would write.  Everything in
it follows from the operators of the installed onnx package, the entries in
opdefs/onnx/, the strategies that tdlc derives, and conformance.tsv, which
conformance.py holds against all node tests.
"""
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

try:
    import onnx
    import conformance
    import node_tests
except ImportError as e:
    print(f"SKIP: {e}")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PAGE = os.path.join(ROOT, "docs", "coverage.md")
TDLC = os.environ.get("TDLC", "tdlc")
OPDEFS = os.environ.get("TDL_OPDEFS", os.path.join(ROOT, "opdefs"))
TRAINING = "ai.onnx.preview.training"

CLASSES = {
    "A": "one lambda, whose indices are affine",
    "A+": "a few such lambdas after each other, or coefficients that depend "
          "on the index",
    "Q": "indices with division and remainder",
    "D": "indices out of data",
    "S": "shapes, which are known when planning",
    "O": "scans, sorts, recurrences, resampling: all of some dimensions is "
         "needed, the others are free",
    "R": "random numbers, drawn by position",
    "C": "control flow, sequences, optionals, evaluated when planning",
    "X": "strings, pictures, shapes that depend on data",
}
OUT = {
    "C": "nothing is known when planning",
    "X": "no tensors of numbers, or of no known shape",
}
ENTRY = re.compile(r'^onnx (?:"([\w.]+)" )?"(\w+)" (\d+)(?:(\.\.)(\d*))?',
                   re.M)
BUILTIN = re.compile(r'\{ "(\w+)", builtin_')


# ---- what there is -----------------------------------------------------------


def classes():
    with open(os.path.join(HERE, "operators.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f
                if not line.startswith("#")]
    return {name: kind for name, _, kind in rows}


def versions():
    """By operator the opsets that changed it."""
    found = collections.defaultdict(set)
    for s in onnx.defs.get_all_schemas_with_history():
        if s.domain in ("", TRAINING):
            name = f"{s.domain}.{s.name}" if s.domain else s.name
            found[name].add(s.since_version)
    return found


def entries():
    """By operator the opsets that opdefs/onnx/ maps, as pairs; and the
    operators that the importer has itself."""
    found = collections.defaultdict(list)
    folder = os.path.join(OPDEFS, "onnx")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".tdl"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            for domain, op, since, open_, until in ENTRY.findall(f.read()):
                key = f"{domain}.{op}" if domain else op
                last = int(until) if until else None if open_ else int(since)
                found[key].append((int(since), last))
    with open(os.path.join(ROOT, "compiler", "onnx", "onnx_builtin.c"),
              encoding="utf-8") as f:
        for op in BUILTIN.findall(f.read()):
            found[op].append((1, None))
    return found


def ranges(pairs):
    """Opsets that follow each other as one range: "1..12, 13.."."""
    merged = []
    for since, until in sorted(pairs, key=lambda p: p[0]):
        if merged and merged[-1][1] is not None and \
                since <= merged[-1][1] + 1:
            merged[-1][1] = until
        else:
            merged.append([since, until])
    return ", ".join(f"{a}.." if b is None else f"{a}" if a == b
                     else f"{a}..{b}" for a, b in merged)


def tdlc(*words):
    done = subprocess.run([TDLC, *words], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def mapped():
    """By operator of ONNX those of the library that its entry calls."""
    found = collections.defaultdict(list)
    for op in tdlc("ops", "--json")["operators"]:
        for name in op["onnx"]:
            found[name].append(op["name"])
    return found


def strategies():
    """By operator of the library: what is split, and what is reduced."""
    files = [os.path.join(OPDEFS, n) for n in sorted(os.listdir(OPDEFS))
             if n.endswith(".tdl")]
    found = {}
    for op in tdlc("compile", *files, "--emit=json", "-o", "-")["operators"]:
        split, reduced, known = [], [], "open" not in op
        for stage in op.get("stages", [op]):
            known &= "open" not in stage
            for s in stage.get("strategies", ()):
                word = s["variable"]
                if s["kind"] == "reduce":
                    word += f" ({s['reducer']})"
                to = split if s["kind"] == "split" else reduced
                if word not in to:
                    to.append(word)
        found[op["name"]] = split, reduced, known
    return found


# ---- tests -------------------------------------------------------------------


class Tally:
    """Tests of one operator."""

    def __init__(self):
        self.tests = self.passed = 0
        self.reasons = collections.Counter()


def tallies():
    lines = conformance.Expectations(conformance.LIST).lines
    found = collections.defaultdict(Tally)
    for t in node_tests.load():
        name = f"{t.domain}.{t.op}" if t.domain else t.op
        tally = found[name]
        tally.tests += 1
        for kind, pattern, reason in lines:
            if fnmatch.fnmatchcase(t.name, pattern):
                break
        else:
            kind = "passed"
        if kind in ("passed", "interpreter"):
            tally.passed += 1
        else:
            tally.reasons[reason] += 1
    return found


# ---- the page ----------------------------------------------------------------


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(x).replace("|", "\\|") or " "
                                for x in row) + " |"


def share(passed, tests):
    return f"{100 * passed / tests:.1f} %" if tests else ""


def summary(kinds, names, maps, tests):
    for kind, about in CLASSES.items():
        ops = [n for n in names if kinds.get(n) == kind]
        ran = sum(tests[n].tests for n in ops)
        passed = sum(tests[n].passed for n in ops)
        yield (kind, about, len(ops), sum(n in maps for n in ops), ran,
               passed, share(passed, ran))
    ran = sum(tests[n].tests for n in names)
    passed = sum(tests[n].passed for n in names)
    yield ("", "all", len(names), sum(n in maps for n in names), ran, passed,
           share(passed, ran))


def why_out(name, kind, maps, tally):
    reasons = [f"{why} ({n})" for why, n in sorted(tally.reasons.items())]
    if name not in maps and not reasons:
        reasons.append(OUT.get(kind, "it has no entry"))
    return "; ".join(reasons)


def operators(kinds, names, maps, tests, since, calls):
    for n in sorted(names, key=lambda n: n.rsplit(".", 1)[-1]):
        yield (n, kinds.get(n, ""),
               ", ".join(str(v) for v in sorted(since[n])),
               ranges(maps[n]) if n in maps else "",
               ", ".join(sorted(calls.get(n, []))),
               f"{tests[n].passed} of {tests[n].tests}"
               if tests[n].tests else "",
               why_out(n, kinds.get(n), maps, tests[n]))


def library(found, calls):
    users = collections.defaultdict(list)
    for name, ops in calls.items():
        for op in ops:
            users[op].append(name)
    for op, (split, reduced, known) in sorted(found.items()):
        if op in users:
            yield (f"`{op}`", ", ".join(split), ", ".join(reduced),
                   "" if known else "with shapes")


def page():
    kinds, since, maps = classes(), versions(), entries()
    tests, calls, found = tallies(), mapped(), strategies()
    names = sorted(since)
    missing = [n for n in names if n not in kinds]
    if missing:
        sys.exit(f"operators.tsv has no class for {', '.join(missing)}")
    yield f"""# Coverage of ONNX

This page is for users with a model in ONNX; it assumes nothing.

It covers the operators of ONNX {onnx.__version__}, including those of
`{TRAINING}`, without those of `ai.onnx.ml` and without functions.
`make coverage-doc` writes this page, and `make check` checks that it is current.

A node test passes if its ONNX file, planned by `tdlc plan` and run by `tdlrun`,
gives the results that the test expects, on one worker and on several.  Inputs
that exporters write as constants (axes, shapes, pads) are constants.
`tests/onnx/conformance.py` runs all tests on 1 and 3 workers, with `--devices
1,2,3` also on two, and fails if a result differs from the counts here.
"""
    yield from table(("class", "", "operators", "mapped", "tests", "passed",
                      ""), summary(kinds, names, maps, tests))
    yield """
## Operators

*Changed in* are the opsets that changed an operator, *mapped* those that an
entry in `opdefs/onnx/` covers.
"""
    yield from table(("operator", "class", "changed in", "mapped",
                      "operators of the library", "tests passed",
                      "why others do not"),
                     operators(kinds, names, maps, tests, since, calls))
    yield """
## Strategies

The table has the derived variables of each operator that entries call, over all
of its stages.  If an operator's loops follow from shapes (a reshape), `tdlc
explain OP --shape ..` prints its strategies.
"""
    yield from table(("operator", "split along", "reduced along", "known"),
                     library(found, calls))


def main():
    if "--write" in sys.argv[1:]:
        text = "\n".join(page()) + "\n"
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(text)
        return
    with open(PAGE, encoding="utf-8") as f:
        lines = f.read().splitlines()
    if not any(f"ONNX {onnx.__version__}," in line for line in lines[:8]):
        print(f"SKIP: the page is not about ONNX {onnx.__version__}")
        sys.exit(77)
    text = "\n".join(page()) + "\n"
    wrong = [line for line in lines if line not in text.splitlines()]
    for line in wrong[:5]:
        print(f"out of date: {line}")
    if "\n".join(lines) + "\n" != text:
        sys.exit("docs/coverage.md is not what `make coverage-doc` writes")


if __name__ == "__main__":
    main()
