"""Plans of PyTorch modules, and modules that run on DTensors as a plan says.

A module is exported by torch.export, and its graph, as ONNX, planned by libtdl.
The names of what the graph computes, and of parameters, are the same in both, so
that a layout of the plan is a layout in the exported graph.
"""
import io
import json
import os
import tempfile
import zipfile

import torch
from torch.distributed.device_mesh import init_device_mesh

from . import checkpoints, export
from ._lib import ffi, lib
from .context import Context
from .layouts import Layouts
from .objects import Plan
from .parallel import ParallelModule
from .traffic import CountBytes

__all__ = ["CountBytes", "ParallelModule", "TorchPlan", "load", "plan"]


def _model_options(context):
    n = ffi.new("size_t *")
    at = lib.tdl_function_options(context._at, b"tdl_model_load", n)
    return {ffi.string(at[i].name).decode().replace("-", "_")
            if at[i].name != ffi.NULL else at[i].letter.decode()
            for i in range(n[0])}


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
    program = export.export(module, example_inputs, example_kwargs or {}, train)
    if "loss" in options and program.model.graph.outputs[0].name == "loss":
        raise ValueError("the module returns a loss itself")
    about_model = _model_options(context)
    of_model = {k: v for k, v in options.items() if k in about_model}
    of_plan = {k: v for k, v in options.items() if k not in about_model}
    if train:
        of_model.update(train=True)
        of_model.setdefault("optimizer", "sgd")
    if train or of_model.get("evaluate"):
        of_model.update(export.weights(module, program, of_model, not train))
    folder = tempfile.TemporaryDirectory(prefix="tdl-")
    model = export.load(context, program, folder.name, of_model)
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
                     export.owners(program.model.graph), loss, folder)


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
        self._layouts = Layouts(tables, owners)
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
