"""Faults that are known, and not mended yet, so that each is reported once."""
import lambdas

CHOOSING = ("if", "max", "min", "relu", "abs", "Max", "Min")


def expressions(e):
    """All expressions in a tree, the tree included."""
    if isinstance(e, list):
        if e and isinstance(e[0], str):
            yield e
        for x in e:
            yield from expressions(x)


def of_operators(case):
    for op in case["model"]["operators"]:
        for _, _, body in op["lets"]:
            yield from expressions(body)
        yield from expressions(op["body"])


def mean_of_reduction(case, said):
    """The extents of both are what it divides by."""
    return any(e[0] == "Mean" and isinstance(e[2], list)
               and e[2][0] in lambdas.REDUCERS for e in of_operators(case)) \
        and said.startswith("values")


def greatest_of_expression(case, said):
    """Whose elements are compared with their rounded greatest one."""
    return case["how"]["train"] and said.startswith("values") and any(
        e[0] in ("Max", "Min") and len(e[1]) > 1
        and e[2][0] not in ("read", "guard") for e in of_operators(case))


def lost_guard(case, said):
    """In the condition of a gradient a guard's number that is not 0."""
    return case["how"]["train"] and said.startswith("values") and any(
        g[0] == "guard" and g[3] for e in of_operators(case)
        if e[0] in CHOOSING for g in expressions(e))


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


def invalid_gradient(case, said):
    """A gradient is no valid TDL: a read whose guard is lost, a position out
    of an expression."""
    return "_grad_" in said and ("read-outside" in said or "'ravel'" in said)


def unused_variable(case, said):
    """Of ArgMax, or of a gradient of Max: the C has no such variable."""
    return "undeclared" in said


FAULTS = [mean_of_reduction, greatest_of_expression, lost_guard,
          folded_reduction, trained_for_nothing, rounding_alone,
          invalid_gradient, unused_variable]


def recognised(case, said):
    """The name of the fault, or None."""
    for fault in FAULTS:
        if fault(case, said):
            return fault.__name__
    return None
