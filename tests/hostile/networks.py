# Tests: compiler/model
"""Models in TDL that ask for much, or for what there is not."""
from harness import Judge, TDLC, sample

ROUNDS = 1 << 50


def model(body, before="", arguments="n = 3"):
    return f"{before}\nmodel m({arguments}) {{\n{body}\n}}\n"


def loop(body, first="input x[n]", last="output x", before=""):
    return model(f"{first}\nfor i < {ROUNDS} {{ {body} }}\n{last}", before)


def nested(depth):
    return model("input x[n]\n" + f"for i < {ROUNDS} {{\n" * depth
                 + "x = relu(x)\n" + "}\n" * depth + "output x")


DOUBLING = "".join(f"def f{i}(x) {{ return f{i + 1}(f{i + 1}(x)) }}\n"
                   for i in range(28)) + "def f28(x) { return relu(x) }\n"
DEEP = "".join(f"def f{i}(x) {{ return f{i + 1}(x) }}\n"
               for i in range(1000)) + "def f1000(x) { return relu(x) }\n"

CASES = {
    "a loop": loop(""),
    "of numbers": loop("k = i"),
    "of names": loop("h_{i} = 1"),
    "of long names": loop(f"{'h' * 1000}_{{i}} = 1"),
    "of operators": loop("x = relu(x)"),
    "of operators of numbers": loop("x = x + i"),
    "of inputs": loop("input y_{i}[n]"),
    "of parameters": loop("param w_{i}[n]"),
    "of states": loop("state s_{i}[n]"),
    "of shapes": loop("input y_{i}[i]\nz_{i} = softmax(y_{i})"),
    "of lists": loop("h = [1, 2, 3, 4, 5, 6] + [i]"),
    "of long lists": loop("h = fill(65536, i)"),
    "of a list that grows": loop("h = h + [i]", "input x[n]\nh = []"),
    "of lists in lists": loop("h = [h, h]", "input x[n]\nh = []"),
    "of tensors": loop("x = x + tensor([i, i, i], f32)"),
    "of calls": loop("x = f(x)", before="def f(x) { return x }"),
    "of outputs": loop("output x_{i}", "input x[n]\nx_{0} = x"),
    "loops in loops": nested(400),
    "defs that double": model("input x[n]\ny = f0(x)\noutput y", DOUBLING),
    "defs 1,000 deep": model("input x[n]\ny = f0(x)\noutput y", DEEP),
    "a list of many": model("input x[n]\nh = ["
                            + "fill(65536, 1), " * 5000 + "1]\noutput x"),
    "names in names": model("input x[n]\ny = " + "a_{" * 400 + "0"
                            + "}" * 400 + "\noutput y"),
    "a parameter of 2^60 elements": model(
        f"param w[{1 << 30}, {1 << 30}]\noutput w"),
    "initial values that are too many": model(
        "param w[70000] = fill(70000, 1)\noutput w"),
    "an operator of 2^40 elements": model(
        "input x[1048576, 1]\ny = matmul(x, transpose(x, perm = [1, 0]))\n"
        "z = matmul(y, y)\nu = matmul(z, z)\nv = expand(u, shape = "
        "[1048576, 1048576, 1048576])\noutput v"),
}

# Each of their definitions, or names, is at fault.
SEVERAL = {"defs 1,000 deep", "names in names"}


def main():
    judge = Judge()
    for name, text in sample(list(CASES.items())):
        path = judge.write("case.tdl", text)
        for more in [], ["--train"]:
            judge.run(name, [TDLC, "plan", path, "-k", "2", "-o",
                             judge.out + "/p", *more],
                      errors=None if name in SEVERAL else 1)
    judge.finish()


if __name__ == "__main__":
    main()
