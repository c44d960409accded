"""The handwritten digits of scikit-learn as two files for tdlrun.

	data.py [FOLDER]	writes train.npz and test.npz

1,797 images of 8 by 8 pixels, the test part of the UCI collection "Optical
Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998).  Every fifth
one is for the test.
"""
import pathlib
import sys

import numpy as np
from sklearn.datasets import load_digits


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    digits = load_digits()
    image = (digits.images / 16).astype(np.float32)[:, None]
    label = digits.target.astype(np.int64)
    test = np.arange(len(label)) % 5 == 4
    np.savez(folder / "train.npz", image=image[~test], label=label[~test])
    np.savez(folder / "test.npz", image=image[test], label=label[test])


main()
