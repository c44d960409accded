"""A plan's layouts as placements of DTensors."""
from torch.distributed.tensor import Partial, Replicate, Shard

# Of bools, all are true where the least is.
_REDUCE_OPS = {"Sum": "sum", "Prod": "product", "Max": "max", "Min": "min",
               "And": "min", "Or": "max"}


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


class Layouts:
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
