"""A PyTorch module as ONNX: exported, with its weights told apart, and loaded by
libtdl.

The names of what the graph computes, and of parameters, are the same in the
exported graph and in the ONNX model.
"""
import fnmatch
import glob
import os
import re
import warnings

import onnx_ir
import torch
from torch.onnx.errors import OnnxExporterError

from . import dtensors
from .context import TdlWarning
from .objects import Model

_MOST_IN_MEMORY = 1 << 30  # bytes of weights; protobuf takes 2 GiB


def _first_line(e):
    """Of the fault that led to others."""
    while e.__cause__ is not None:
        e = e.__cause__
    lines = str(e).strip().splitlines()
    return lines[0][:300] if lines else type(e).__name__


def export(module, args, kwargs, train):
    """The exported program and its ONNX model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = torch.onnx.export(
                module, args, kwargs=kwargs, dynamo=True, optimize=False,
                external_data=False, verbose=False, opset_version=20)
        except OnnxExporterError as e:
            raise ValueError("PyTorch cannot export the module: "
                             f"{_first_line(e)}") from e
    _use_own_statistics(program)
    _warn_of_smoothing(program)
    if train:
        first = program.model.graph.outputs[0]
        if list(first.shape or ()) == []:
            first.name = "loss"
    return program


def _use_own_statistics(program):
    """Batch normalisations that the exported graph computes with the batch's
    statistics: the exporter writes all of them as if they used running ones."""
    of = {n.name: n for n in program.exported_program.graph.nodes}
    for n in program.model.graph:
        made_of = of.get(_owner(n)) if n.op_type == "BatchNormalization" \
            else None
        if made_of is None:
            continue
        if dtensors.arguments(made_of).get("training"):
            n.attributes.add(onnx_ir.AttrInt64("training_mode", 1))


def _warn_of_smoothing(program):
    """PyTorch writes a loss with smoothed labels to ONNX as one without."""
    for n in program.exported_program.graph.nodes:
        if n.target == torch.ops.aten.cross_entropy_loss.default and \
                dtensors.arguments(n).get("label_smoothing"):
            warnings.warn(
                f"PyTorch's export leaves out the label smoothing of {n.name}: "
                "tdlrun and exported plans compute the loss without it, and "
                "to_dtensor with it", TdlWarning, stacklevel=4)


def load(context, program, folder, options):
    """The model; one of many weights goes through a file."""
    nbytes = sum(x.numel() * x.element_size() for x in
                 program.exported_program.state_dict.values())
    if nbytes < _MOST_IN_MEMORY:
        data = program.model_proto.SerializeToString()
        return Model("module.onnx", data=data, context=context, **options)
    path = os.path.join(folder, "module.onnx")
    program.save(path, external_data=True)
    return Model(path, context=context, **options)


def _statistics(exported):
    """The names of running statistics, buffers that training changes."""
    buffers = exported.graph_signature.inputs_to_buffers
    for n in exported.graph.nodes:
        if isinstance(n.target, torch._ops.OpOverload):
            for a, x in zip(n.target._schema.arguments, n.args):
                if a.name in ("running_mean", "running_var") and \
                        isinstance(x, torch.fx.Node) and x.name in buffers:
                    yield buffers[x.name]


def _fits(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def weights(module, program, options, evaluate):
    """The --train-only and --freeze of a module: its parameters that the graph
    has and that require a gradient, of these those that the user's patterns
    leave; for a plan that evaluates all that a checkpoint has.  Other buffers,
    constants and what was frozen are initializers, too.  A weight of several
    modules has a name in each, one of which the graph has."""
    only, freeze = ([x] if isinstance(x, str) else list(x or ()) for x in
                    (options.get("train_only"), options.get("freeze")))
    trained = [(n, p) for n, p in
               module.named_parameters(remove_duplicate=False)
               if p.requires_grad]
    inside = program.model.graph.initializers
    name_of = {id(p): n for n, p in trained if n in inside}
    names = {n: name_of[id(p)] for n, p in trained if id(p) in name_of}
    if not names:
        raise ValueError("the module computes with no parameter that requires "
                         "a gradient")
    for p in only:
        if not fnmatch.filter(names, p):
            raise ValueError(f"no parameter that requires a gradient fits '{p}'")
    frozen = {kept for n, kept in names.items() if _fits(n, freeze)}
    chosen = [kept for n, kept in names.items()
              if kept not in frozen and (not only or _fits(n, only))]
    if not chosen:
        raise ValueError("'freeze' leaves no parameter that is trained")
    if evaluate:
        chosen += [n for n in _statistics(program.exported_program)
                   if n in inside]
    return {"train_only": [glob.escape(n) for n in dict.fromkeys(chosen)],
            "freeze": [p for p in freeze if not fnmatch.filter(names, p)]}


def owners(onnx):
    """The exported graph's node of each named node of the ONNX model."""
    return {n.name: _owner(n) for n in onnx if n.name and _owner(n)}


def _owner(n):
    """The exported graph's node of a node of the ONNX model; None."""
    text = n.metadata_props.get("pkg.torch.onnx.fx_node", "")
    found = re.match(r"%(\w+) :", text)
    return found[1] if found else None
