"""Modules that run on DTensors as a plan says: the exported graph, one operator
after the other, with a redistribution where the plan has another layout.
"""
import contextlib
import warnings

import torch
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor._utils import (
    compute_local_shape_and_global_offset)
from torch.distributed.tensor.experimental import implicit_replication
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree

from . import dtensors, products, traffic
from .context import TdlWarning


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
        counters = traffic.counters()
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
        product = products.product(n.target, args, kwargs)
        if product is not None:
            if product.gathers():
                self._warn(n, "it has no rule for it")
            return product.run(self.plan._layouts.stored(self._name(n)))
        target = dtensors.in_place_of(n.target)
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
