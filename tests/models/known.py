"""Faults that are known, and not mended yet, so that each is reported once."""
import lambdas


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


def invalid_gradient(case, said):
    """A gradient is no valid TDL: a read whose guard is lost, a position out
    of an expression."""
    return "_grad_" in said and ("read-outside" in said or "'ravel'" in said)


def unused_variable(case, said):
    """Of ArgMax, or of a gradient of Max: the C has no such variable."""
    return "undeclared" in said


FAULTS = [mean_of_reduction, greatest_of_expression, invalid_gradient,
          unused_variable]


def recognised(case, said):
    """The name of the fault, or None."""
    for fault in FAULTS:
        if fault(case, said):
            return fault.__name__
    return None
