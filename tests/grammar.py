# Tests: dsl
"""The grammar that is printed, docs/grammar.md of the build folder, is that of
the parser: sentences made of it at random are read without a syntax error, and
all definitions of the library are sentences of it.

	grammar.py [SEED]
"""
import os
import random
import re
import subprocess
import sys
import tempfile

TDLC = os.environ["TDLC"]
OPDEFS = os.environ["TDL_OPDEFS"]
SENTENCES = 1000
DEEP = 7  # from there on the shortest way out is taken


# ---- the grammar: ("alt", [..]), ("seq", [..]), ("opt", x), ("many", x),
# ---- ("word", text), ("name", text)


def read_grammar(path):
    text = open(path, encoding="utf-8").read()
    rules, patterns = {}, {}
    for block in re.findall(r"```ebnf\n(.*?)```", text, re.S):
        for rule in re.split(r"\n(?=\w+ =)", block.strip()):
            name, _, body = rule.partition(" = ")
            words = re.findall(r'"[^ ]+"|\w+|[|()\[\]{}]', body)
            rules[name.strip()], rest = read_alternatives(words)
            assert not rest, (name, rest)
    tokens = text.split("## Tokens")[1]
    for line in re.search(r"```\n(.*?)```", tokens, re.S)[1].splitlines():
        name, pattern = line.split(None, 1)
        patterns[name] = pattern.replace('\\"', '"')
    return rules, patterns


def read_alternatives(words):
    found = []
    while True:
        sequence = []
        while words and words[0] not in ("|", ")", "]", "}"):
            item, words = read_item(words)
            sequence.append(item)
        found.append(("seq", sequence))
        if not words or words[0] != "|":
            return ("alt", found), words
        words = words[1:]


def read_item(words):
    first = words[0]
    kinds = {"(": "alt", "[": "opt", "{": "many"}
    if first in kinds:
        inner, rest = read_alternatives(words[1:])
        return (inner if first == "(" else (kinds[first], inner)), rest[1:]
    if first[0] == '"':
        return ("word", first[1:-1]), words[1:]
    return ("name", first), words[1:]


# ---- sentences ---------------------------------------------------------------


class Maker:
    SAMPLES = {"NAME": ["x", "N", "d", "lambda_", "op_1"],
               "INT": ["0", "1", "23"], "FLOAT": ["0.5", "1e-5", "2.0E+3"],
               "STRING": ['"a"', '""', '"\\n\\"\\\\"'],
               "HEAD": ["h_{", "_{"], "MIDDLE": ["}_x_{", "}_{"],
               "TAIL": ["}", "}_w"]}

    def __init__(self, rules, rng):
        self.rules, self.rng = rules, rng
        self.least = {name: 10**6 for name in rules}
        for _ in rules:
            for name, rule in rules.items():
                self.least[name] = min(self.least[name], 1 + self.cost(rule))

    def cost(self, x):
        """How deep the shortest sentence of x is."""
        kind, of = x
        if kind == "alt":
            return min(self.cost(y) for y in of)
        if kind == "seq":
            return max([0] + [self.cost(y) for y in of])
        return self.least.get(of, 0) if kind == "name" else 0

    def make(self, x, depth):
        kind, of = x
        if kind == "word":
            return [of]
        if kind == "name":
            return self.named(of, depth)
        if kind == "seq":
            return sum((self.make(y, depth) for y in of), [])
        if kind in ("opt", "many"):
            times = self.rng.choice([0, 1] if kind == "opt" else [0, 1, 2])
            return sum((self.make(of, depth)
                        for _ in range(0 if depth > DEEP else times)), [])
        if depth > DEEP:
            of = sorted(of, key=self.cost)[:1]
        return self.make(self.rng.choice(of), depth)

    def named(self, name, depth):
        if name in self.SAMPLES:
            return [self.rng.choice(self.SAMPLES[name])]
        if name == "name" and self.rng.random() < 0.9:
            return self.named("NAME", depth)
        made = self.make(self.rules[name], depth + 1)
        if name == "written":  # the parser knows the types of attributes
            made[0] = self.rng.choice(["int", "axis", "string"])
        # An expression of lower precedence than its context stands in
        # parentheses.
        return ["(", *made, ")"] if name == "expr" and len(made) > 1 else made

    def definition(self):
        return self.make(self.rules["definition"], 0)


def is_sound(words):
    """What the text below the grammar says: arguments without a name come
    first; words of expressions are names before some marks."""
    named = [False]
    for i, word in enumerate(words):
        after = words[i + 1] if i + 1 < len(words) else ""
        if word in ("if", "then", "else", "not", "and", "or", "true", "false",
                    "pi", "inf", "lambda", "return") and after in "[=:(":
            return False
        if word[0] in ")]}":
            named.pop()
        if word[-1] in "([{":
            named.append(False)
        if word == "=":
            named[-1] = True
        elif word == ",":
            if named[-1] and words[i + 1:i + 3][1:] != ["="] and after != "..":
                return False
    return True


def check_sentences(rules, seed):
    rng = random.Random(seed)
    maker = Maker(rules, rng)
    lines = []
    while len(lines) < SENTENCES:
        words = maker.definition()
        if is_sound(words):
            lines.append(" ".join(words))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.tdl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        done = subprocess.run([TDLC, "fmt", path], capture_output=True,
                              text=True, timeout=60)
    if done.returncode:
        sys.exit("made of the grammar, but not read (seed %d):\n%s"
                 % (seed, done.stderr[:3000]))
    print(len(lines), "sentences of the grammar are read")


# ---- the other way: whether tokens are a definition --------------------------


def tokens_of(text, patterns):
    comments = r"//[^\n]*"
    marks = r'->|\.\.\.|\.\.|[<>=!]=|[][(){},;:?\\&=<>+*/%-]'
    token = re.compile("|".join(
        [comments, patterns["STRING"], patterns["FLOAT"], patterns["INT"],
         patterns["NAME"], marks]))
    return [t for t in (m[0] for m in token.finditer(text))
            if not t.startswith("//")]


def split_definitions(tokens, begins):
    at = [i for i, t in enumerate(tokens)
          if t in begins and depth_is_zero(tokens, i)] + [len(tokens)]
    return [tokens[a:b] for a, b in zip(at, at[1:])]


def depth_is_zero(tokens, i):
    before = tokens[max(0, i - 1):i]
    return not before or before[0] not in (",", "(", "[", ".", "lambda")


class Reader:
    """All places where what begins at a place may end, remembered."""

    def __init__(self, rules, patterns, tokens):
        self.rules, self.tokens, self.known = rules, tokens, {}
        self.patterns = {k: re.compile(v) for k, v in patterns.items()}

    def ends(self, x, at):
        kind, of = x
        if kind == "word":
            return {at + 1} if self.tokens[at:at + 1] == [of] else set()
        if kind == "alt":
            return set().union(*(self.ends(y, at) for y in of))
        if kind == "seq":
            places = {at}
            for y in of:
                places = set().union(*(self.ends(y, p) for p in places))
            return places
        if kind == "opt":
            return {at} | self.ends(of, at)
        if kind == "many":
            return self.closure({at}, of)
        return self.named(of, at)

    def closure(self, found, of):
        new = set(found)
        while new:
            new = set().union(*(self.ends(of, p) for p in new)) - found
            found = found | new
        return found

    def named(self, name, at):
        if name in self.patterns:
            ok = at < len(self.tokens) and \
                self.patterns[name].fullmatch(self.tokens[at])
            return {at + 1} if ok else set()
        if (name, at) not in self.known:
            self.known[name, at] = set()
            self.known[name, at] = self.rule(name, at)
        return self.known[name, at]

    def rule(self, name, at):
        """x = y | x z is read as y { z }."""
        first, rest = [], []
        for sequence in self.rules[name][1]:
            left = sequence[1][:1] == [("name", name)]
            (rest if left else first).append(
                ("seq", sequence[1][left:]))
        return self.closure(self.ends(("alt", first), at), ("alt", rest)) \
            if rest else self.ends(("alt", first), at)


def check_library(rules, patterns):
    definitions = 0
    begins = {of[0][1] for _, of in rules["definition"][1]}
    for folder, _, names in sorted(os.walk(OPDEFS, followlinks=True)):
        for name in sorted(names):
            if not name.endswith(".tdl"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                tokens = tokens_of(f.read(), patterns)
            for words in split_definitions(tokens, begins):
                reader = Reader(rules, patterns, words)
                if len(words) not in reader.named("definition", 0):
                    sys.exit("%s: the grammar does not have: %s"
                             % (path, " ".join(words)))
                definitions += 1
    assert definitions > 100, definitions
    print(definitions, "definitions of the library are sentences")


def main():
    sys.setrecursionlimit(20000)
    rules, patterns = read_grammar("docs/grammar.md")
    check_sentences(rules, int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    check_library(rules, patterns)


main()
