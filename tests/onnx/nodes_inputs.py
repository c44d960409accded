"""The inputs of the cases of nodes.py, drawn, and the list of cases."""
import numpy as np

RNG = np.random.default_rng(3)
CASES = []


class Constant:
    """An input that is known when planning."""

    def __init__(self, array, dtype=np.int64):
        self.array = array if isinstance(array, np.ndarray) \
            else np.array(array, dtype)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def positive(*shape):
    return RNG.uniform(0.5, 2, shape).astype(np.float32)


def ints(*shape, low=-9, high=10, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


def places(*shape, size):
    """Positions without repetition in each plane, numbered through all."""
    planes = int(np.prod(shape[:2]))
    count = int(np.prod(shape[2:]))
    rows = [RNG.permutation(size)[:count] + i * size for i in range(planes)]
    return np.array(rows, np.int64).reshape(shape)


def bools(*shape):
    return RNG.integers(0, 2, shape).astype(bool)


def case(op, *inputs, opset=17, outputs=1, note="", tolerance=1e-5, **attrs):
    name = f"{op}{'-' + note if note else ''}-{len(CASES)}"
    CASES.append((name, op, inputs, attrs, opset, outputs, tolerance))
