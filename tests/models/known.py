"""Faults that are known, and not mended yet, so that each is reported once."""


FAULTS = []  # functions of a case and what was said


def recognised(case, said):
    """The name of the fault, or None."""
    for fault in FAULTS:
        if fault(case, said):
            return fault.__name__
    return None
