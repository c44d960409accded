"""Faults that are known, and not mended yet, so that each is reported once."""


def folded_reduction(case, said):
    """Of a body that becomes 0, whose variables then have no extents."""
    return "the extent of an index follows from a guarded read" in said


def trained_for_nothing(case, said):
    """A weight that the loss does not hang on decays: its gradient is 0, and
    is not seen to be."""
    return "which PyTorch does not train" in said \
        and case["how"]["attributes"].get("weight_decay", 1)


def rounding_alone(case, said):
    """`verify` of a gradient that is 0 but for rounding, which does not show
    where moved inputs leave one worker's 0."""
    return said.startswith("verify") \
        and case["how"]["optimizer"] in ("lion", "adam", "adamw")


FAULTS = [folded_reduction, trained_for_nothing, rounding_alone]


def recognised(case, said):
    """The name of the fault, or None."""
    for fault in FAULTS:
        if fault(case, said):
            return fault.__name__
    return None
