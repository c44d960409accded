"""Contexts: what all else belongs to."""
import json
import warnings
import weakref

from . import errors
from ._lib import ffi, lib, operators_folder

_SEVERITIES = {lib.TDL_ERROR: "error", lib.TDL_WARNING: "warning",
               lib.TDL_NOTE: "note"}
_EXCEPTIONS = {
    lib.TDL_INPUT: errors.InputError, lib.TDL_USAGE: errors.UsageError,
    lib.TDL_NO_PLAN: errors.NoPlanError,
    lib.TDL_MACHINE: errors.MachineError,
    lib.TDL_NO_MEMORY: errors.OutOfMemoryError,
    lib.TDL_CANCELLED: errors.CancelledError,
}


class TdlWarning(UserWarning):
    """A warning of a call that succeeded."""


def _words(value):
    """The values of an option: a flag has None."""
    if isinstance(value, bool):
        return [None] if value else []
    if value is None:
        return []
    if isinstance(value, dict):
        return [f"{k}={v}" for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [str(v) for v in value]
    return [str(value)]


class Options:
    """Options as C has them: train=True is a flag, micro_batches=4 is
    "micro-batches", a list or a dict stands for an option that is repeated."""

    def __init__(self, values):
        pairs = [(name.replace("_", "-"), word)
                 for name, value in values.items() for word in _words(value)]
        self._kept = [ffi.new("char[]", text.encode()) for pair in pairs
                      for text in pair if text is not None]
        kept = iter(self._kept)
        self.at = ffi.new("tdl_option[]", len(pairs) + 1)
        for option, (_, word) in zip(self.at, pairs):
            option.name = next(kept)
            option.value = ffi.NULL if word is None else next(kept)


def _end(free, x, context):
    """A context has to live as long as what belongs to it."""
    assert context
    free(x)


class Context:
    """Operators, models and plans belong to a context, which one thread uses at
    a time.  quota: bytes that it may use; 0 for any number."""

    def __init__(self, quota=0, operators=None):
        self._at = lib.tdl_context_new(ffi.NULL)
        if self._at == ffi.NULL:
            raise MemoryError("no memory for a context")
        weakref.finalize(self, lib.tdl_context_free, self._at)
        lib.tdl_context_set_quota(self._at, quota)
        folder = operators or operators_folder()
        if folder:
            self._check(lib.tdl_context_set_operators(self._at,
                                                      str(folder).encode()))

    def add_file(self, path):
        """A file of operators that models may use beside the library."""
        self._check(lib.tdl_context_add_file(self._at, str(path).encode()))

    def add_profile(self, path):
        """A profile of tdlrun, by which times are predicted from now on."""
        self._check(lib.tdl_context_add_profile(self._at, str(path).encode()))

    def add_folder(self, path):
        """Another folder in which imports are looked up."""
        self._check(lib.tdl_context_add_folder(self._at, str(path).encode()))

    def cancel(self):
        """Ends the call that is running, or the next one; from any thread."""
        lib.tdl_cancel(self._at)

    # ---- for the other classes -------------------------------------------

    def diagnostics(self):
        """The findings of the last call."""
        n = ffi.new("size_t *")
        at = lib.tdl_diagnostics(self._at, n)
        text = lambda x: ffi.string(x).decode() if x != ffi.NULL else None
        return [errors.Diagnostic(_SEVERITIES[at[i].severity],
                                  text(at[i].name), text(at[i].message),
                                  text(at[i].file), at[i].line, at[i].column)
                for i in range(n[0])]

    def _check(self, status):
        """Raises what a status stands for, and warns of what was found."""
        found = self.diagnostics()
        if status in _EXCEPTIONS:
            raise _EXCEPTIONS[status](found)
        for d in found:
            if d.severity == "warning":
                warnings.warn(str(d), TdlWarning, stacklevel=4)

    def _made(self, owner, x, free):
        """What a call has made for an object, and is freed behind it."""
        if x == ffi.NULL:
            self._check(lib.tdl_last_status(self._at))
        weakref.finalize(owner, _end, free, x, self)
        self._check(lib.TDL_OK)
        return x

    def _text(self, x):
        """A text that a call has made; TDL_DIFFERENCE comes with one."""
        if x == ffi.NULL:
            self._check(lib.tdl_last_status(self._at))
        try:
            self._check(lib.TDL_OK)
            return ffi.string(x).decode()
        finally:
            lib.tdl_text_free(x)

    def _json(self, x):
        return json.loads(self._text(x))
