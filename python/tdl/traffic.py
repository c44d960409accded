"""The bytes that processes receive."""
import torch
from torch.distributed.tensor import DTensor


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


def counters():
    modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    return [mode for mode in modes if isinstance(mode, CountBytes)]
