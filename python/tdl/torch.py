"""Plans of PyTorch modules, and modules that run on DTensors as a plan says.

A module is exported by torch.export, and its graph, as ONNX, planned by libtdl.
The names of what the graph computes, and of parameters, are the same in both, so
that a layout of the plan is a layout in the exported graph.
"""
import contextlib
import fnmatch
import glob
import io
import json
import os
import re
import tempfile
import warnings
import zipfile

import onnx_ir
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor._utils import (
    compute_local_shape_and_global_offset)
from torch.distributed.tensor.experimental import implicit_replication
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.onnx.errors import OnnxExporterError
from torch.utils import _pytree as pytree

from . import checkpoints, dtensors
from ._lib import ffi, lib
from .context import Context, TdlWarning
from .objects import Model, Plan

# Of bools, all are true where the least is.
_REDUCE_OPS = {"Sum": "sum", "Prod": "product", "Max": "max", "Min": "min",
               "And": "min", "Or": "max"}
_MOST_IN_MEMORY = 1 << 30  # bytes of weights; protobuf takes 2 GiB


# ---- planning ---------------------------------------------------------------

def _model_options(context):
    n = ffi.new("size_t *")
    at = lib.tdl_function_options(context._at, b"tdl_model_load", n)
    return {ffi.string(at[i].name).decode().replace("-", "_")
            if at[i].name != ffi.NULL else at[i].letter.decode()
            for i in range(n[0])}


def _first_line(e):
    """Of the fault that led to others."""
    while e.__cause__ is not None:
        e = e.__cause__
    lines = str(e).strip().splitlines()
    return lines[0][:300] if lines else type(e).__name__


def _export(module, args, kwargs, train):
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


def _load(context, program, folder, options):
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


def _weights(module, program, options, evaluate):
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


def plan(module, example_inputs, devices, *, example_kwargs=None, train=False,
         context=None, **options):
    """Plans a module for so many devices.

    example_inputs, a tuple, and example_kwargs are what it is called with, with
    their shapes.  With train=True a step of training is planned; the first
    output of the module is the loss then, or loss="softmax_cross_entropy" names
    the operator that computes it of the first output and a label.  Options are
    those of `tdlc plan', with _ for -: memory="80GB", algorithm="auto",
    topology="8xh100-nvlink", optimizer="adamw,lr=1e-3", ..  Without `optimizer'
    a step of training ends with the gradients' update by sgd.  Trained are the
    parameters that require a gradient, of which `train_only' and `freeze' leave
    some.
    """
    if not isinstance(example_inputs, tuple):
        example_inputs = (example_inputs,)
    context = context or Context()
    program = _export(module, example_inputs, example_kwargs or {}, train)
    if "loss" in options and program.model.graph.outputs[0].name == "loss":
        raise ValueError("the module returns a loss itself")
    about_model = _model_options(context)
    of_model = {k: v for k, v in options.items() if k in about_model}
    of_plan = {k: v for k, v in options.items() if k not in about_model}
    if train:
        of_model.update(train=True)
        of_model.setdefault("optimizer", "sgd")
    if train or of_model.get("evaluate"):
        of_model.update(_weights(module, program, of_model, not train))
    folder = tempfile.TemporaryDirectory(prefix="tdl-")
    model = _load(context, program, folder.name, of_model)
    fused = model.search(devices, **of_plan)
    separate = model.search(devices, **{**of_plan, "no_fuse": True})
    tables = separate.tables()
    if "mesh" not in tables:
        raise ValueError("stages have a mesh each, and DTensors one for all: "
                         "plan the module without stages")
    exported = program.exported_program
    loss = None
    if program.model.graph.outputs[0].name == "loss":
        loss = exported.graph_signature.user_outputs[0]
    return TorchPlan(exported, fused, _without_sources(tables),
                     _owners(program.model.graph), loss, folder)


def load(path, context=None):
    """A plan that TorchPlan.save() has written."""
    try:
        with zipfile.ZipFile(path) as z:
            about = json.loads(z.read("about.json"))
            program = torch.export.load(io.BytesIO(z.read("program.pt2")))
            text = z.read("plan.json").decode()
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as e:
        raise ValueError(f"{path} is no saved plan: {e}") from e
    if about.get("format") != "tdl-torch-plan" or about.get("version") != 1:
        raise ValueError(f"{path} is a plan of another version")
    return TorchPlan(program, Plan.of_text(text, path, context),
                     about["tables"], about["owners"], about["loss"],
                     report=about.get("report"))


def _without_sources(tables):
    """Layouts need no kernels' sources."""
    for kernel in tables["kernels"]:
        kernel.pop("c", None)
        kernel.pop("cuda", None)
    return tables


def _owners(onnx):
    """The exported graph's node of each named node of the ONNX model."""
    return {n.name: _owner(n) for n in onnx if n.name and _owner(n)}


def _owner(n):
    """The exported graph's node of a node of the ONNX model; None."""
    text = n.metadata_props.get("pkg.torch.onnx.fx_node", "")
    found = re.match(r"%(\w+) :", text)
    return found[1] if found else None


class TorchPlan:
    """The plan of a module.

    .plan is what tdlrun runs: .plan.write(path), .plan.report(), ..  Layouts
    are those of the same search with every operator a kernel of its own, as
    PyTorch runs them.
    """

    def __init__(self, program, plan, tables, owners, loss, folder=None,
                 report=None):
        """An exported program; its Plan; the tables of the plan with a kernel
        for each operator; the exported graph's nodes by names of ONNX nodes;
        the graph's name of what the plan calls loss, or None; of a plan that is
        loaded, what its search reported."""
        self.program = program
        self.plan = plan
        self.mesh = tuple(tables["mesh"]) or (1,)
        self._tables = tables
        self._owners = owners
        self._folder = folder  # of weights that are in no memory
        self._report = report
        self._layouts = _Layouts(tables, owners)
        self._renamed = {loss: "loss"} if loss else {}
        self._tied = self._find_tied()

    def _find_tied(self):
        """By a name in the module of a tensor that several modules share and that
        the plan has by another name: that name."""
        names = {}
        for name, x in self.program.state_dict.items():
            if x.numel():
                names.setdefault((x.data_ptr(), x.shape, x.stride()),
                                 []).append(name)
        own = self._layouts.tensors
        return {name: kept for group in names.values() for name in group
                for kept in group if kept in own and name not in own}

    def save(self, path):
        """A file for load(): made once, read by each process of a run.  It has
        the exported program, weights among it, and appears whole or not at
        all."""
        program = io.BytesIO()
        torch.export.save(self.program, program)
        about = {"format": "tdl-torch-plan", "version": 1,
                 "tables": self._tables, "owners": self._owners,
                 "loss": next(iter(self._renamed), None),
                 "report": self.report()}
        part = f"{os.fspath(path)}.part"
        try:
            with zipfile.ZipFile(part, "w") as z:
                z.writestr("program.pt2", program.getvalue())
                z.writestr("plan.json", self.plan.text())
                z.writestr("about.json", json.dumps(about))
            os.replace(part, path)
        finally:
            if os.path.exists(part):
                os.remove(part)

    def report(self):
        """The result of the search: `tdlc plan --json'."""
        return self._report or self.plan.report()

    @property
    def communication_bytes(self):
        """The bytes that all processes receive in a step by the layouts that
        to_dtensor() runs.  Those of .report(), of fused operators, may be others:
        what takes the least time depends on how many kernels there are."""
        return self._tables["communication_bytes"]

    def write(self, path):
        """A file that tdlrun runs."""
        self.plan.write(path)

    def device_mesh(self, device_type="cpu"):
        """A DeviceMesh of the plan's shape, of the processes of the default
        group."""
        return init_device_mesh(device_type, self.mesh)

    def placements(self, name):
        """Of a parameter by its name in the module, an input, or a result by
        its name in .program.graph; None where the plan has no such tensor."""
        name = self._renamed.get(name, name)
        return self._layouts.stored(self._tied.get(name, name))

    def to_dtensor(self, module, mesh):
        """A module of the same parameters by the same names, as DTensors, that
        runs the exported graph with the plan's layouts."""
        if tuple(mesh.mesh.shape) != self.mesh:
            raise ValueError(f"the plan is for a mesh of {self.mesh}, not "
                             f"{tuple(mesh.mesh.shape)}: plan.device_mesh()")
        return ParallelModule(self, module, mesh)

    # ---- weights -----------------------------------------------------------

    def state_dict(self, path):
        """The module's parameters and buffers out of a checkpoint of tdlrun, a
        file or the newest of a folder, or out of a file of safetensors.  What the
        plan does not have, as what no step changes, is that of the exported
        module."""
        found = checkpoints.read(path)
        own = self.program.state_dict
        missing = sorted(n for n in own.keys() - found.keys()
                         if n in self._layouts.states)
        if missing:
            raise KeyError(f"{path} has no {', '.join(missing)}")
        return {name: found.get(name, found.get(self._tied.get(name),
                                                x.detach()))
                for name, x in own.items()}

    def save_state_dict(self, state_dict, path):
        """What tdlrun --parameters reads: .npz, or .safetensors."""
        checkpoints.write(path, {k: v for k, v in state_dict.items()
                                 if k in self._layouts.states})


# ---- layouts ----------------------------------------------------------------

def _placement(cut):
    if cut is None:
        return Replicate()
    if isinstance(cut, int):
        return Shard(cut)
    return Partial(_REDUCE_OPS[cut])


def _reads(body, number):
    """The indices of all reads of an input in an expression."""
    if not isinstance(body, list):
        return
    if body and body[0] == "read" and body[1] == number:
        yield body[2]
    for part in body:
        yield from _reads(part, number)


def _mentions(index, var):
    """Whether an expression has a variable in it."""
    if not isinstance(index, list):
        return False
    return index == ["var", var] or any(_mentions(x, var) for x in index)


_UNKNOWN = object()


def _dim_of(kernel, number, var):
    """The dimension of an input that a variable runs through, by itself and in
    all reads; None where none depends on it, _UNKNOWN where one does in
    another way."""
    if "body" not in kernel:
        return _UNKNOWN
    dims = set()
    for read in _reads(kernel["body"], number):
        of = [d for d, index in enumerate(read) if _mentions(index, var)]
        if any(read[d] != ["var", var] for d in of) or len(of) > 1:
            return _UNKNOWN
        dims.add(of[0] if of else None)
    return dims.pop() if len(dims) == 1 else _UNKNOWN


class _Layouts:
    """What a plan says of tensors, and of the reads of the graph's nodes."""

    def __init__(self, tables, owners):
        self.naxes = len(tables["mesh"])
        self.tensors = {t["name"]: t for t in tables["tensors"]}
        self.states = {t["name"] for t in tables["tensors"]
                       if t["role"] == "state"}
        self._kernels = tables["kernels"]
        self._names = [t["name"] for t in tables["tensors"]]
        self._nodes = self._by_graph_node(
            self._forward(tables["nodes"], tables["outputs"]), owners)

    @staticmethod
    def _forward(nodes, outputs):
        """What the outputs are computed of."""
        producer = {n["output"]: n for n in nodes}
        needed, todo = set(), list(outputs)
        while todo:
            t = todo.pop()
            if t in producer and t not in needed:
                needed.add(t)
                todo.extend(producer[t]["inputs"])
        return [n for n in nodes if n["output"] in needed]

    @staticmethod
    def _by_graph_node(nodes, owner):
        """The plan's nodes of the forward pass, by the node of the exported
        graph that they are a part of."""
        of = {}
        for n in nodes:
            base = n["name"]
            while base and base not in owner:
                base = base.rpartition(".")[0]
            if base:
                of.setdefault(owner[base], []).append(n)
        return of

    def stored(self, name):
        """The placements of a tensor."""
        t = self.tensors.get(name)
        if t is None:
            return None
        return self._full([_placement(c) for c in t["cuts"]])

    def needed(self, node, name):
        """The placements in which a node of the exported graph reads a tensor;
        None where the plan says nothing that DTensor has a word for."""
        for n in self._nodes.get(node, ()):
            for number, tensor in enumerate(n["inputs"]):
                if self._names[tensor] == name:
                    return self._reading(n, number)
        return None

    def _reading(self, n, number):
        kernel = self._kernels[n["kernel"]]
        dims = [_dim_of(kernel, number, c) if isinstance(c, int) else None
                for c in n["cuts"]]
        if _UNKNOWN in dims:
            return None
        return self._full([_placement(d) for d in dims])

    def blockwise(self, node):
        """By axis of the mesh, whether it divides a node of the exported graph,
        all its kernels, along a dimension of the result, so that each process
        needs nothing but its own blocks of what is divided; None otherwise."""
        kernels = self._nodes.get(node, ())
        layouts = {}  # by tensor: in which it is read, or computed
        axes = None
        for n in kernels:
            divides = [self._divides(n, c) for c in n["cuts"]]
            if None in divides or axes not in (None, divides):
                return None
            axes = divides
            for number, tensor in enumerate(n["inputs"]):
                layout = self._reading(n, number)
                if layout is None or layouts.setdefault(tensor,
                                                        layout) != layout:
                    return None
            layouts[n["output"]] = self._full([_placement(c)
                                               for c in n["cuts"]])
        return axes if self.naxes or axes is None else [False]

    def _divides(self, n, cut):
        """Whether an axis divides a kernel along its result; None where it
        divides it in another way."""
        if cut is None:
            return False
        vars_ = self._kernels[n["kernel"]]["vars"]
        return True if isinstance(cut, int) and \
            vars_[cut][1] == "output" else None

    def made(self, node, name):
        """The placements in which a node that is divided blockwise computes its
        result."""
        for n in self._nodes.get(node, ()):
            if self._names[n["output"]] == name:
                return self._full([_placement(c) for c in n["cuts"]])
        return None

    def _full(self, placements):
        return tuple(placements) if self.naxes else (Replicate(),)


# ---- running on DTensors ----------------------------------------------------

class ParallelModule(torch.nn.Module):
    """A module whose parameters are DTensors, and whose forward pass runs the
    exported graph.  Inputs are whole tensors, the same in all processes, or
    DTensors; outputs are DTensors as the plan has them.

    .gathered: names of nodes whose inputs had to be gathered, as DTensor cannot
    run them divided.
    """

    def __init__(self, plan, module, mesh):
        super().__init__()
        self._plan = plan
        self._device_mesh = mesh
        self.gathered = set()
        program = plan.program
        values = dict(module.named_parameters(remove_duplicate=False))
        values.update(module.named_buffers(remove_duplicate=False))
        made = {}
        for name in program.state_dict:
            x = values[name]
            if id(x) not in made:
                made[id(x)] = self._distribute(plan, name, x, mesh)
            self._put(name, made[id(x)])
        self._constants = {
            name: x for name, x in program.constants.items()
            if isinstance(x, torch.Tensor)}

    @staticmethod
    def _distribute(plan, name, x, mesh):
        placements = plan.placements(name)
        if placements is None:
            placements = [Replicate()] * mesh.ndim
        y = distribute_tensor(x.detach().clone(), mesh, placements)
        if not isinstance(x, torch.nn.Parameter):
            return y
        y = torch.nn.Parameter(y, requires_grad=x.requires_grad)
        if x.requires_grad:
            # The gradient is kept as the weight is.
            y.register_hook(lambda g: g.redistribute(
                placements=placements) if isinstance(g, DTensor) else g)
        return y

    def _put(self, name, x):
        *path, last = name.split(".")
        at = self
        for part in path:
            if part not in at._modules:
                at.add_module(part, torch.nn.Module())
            at = at._modules[part]
        if isinstance(x, torch.nn.Parameter):
            at.register_parameter(last, x)
        else:
            at.register_buffer(last, x)

    def _value(self, name):
        *path, last = name.split(".")
        at = self
        for part in path:
            at = at._modules[part]
        return getattr(at, last)

    def forward(self, *args, **kwargs):
        program = self._plan.program
        flat, spec = pytree.tree_flatten((args, kwargs))
        if spec != program.call_spec.in_spec:
            raise TypeError("the module was exported with other arguments: "
                            f"{program.call_spec.in_spec}, not {spec}")
        signature = program.graph_signature
        users = iter(flat)
        values = []
        for spec in signature.input_specs:
            name = spec.target
            if spec.kind.name in ("PARAMETER", "BUFFER"):
                values.append(self._buffer(name))
            elif spec.kind.name == "CONSTANT_TENSOR":
                values.append(self._wrap(self._constants[name]))
            else:
                x = next(users)
                values.append(self._input(spec.arg.name, x)
                              if isinstance(x, torch.Tensor) else x)
        with _attention(self._device_mesh), implicit_replication():
            results = _Run(self).run(*values)
        n = len(results) - len(signature.user_outputs)
        for spec, x in zip(signature.output_specs[:n], results[:n]):
            self._update(spec, x)
        return pytree.tree_unflatten(results[n:], program.call_spec.out_spec)

    def _buffer(self, name):
        if name in self._plan.program.state_dict:
            return self._value(name)
        return self._wrap(self._constants[name])

    def _update(self, spec, x):
        """A buffer gets its next value."""
        if spec.kind.name == "BUFFER_MUTATION":
            to = self._value(spec.target)
            with torch.no_grad():
                to.copy_(x.redistribute(placements=to.placements))

    def _input(self, name, x):
        if isinstance(x, DTensor):
            return x
        placements = self._plan.placements(name) or \
            [Replicate()] * self._device_mesh.ndim
        return distribute_tensor(x, self._device_mesh, placements,
                                 src_data_rank=None)

    def _wrap(self, x):
        """A tensor that all processes have alike."""
        return DTensor.from_local(x, self._device_mesh,
                                  [Replicate()] * self._device_mesh.ndim,
                                  run_check=False)


def _attention(mesh):
    """DTensor divides fused attention on GPUs; on CPUs it has to be products
    and a softmax."""
    if mesh.device_type == "cpu":
        return sdpa_kernel(SDPBackend.MATH)
    return contextlib.nullcontext()


class _Run(torch.fx.Interpreter):
    """One forward pass: before a node its inputs are laid out as the plan has
    it divided, behind it its result as the plan stores it."""

    def __init__(self, module):
        super().__init__(module._plan.program.graph_module)
        self.parallel = module
        self.plan = module._plan
        self.laid_out = {}  # (node, placements): a copy

    def run_node(self, n):
        if n.op != "call_function":
            return super().run_node(n)
        self.now = n
        counters = _counters()
        for counter in counters:
            counter.node = n.name
        try:
            args, kwargs = self._laid_out(n)
            result = self._call(n, args, kwargs)
            return pytree.tree_map_only(torch.Tensor, self._stored, result)
        finally:
            for counter in counters:
                counter.node = None

    def _laid_out(self, n):
        def load(of):
            x = self.env[of]
            if not isinstance(x, DTensor):
                return x
            name = self._name(of)
            needed = self.plan._layouts.needed(n.name, name)
            if needed is None or needed == x.placements:
                return x
            if (of, needed) not in self.laid_out:
                self.laid_out[of, needed] = dtensors.laid_out(x, needed)
            return self.laid_out[of, needed]
        return torch.fx.node.map_arg((n.args, n.kwargs), load)

    def _name(self, of):
        """The plan's name of what a node of the graph makes."""
        signature = self.plan.program.graph_signature
        name = of.name
        for names in (signature.inputs_to_parameters,
                      signature.inputs_to_buffers):
            name = names.get(of.name, name)
        return self.plan._renamed.get(name, name)

    def _call(self, n, args, kwargs):
        if not self._has_dtensor((args, kwargs)):
            return n.target(*args, **kwargs)
        args, kwargs = pytree.tree_map_only(torch.Tensor, self._as_dtensor,
                                            (args, kwargs))
        target = dtensors.in_place_of(
            n.target, self.plan._layouts.stored(self._name(n)))
        if target is None:
            return self._by_plan(n, args, kwargs)
        try:
            return target(*args, **kwargs)
        except (NotImplementedError, RuntimeError, ValueError, IndexError,
                AssertionError) as e:
            return self._gathered(n, args, kwargs, e)

    @staticmethod
    def _has_dtensor(x):
        return any(isinstance(y, DTensor) for y in pytree.tree_leaves(x))

    def _as_dtensor(self, x):
        return x if isinstance(x, DTensor) else self.parallel._wrap(x)

    def _by_plan(self, n, args, kwargs):
        """An operator that DTensor has no rule for: on each process's blocks,
        where the plan divides it so that these are all that is needed."""
        name = self._name(n)
        t = self.plan._layouts.tensors.get(name)
        axes = self.plan._layouts.blockwise(n.name)
        placements = axes and self.plan._layouts.made(n.name, name)
        if t and placements:
            result = self._on_blocks(n, args, kwargs, axes)
            shape = torch.Size(t["shape"])
            if isinstance(result, torch.Tensor) and \
                    result.shape == compute_local_shape_and_global_offset(
                        shape, self.parallel._device_mesh, placements)[0]:
                return self._of_blocks(result, placements, shape)
        return self._by_parts(n, args, kwargs)

    @staticmethod
    def _on_blocks(n, args, kwargs, axes):
        """What an operator gives of each process's blocks of what the axes
        divide."""
        # A block's gradient of what all have is a part of the gradient.
        rest = [Partial() if cut else Replicate() for cut in axes]
        args, kwargs = pytree.tree_map_only(
            DTensor, lambda x: x.to_local(grad_placements=[
                r if p.is_replicate() else p
                for p, r in zip(x.placements, rest)]), (args, kwargs))
        return n.target(*args, **kwargs)

    def _of_blocks(self, x, placements, shape):
        """The DTensor of this shape that has the block."""
        return DTensor.from_local(
            x, self.parallel._device_mesh, placements, run_check=False,
            shape=shape, stride=torch.empty(shape, device="meta").stride())

    def _by_parts(self, n, args, kwargs):
        """An operator that computes parts of its first argument by themselves,
        such as samples, where axes of the mesh divide these; what others divide
        is gathered."""
        why = "it has no rule for it"
        x = args[0] if args else None
        cut = isinstance(x, DTensor) and any(
            p.is_shard() for p in x.placements)
        dims = dtensors.by_itself(n, x) if cut else []
        axes = [p.is_shard() and p.dim in dims for p in x.placements] \
            if cut else []
        if not any(axes):
            return self._gathered(n, args, kwargs, why)
        parts = tuple(p if a else Replicate()
                      for p, a in zip(x.placements, axes))
        whole = (Replicate(),) * len(axes)
        others = [y for y in pytree.tree_leaves((args, kwargs))
                  if isinstance(y, DTensor) and y is not x]
        if x.placements != parts or any(y.placements != whole for y in others):
            self._warn(n, why)
        args, kwargs = pytree.tree_map_only(
            DTensor, lambda y: y.redistribute(
                placements=parts if y is x else whole), (args, kwargs))

        def of_blocks(y):
            return self._of_blocks(y, parts, torch.Size(
                x.shape[d] if Shard(d) in parts else size
                for d, size in enumerate(y.shape)))
        return pytree.tree_map_only(torch.Tensor, of_blocks,
                                    self._on_blocks(n, args, kwargs, axes))

    def _warn(self, n, why):
        if n.name not in self.parallel.gathered:
            self.parallel.gathered.add(n.name)
            line = str(why).strip().splitlines() or [type(why).__name__]
            warnings.warn(f"DTensor cannot divide {n.name} ({n.target}); its "
                          f"inputs are gathered: {line[0][:200]}", TdlWarning,
                          stacklevel=2)

    def _gathered(self, n, args, kwargs, why):
        """DTensor cannot run it with these layouts: all inputs are gathered, and
        every process computes all of it."""
        self._warn(n, why)
        whole = [Replicate()] * self.parallel._device_mesh.ndim
        args, kwargs = pytree.tree_map_only(
            DTensor, lambda x: x.redistribute(placements=whole).to_local(),
            (args, kwargs))
        return pytree.tree_map_only(torch.Tensor, self.parallel._wrap,
                                    n.target(*args, **kwargs))

    def _stored(self, x):
        """A result in the plan's layout; the values of a node of several have
        no name of their own."""
        if not isinstance(x, DTensor):
            return x
        t = self.plan._layouts.tensors.get(self._name(self.now))
        if t is None or list(x.shape) != t["shape"]:
            return x
        placements = self.plan._layouts.stored(self._name(self.now))
        if placements == x.placements:
            return x
        if any(isinstance(p, Partial) for p in placements):
            return x  # what DTensor left partial is reduced by who reads it
        return dtensors.laid_out(x, placements)


# ---- bytes ------------------------------------------------------------------

class CountBytes(torch.utils._python_dispatch.TorchDispatchMode):
    """Counts the bytes that this process receives from others in the functional
    collectives that run inside of it, with the formulas of a plan's
    communication_bytes: of n processes an all-gather brings (n - 1)/n of its
    result, a reduce-scatter (n - 1) times it, an all-reduce both of these, an
    all-to-all (n - 1)/n of its result.

    .bytes by collective, .by_node by the exported graph's node whose forward
    pass they are in (None: the backward pass, or no ParallelModule), .total of
    all."""

    def __init__(self):
        super().__init__()
        self.bytes = {}
        self.by_node = {}
        self.node = None  # that runs now

    @property
    def total(self):
        return sum(self.bytes.values())

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        # DTensors take themselves apart first.
        if any(issubclass(t, DTensor) for t in types):
            return NotImplemented
        result = func(*args, **(kwargs or {}))
        name = func._schema.name
        if name.startswith("_c10d_functional::"):
            self._count(name.split("::")[1], args, result)
        return result

    def _count(self, name, args, result):
        part = _RECEIVED.get(name)
        if not part:
            return
        group = torch.distributed.distributed_c10d._resolve_process_group(
            args[-1])
        m = result.numel() * result.element_size()
        received = part(m, group.size())
        self.bytes[name] = self.bytes.get(name, 0) + received
        self.by_node[self.node] = self.by_node.get(self.node, 0) + received


# Of the bytes of a result, by the processes of the group.
_RECEIVED = {
    "all_gather_into_tensor": lambda m, n: m * (n - 1) / n,
    "reduce_scatter_tensor": lambda m, n: m * (n - 1),
    "all_reduce": lambda m, n: 2 * m * (n - 1) / n,
    "all_to_all_single": lambda m, n: m * (n - 1) / n,
    "broadcast": lambda m, n: m,
}


def _counters():
    modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    return [mode for mode in modes if isinstance(mode, CountBytes)]
