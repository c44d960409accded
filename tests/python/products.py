# Tests: libtdl
"""Products on DTensors of two processes: of operands that are divided in any way
the results and gradients are those of whole ones, and blocks suffice unless a
dimension is divided that cannot be."""
import itertools

import package

package.needs("torch", "tdl.torch")
import torch  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.tensor import DTensor, Replicate, Shard  # noqa: E402
from torch.distributed.tensor import distribute_tensor  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import parallel  # noqa: E402
from programs import expect, finish, sample  # noqa: E402
from tdl import products  # noqa: E402

aten = torch.ops.aten


def tensors(*shapes):
    return [torch.randn(s) if s is not None else None for s in shapes]


def cases():
    """Operators and their arguments."""
    torch.manual_seed(2)
    for target, *shapes in (
            (aten.linear.default, (2, 6, 4), (3, 4)),
            (aten.linear.default, (2, 6, 4), (3, 4), (3,)),
            (aten.linear.default, (4,), (5, 4), (5,)),
            (aten.mm.default, (4, 5), (5, 2)),
            (aten.addmm.default, (2,), (4, 5), (5, 2)),
            (aten.bmm.default, (3, 4, 5), (3, 5, 2)),
            (aten.matmul.default, (4,), (4,)),
            (aten.matmul.default, (2, 1, 4, 5), (3, 5, 2)),
            (aten.matmul.default, (5,), (3, 5, 2)),
            (aten.matmul.default, (3, 4, 5), (5,))):
        yield target, tensors(*shapes)
    yield aten.einsum.default, ["btw,ewh->beth", tensors((2, 3, 4), (4, 4, 5))]
    yield aten.einsum.default, ["ab,bc,cd->ad", tensors((2, 3), (3, 4), (4, 5))]
    yield aten.einsum.default, ["ab,ab->b", tensors((1, 3), (4, 3))]
    for shapes, rest in (
            [((4, 2, 5, 5), (6, 2, 3, 3), (6,)), ([2, 1], [1, 1])],
            [((3, 4, 5, 5), (4, 2, 3, 3), (4,)), ([1], [1], [1], 2)],
            [((1, 2, 5, 5), (3, 2, 3, 3), None), ([1],)],
            [((2, 5, 5), (4, 2, 3, 3), (4,)), ([1],)]):
        yield aten.conv2d.default, [*tensors(*shapes), *rest]
    yield aten.conv_transpose2d.input, [
        *tensors((2, 4, 5, 5), (4, 6, 3, 3), (6,)), [2, 2]]


def whole(x):
    return x.full_tensor() if isinstance(x, DTensor) else x


def results(target, args, kinds, wrap):
    """What an operator, or the product that it is, gives of tensors, and the
    gradients of these."""
    found = []

    def leaf(x):
        if not isinstance(x, torch.Tensor):
            return x
        kind = next(kinds)
        x = wrap(x.clone(), kind).requires_grad_()
        found.append(x)
        return x
    args = pytree.tree_map(leaf, args)
    if any(isinstance(x, DTensor)
           for x in pytree.tree_leaves(args)):
        product = products.product(target, args, {})
        y, gathers = whole(product.run(None)), product.gathers()
    else:
        y, gathers = target(*args), False
    (y * torch.linspace(1, 2, y.numel()).reshape(y.shape)).sum().backward()
    return [y, *(whole(x.grad) for x in found)], gathers


def check(mesh):
    for target, args in cases():
        want, _ = results(target, args, itertools.repeat(None),
                          lambda x, kind: x)
        leaves = [x for x in pytree.tree_leaves(args)
                  if isinstance(x, torch.Tensor)]
        ways = itertools.product(*(
            [Replicate(), *map(Shard, range(x.ndim))] for x in leaves))
        for way in sample(list(ways), 2):
            found, gathers = results(
                target, args, iter(way),
                lambda x, kind: distribute_tensor(x, mesh, [kind]))
            what = f"{target} of {[tuple(x.shape) for x in leaves]}, {way}"
            expect(f"{what}: blocks do not suffice",
                   not gathers or "conv" in str(target) or
                   any(1 in x.shape for x in leaves))
            off = [((x - y).norm() / y.norm()).item()
                   for x, y in zip(found, want)]
            expect(f"{what}: {off}", max(off) < 1e-5)


def check_left(mesh):
    """What repeats a bias or has a vector of weights is left to DTensor."""
    for target, *shapes in ((aten.linear.default, (6, 4), (4,)),
                            (aten.linear.default, (6, 4), (3, 4), (1,)),
                            (aten.addmm.default, (1,), (4, 5), (5, 2))):
        args = [distribute_tensor(x, mesh, [Replicate()])
                for x in tensors(*shapes)]
        expect(f"{target} of {shapes} is left",
               products.product(target, args, {}) is None)


def worker(rank, count, port):
    parallel.begin(rank, count, port)
    mesh = init_device_mesh("cpu", (count,))
    check(mesh)
    check_left(mesh)
    torch.distributed.destroy_process_group()
    finish()


if __name__ == "__main__":
    parallel.run_workers("products", 2, worker)
