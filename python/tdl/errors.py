"""What libtdl reports, as exceptions."""
from dataclasses import dataclass
from typing import Optional, Sequence


@dataclass(frozen=True)
class Diagnostic:
    """A finding: severity is "error", "warning" or "note"; a note belongs to
    the finding before it.  Lines and columns count from 1; 0 is none."""
    severity: str
    name: str
    message: str
    file: Optional[str] = None
    line: int = 0
    column: int = 0

    def __str__(self):
        place = ""
        if self.file:
            place = self.file
            if self.line:
                place += f":{self.line}:{self.column}"
            place += ": "
        name = f" [{self.name}]" if self.name else ""
        return f"{place}{self.severity}: {self.message}{name}"


class TdlError(Exception):
    """A call that failed; .diagnostics says why."""

    def __init__(self, diagnostics: Sequence[Diagnostic]):
        super().__init__("\n".join(map(str, diagnostics)) or
                         "the call failed")
        self.diagnostics = list(diagnostics)


class InputError(TdlError, ValueError):
    """An input is at fault: a file, a text, a value."""


class UsageError(TdlError, TypeError):
    """An option is at fault, or the order of calls."""


class NoPlanError(TdlError):
    """No plan satisfies the limits."""


class MachineError(TdlError, OSError):
    """A file, a thread or a program failed."""

    def __str__(self):
        return self.args[0]


class OutOfMemoryError(TdlError, MemoryError):
    """There is no memory, or the quota of the context is reached."""


class CancelledError(TdlError):
    """Context.cancel() has ended the call."""
