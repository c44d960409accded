"""Element types: what NumPy and ml_dtypes call them, what .npz files hold."""
import ml_dtypes
import numpy as np

# TDL's names of the types that NumPy does not have.
SMALL = {
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f6e2m3": ml_dtypes.float6_e2m3fn,
    "f6e3m2": ml_dtypes.float6_e3m2fn,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
    "i4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "i2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
}
NAMES = {np.dtype(t): name for name, t in SMALL.items()}


def is_float(dtype):
    name = NAMES.get(dtype)
    return name[0] in "fb" if name else dtype.kind == "f"


def stored(array):
    """An array as npz files hold it: floats by their bits, integers in the
    least type that there is."""
    name = NAMES.get(array.dtype)
    if not name:
        return array
    if name[0] in "iu":
        return array.astype(np.int8 if name[0] == "i" else np.uint8)
    return array.view(f"u{array.dtype.itemsize}")


def bits(dtype):
    """How many bits of an element count."""
    name = NAMES.get(np.dtype(dtype))
    if not name:
        return 8 * np.dtype(dtype).itemsize
    return int(name.lstrip("bfiu").split("e")[0])
