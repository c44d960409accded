"""tdlc in Python: operators, models, plans, runs, and plans of PyTorch modules.

    import tdl
    plan = tdl.plan(module, (x, label), devices=8, train=True)
    parallel = plan.to_dtensor(module, plan.device_mesh("cpu"))
"""
from .context import Context, TdlWarning
from .errors import (CancelledError, Diagnostic, InputError, MachineError,
                     NoPlanError, OutOfMemoryError, TdlError, UsageError)
from .objects import Model, Module, Plan, Run

__all__ = ["CancelledError", "Context", "Diagnostic", "InputError",
           "MachineError", "Model", "Module", "NoPlanError",
           "OutOfMemoryError", "Plan", "Run", "TdlError", "TdlWarning",
           "UsageError", "plan", "version"]


def version():
    """Of libtdl."""
    from ._lib import ffi, lib
    return ffi.string(lib.tdl_version()).decode()


def plan(module, example_inputs, devices, **options):
    """A plan for a torch.nn.Module: tdl.torch.plan()."""
    from . import torch
    return torch.plan(module, example_inputs, devices, **options)
