"""Faults that are known, and not mended yet, so that each is reported once."""


def rounding_alone(case, said):
    """`verify` of a gradient that is 0 but for rounding, which does not show
    where moved inputs leave one worker's 0."""
    return said.startswith("verify") \
        and case["how"]["optimizer"] in ("lion", "adam", "adamw")


FAULTS = [rounding_alone]


def recognised(case, said):
    """The name of the fault, or None."""
    for fault in FAULTS:
        if fault(case, said):
            return fault.__name__
    return None
