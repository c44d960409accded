"""Makes samples for tdlrun from a text, and a text from the output of tdlrun.

	data.py TEXT [FOLDER]		writes train.npz and test.npz
	data.py TEXT --decode FILE.npz	prints its array `text`

A character's number is its place among the characters of the text, sorted.  A
sample is CONTEXT characters and those that follow each of them; the last tenth
of the text is for the test.
"""
import argparse
import pathlib

import numpy as np

CONTEXT = 64


def samples(numbers, stride):
    """A sample begins every `stride` characters."""
    first = np.arange(0, len(numbers) - CONTEXT, stride)
    at = first[:, None] + np.arange(CONTEXT)
    return {"ids": numbers[at], "label": numbers[at + 1]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("text", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path, nargs="?", default=".")
    p.add_argument("--decode", metavar="FILE.npz")
    args = p.parse_args()
    text = args.text.read_text(encoding="utf-8")
    letters = sorted(set(text))
    if args.decode:
        with np.load(args.decode) as arrays:
            written = arrays["text"].flatten()
        print("".join(letters[i] for i in written).strip())
        return
    number = {letter: i for i, letter in enumerate(letters)}
    numbers = np.array([number[letter] for letter in text], np.int64)
    end = len(numbers) * 9 // 10
    np.savez(args.folder / "train.npz",
             **samples(numbers[:end], CONTEXT // 2))
    np.savez(args.folder / "test.npz", **samples(numbers[end:], CONTEXT))
    print(f"{len(letters)} different characters")


main()
