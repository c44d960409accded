"""Broken .tdl files."""
import random

from harness import Judge, TDLC

CONV = """/// 1-D convolution.
op conv1d(data[B, CI, X], filters[CI, CO, DX]) -> out[B, CO, X - DX + 1] =
    lambda b, co, x:
        Sum(lambda ci, dx: data[b, ci, x + dx] * filters[ci, co, dx])
"""
DEEP = 100_000


def op(body, name="f"):
    return f"op {name}(a[N]) -> b[N] = lambda i: {body}\n"


def random_bytes(n):
    return random.Random(7).randbytes(n)


# name -> (text, number of messages)
CASES = {
    "binary": (random_bytes(100_000), None),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(9) + random_bytes(5000), None),
    "zeros": (bytes(100_000), None),
    "parentheses": ("(" * 10_000_000, 1),
    "braces": ("{" * 10_000_000, 1),
    "brackets": ("[" * 10_000_000, 1),
    "ops": ("op " * 1_000_000, None),
    "slashes in a body": (op("a[i] / " * 1_000_000), None),
    "lambdas": (op("lambda j: " * DEEP + "a[i]"), 1),
    "sums": (op("Sum(lambda j: " * DEEP + "a[i]" + ")" * DEEP), 1),
    "nested parentheses": (op("(" * DEEP + "a[i]" + ")" * DEEP), 1),
    "nested reads": (op("a[" * DEEP + "i" + "]" * DEEP), 1),
    "nested guards": (op("(a[i] else " * DEEP + "0" + ")" * DEEP), 1),
    "nested calls": (op("exp(" * DEEP + "a[i]" + ")" * DEEP), 1),
    "minuses": (op("-" * DEEP + "a[i]"), 1),
    "nots": (op("not " * DEEP + "a[i]"), 1),
    "ifs": (op("if i < 1 then a[i] else " * DEEP + "a[i]"), 1),
    "thens": (op("if i < 1 then " * DEEP + "a[i]"), 1),
    "long sum": (op("a[i]" + " + a[i]" * DEEP), 1),
    "nested lists": ("op f(a[N]; k: int[] = " + "[" * DEEP + "]" * DEEP +
                     ") -> b[N] = lambda i: a[i]\n", None),
    "nested packs": ("op f(a[" + "..(d \\ " * DEEP + "e" + ")" * DEEP +
                     "]) -> b[N] = lambda i: 0\n", None),
    "nested blocks": ('onnx "X" 1.. (x) ' +
                      "{ if rank(x) == 1 " * DEEP + "}" * DEEP, None),
    "unfinished string": ('import "' + "x" * 100_000, 1),
    "string over lines": ('import "x\ny"\n', None),
    "long name": (op("a[i]", name="x" * 1_000_000), 1),
    "long number": (op("9" * 1_000_000), 1),
    "long fraction": (op("0." + "9" * 1_000_000 + "e999999 + c[i]"), None),
    "big size": ("op f(a[99999999999999999999]) -> b[1] = lambda i: a[i]\n", 1),
    "long import": (f'import "{"x" * 100_000}"\n', 1),
    "import of a device": ('import "/dev/null/x"\n', 1),
    "import of a folder": ('import "/"\n', 1),
    "import of itself": ('import "import_of_itself.tdl"\n', 1),
    "utf-8 in a name": (op("a[i]", name="f\xe9"), None),
    "invalid utf-8": (b"op f\xff\xfe(a[N]) -> b[N] = lambda i: a[i]\n", None),
    "invalid utf-8 in a string": (b'import "\xff\xc0\x80\xed\xa0\x80"\n', None),
    "invalid utf-8 in a comment": (b"// \xff\xc0\n", 1),
    "zero byte": (b"op f(a[N]) -> b[N]\0 = lambda i: a[i]\n", None),
    "escape": (b"op \x1b[31mf(a[N]) -> b[N] = lambda i: a[i]\n", None),
    "many faults": ("op ;\n" * 100_000, None),
    "many faulty ops": ("".join(op("z[i]", f"f{i}") for i in range(20_000)),
                        None),
    "same op": (op("a[i]") * 20_000, None),
    "many parameters": ("op f(" + ", ".join(f"a{i}[N]" for i in range(50_000))
                        + ") -> b[N] = lambda i: z[i]\n", None),
    "many dimensions": ("op f(a[" + ", ".join(f"N{i}" for i in range(50_000))
                        + "]) -> b[N0] = lambda i: z[i]\n", None),
    "many variables": ("op f(a[N]) -> b[N] = lambda "
                       + ", ".join(f"i{i}" for i in range(50_000))
                       + ": a[i0]\n", None),
    "too large": (b"//" + bytes(100 << 20), 1),
}


def main():
    judge = Judge()
    out = judge.out + "/x"
    commands = (
        ("check", lambda path: [TDLC, "check", path]),
        ("compile", lambda path: [TDLC, "compile", path, "--emit=json", "-o",
                                  out, "-MD", "-MF", out + ".d"]),
        ("fmt", lambda path: [TDLC, "fmt", path]),
    )
    for name, (text, errors) in CASES.items():
        path = judge.write(name.replace(" ", "_") + ".tdl", text)
        for command, line in commands[:2]:
            judge.run(f"{command}: {name}", line(path), errors=errors)
        # What is wrong in meaning alone, fmt may lay out.
        before = open(path, "rb").read()
        code = judge.run(f"fmt: {name}", commands[2][1](path), status=(0, 1),
                         errors=None)
        if code == 1 and open(path, "rb").read() != before:
            judge._fault(f"fmt: {name}", "changed a broken file")
    for n in range(1, len(CONV) - 1, 5):
        path = judge.write("truncated.tdl", CONV[:n])
        judge.run(f"check: the first {n} bytes", commands[0][1](path),
                  status=(0,) if "op" not in CONV[:n] else (1,), errors=None)
    rng = random.Random(3)
    for i in range(200):
        text = bytearray(CONV.encode())
        for _ in range(rng.randint(1, 6)):
            text[rng.randrange(len(text))] = rng.randrange(256)
        path = judge.write("mutated.tdl", bytes(text))
        judge.run(f"check: mutation {i}", commands[0][1](path), status=(0, 1),
                  errors=None)
    judge.write("a.tdl", 'import "b.tdl"\n')
    judge.write("b.tdl", 'import "a.tdl"\n')
    judge.run("check: import cycle",
              commands[0][1](judge.folder + "/a.tdl"))
    for i in range(3000):
        judge.write(f"chain/{i}.tdl", f'import "{i + 1}.tdl"\n')
    judge.run("check: import chain",
              commands[0][1](judge.folder + "/chain/0.tdl"))
    judge.finish()


if __name__ == "__main__":
    main()
