"""The cases of nodes_cases.py again, at every opset at which ONNX changed the
operator: what a case asks for, where that opset's schema has it."""
import onnx

FIRST = 7  # the oldest opset that is supported
# Nodes that are no operators of tensors, or that are computed while
# importing.
NOT_HERE = {"Constant", "ConstantOfShape", "Shape", "Size", "If", "Loop",
            "Scan", "SequenceMap", "Gradient"}


def schemas():
    """(domain, name) -> {since: schema}, of those in force from FIRST on."""
    found = {}
    for s in onnx.defs.get_all_schemas_with_history():
        if s.domain in ("", "ai.onnx"):
            found.setdefault(s.name, {})[s.since_version] = s
    for name, versions in found.items():
        old = [v for v in versions if v <= FIRST]
        for v in sorted(old)[:-1]:
            del versions[v]
    return {name: {v: s for v, s in versions.items() if not s.deprecated}
            for name, versions in found.items()}


def fits(schema, inputs, attrs, outputs):
    """Whether the schema has these inputs, of these types, attributes and
    outputs."""
    if isinstance(outputs, tuple) or \
            not schema.min_input <= len(inputs) <= schema.max_input or \
            not set(attrs) <= set(schema.attributes) or \
            not schema.min_output <= outputs <= schema.max_output or \
            any(a.required and n not in attrs
                for n, a in schema.attributes.items()):
        return False
    allowed = {c.type_param_str: c.allowed_type_strs
               for c in schema.type_constraints}
    for i, x in enumerate(inputs):
        if x is None:
            continue
        array = getattr(x, "array", x)
        of = schema.inputs[min(i, len(schema.inputs) - 1)].type_str
        name = {"float32": "float", "float64": "double"}.get(
            array.dtype.name, array.dtype.name)
        if f"tensor({name})" not in allowed.get(of, [of]):
            return False
    return True


def at_every_opset(cases):
    """More cases, one for each operator and opset that has none yet, and the
    pairs for which there is none."""
    all_schemas, more, missing = schemas(), [], []
    by_name = {}
    for case in cases:
        by_name.setdefault(case[1], []).append(case)
    for op in sorted(set(by_name) & set(all_schemas)):
        since = sorted(all_schemas[op])
        for i, v in enumerate(since):
            end = since[i + 1] if i + 1 < len(since) else 10 ** 9
            at = max(v, FIRST)
            if any(at <= c[4] < end for c in by_name[op]):
                continue
            fitting = [c for c in by_name[op]
                       if fits(all_schemas[op][v], c[2], c[3], c[5])]
            if fitting:
                name, _, inputs, attrs, _, outputs, tolerance = fitting[0]
                more.append((f"{name}@{at}", op, inputs, attrs, at, outputs,
                             tolerance))
            else:
                missing.append((op, at))
    return more, missing


def untried(cases):
    """Operators without a case."""
    return sorted(set(schemas()) - {c[1] for c in cases} - NOT_HERE)
