"""Weights in the files of tdlrun, NumPy's .npz, and in .safetensors."""
import os
import re

import numpy as np
import torch

_NOTE = "tdlrun.checkpoint"  # the position of a run, no tensor


def newest(path):
    """The file itself, or the newest checkpoint in a folder."""
    if not os.path.isdir(path):
        return path
    steps = {int(m[1]): m[0] for m in
             (re.fullmatch(r"\D*(\d+)\.npz", name)
              for name in os.listdir(path)) if m}
    if not steps:
        raise FileNotFoundError(f"{path} has no checkpoint")
    return os.path.join(path, steps[max(steps)])


def read(path):
    """The tensors of a file, by name."""
    path = newest(os.fspath(path))
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file
        return load_file(path)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: torch.from_numpy(np.array(arrays[name]))
                for name in arrays.files if name != _NOTE}


def write(path, tensors):
    """The file appears whole or not at all."""
    path = os.fspath(path)
    whole = {name: _whole(x) for name, x in tensors.items()}
    part = f"{path}.part"
    try:
        if path.endswith(".safetensors"):
            from safetensors.torch import save_file
            save_file(whole, part)
        else:
            with open(part, "wb") as f:
                np.savez(f, **{k: v.numpy() for k, v in whole.items()})
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def _whole(x):
    x = x.detach()
    if hasattr(x, "full_tensor"):
        x = x.full_tensor()
    return x.cpu().contiguous()
