# Tests: dsl
"""Broken .tdl files."""
import os
import random

from harness import Judge, TDLC, sample

CONV = """/// 1-D convolution.
op conv1d(data[B, CI, X], filters[CI, CO, DX]) -> out[B, CO, X - DX + 1] =
    lambda b, co, x:
        Sum(lambda ci, dx: data[b, ci, x + dx] * filters[ci, co, dx])
"""
DEEP = 100_000
MANY = 50_000


def op(body, name="f"):
    return f"op {name}(a[N]) -> b[N] = lambda i: {body}\n"


def of(params, result="b[N]"):
    return f"op f({params}) -> {result} = lambda i: z[i]\n"


def names(letter, suffix=""):
    return ", ".join(f"{letter}{i}{suffix}" for i in range(MANY))


def random_bytes(n):
    return random.Random(7).randbytes(n)


def one_message():
    """Texts that get one message.  They are made one at a time: the memory of
    a child is measured, and it begins as a copy of this process."""
    yield "binary", random_bytes(100_000)
    yield "elf", b"\x7fELF\x02\x01\x01" + bytes(9) + random_bytes(5000)
    yield "zeros", bytes(100_000)
    yield "zero byte", b"op f(a[N]) -> b[N]\0 = lambda i: a[i]\n"
    yield "invalid utf-8", b"op f\xff\xfe(a[N]) -> b[N] = lambda i: a[i]\n"
    yield "invalid utf-8 in a string", b'import "\xff\xc0\x80\xed\xa0\x80"\n'
    yield "invalid utf-8 in a comment", b"// \xff\xc0\n"
    yield "too large", b"//" + bytes(100 << 20)
    yield "parentheses", "(" * 10_000_000
    yield "braces", "{" * 10_000_000
    yield "brackets", "[" * 10_000_000
    yield "lambdas", op("lambda j: " * DEEP + "a[i]")
    yield "sums", op("Sum(lambda j: " * DEEP + "a[i]" + ")" * DEEP)
    yield "nested parentheses", op("(" * DEEP + "a[i]" + ")" * DEEP)
    yield "nested reads", op("a[" * DEEP + "i" + "]" * DEEP)
    yield "nested guards", op("(a[i] else " * DEEP + "0" + ")" * DEEP)
    yield "nested calls", op("exp(" * DEEP + "a[i]" + ")" * DEEP)
    yield "minuses", op("-" * DEEP + "a[i]")
    yield "nots", op("not " * DEEP + "a[i]")
    yield "ifs", op("if i < 1 then a[i] else " * DEEP + "a[i]")
    yield "thens", op("if i < 1 then " * DEEP + "a[i]")
    yield "long sum", op("a[i]" + " + a[i]" * DEEP)
    yield "unfinished string", 'import "' + "x" * 100_000
    yield "long name", op("a[i]", name="x" * 1_000_000)
    yield "long number", op("9" * 1_000_000)
    yield "big size", "op f(a[99999999999999999999]) -> b[1] = lambda i: a[i]"
    yield "long import", f'import "{"x" * 100_000}"\n'
    yield "import below a device", 'import "/dev/null/x"\n'
    yield "import of a folder", 'import "/"\n'
    yield "import of itself", 'import "import_of_itself.tdl"\n'


def some_messages():
    """Texts that may get several messages."""
    yield "nested lists", of("a[N]; k: int[] = " + "[" * DEEP + "]" * DEEP)
    yield "nested packs", of("a[" + "..(d \\ " * DEEP + "e" + ")" * DEEP + "]")
    yield "nested blocks", ('onnx "X" 1.. (x) ' + "{ if rank(x) == 1 " * DEEP
                            + "}" * DEEP)
    yield "string over lines", 'import "x\ny"\n'
    yield "long fraction", op("0." + "9" * 1_000_000 + "e999999 + c[i]")
    yield "utf-8 in a name", op("a[i]", name="f\xe9")
    yield "escape", b"op \x1b[31mf(a[N]) -> b[N] = lambda i: a[i]\n"
    yield "ops", "op " * 1_000_000
    yield "divisions", op("a[i] / " * 1_000_000)
    yield "many faults", "op ;\n" * 100_000
    yield "many faulty ops", "".join(op("z[i]", f"f{i}") for i in range(20_000))
    yield "one op often", op("a[i]") * 20_000
    yield "many parameters", of(names("a", "[N]"))
    yield "many dimensions", of("a[" + names("N") + "]", "b[N0]")
    yield "many attributes", of("a[N]; " + names("k", ": int = 1"))
    yield "many variables", (f"op f(a[N]) -> b[N] = lambda {names('i')}: "
                             "a[i0]\n")


def check(path):
    return [TDLC, "check", path]


def judge_text(judge, name, text, errors):
    path = judge.write(name.replace(" ", "_") + ".tdl", text)
    del text
    out = judge.out + "/x"
    judge.run(f"check: {name}", check(path), errors=errors)
    judge.run(f"compile: {name}",
              [TDLC, "compile", path, "--emit=json", "-o", out, "-MD", "-MF",
               out + ".d"], errors=errors)
    # A text with only semantic errors can still be formatted.
    before = os.stat(path)
    code = judge.run(f"fmt: {name}", [TDLC, "fmt", path], status=(0, 1),
                     errors=None)
    after = os.stat(path)
    if code == 1 and (before.st_ino, before.st_mtime_ns) != (
            after.st_ino, after.st_mtime_ns):
        judge.fault(f"fmt: {name}", "changed a broken file")
    os.remove(path)


def mutated(rng):
    text = bytearray(CONV.encode())
    for _ in range(rng.randint(1, 6)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    return bytes(text)


def judge_parts_of_conv(judge):
    for n in sample(range(1, len(CONV) - 1, 5)):
        path = judge.write("truncated.tdl", CONV[:n])
        judge.run(f"check: the first {n} bytes", check(path),
                  status=(1,) if "op" in CONV[:n] else (0, 1), errors=None)
    rng = random.Random(3)
    for i, text in sample([(i, mutated(rng)) for i in range(200)]):
        path = judge.write("mutated.tdl", text)
        judge.run(f"check: mutation {i}", check(path), status=(0, 1),
                  errors=None)


def judge_imports(judge):
    judge.write("a.tdl", 'import "b.tdl"\n')
    judge.write("b.tdl", 'import "a.tdl"\n')
    judge.run("check: import cycle", check(judge.folder + "/a.tdl"))
    for i in range(3000):
        judge.write(f"chain/{i}.tdl", f'import "{i + 1}.tdl"\n')
    judge.run("check: import chain", check(judge.folder + "/chain/0.tdl"))


def main():
    judge = Judge()
    for name, text in one_message():
        judge_text(judge, name, text, errors=1)
        del text
    for name, text in some_messages():
        judge_text(judge, name, text, errors=None)
        del text
    judge_parts_of_conv(judge)
    judge_imports(judge)
    judge.finish()


if __name__ == "__main__":
    main()
