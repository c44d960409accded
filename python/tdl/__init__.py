"""tdlc in Python: operators, models, plans and runs.

    import tdl
    plan = tdl.Model("mlp.tdl", train=True).search(8)
"""
from .context import Context, TdlWarning
from .errors import (CancelledError, Diagnostic, InputError, MachineError,
                     NoPlanError, OutOfMemoryError, TdlError, UsageError)
from .objects import Model, Module, Plan, Run

__all__ = ["CancelledError", "Context", "Diagnostic", "InputError",
           "MachineError", "Model", "Module", "NoPlanError",
           "OutOfMemoryError", "Plan", "Run", "TdlError", "TdlWarning",
           "UsageError", "version"]


def version():
    """Of libtdl."""
    from ._lib import ffi, lib
    return ffi.string(lib.tdl_version()).decode()
