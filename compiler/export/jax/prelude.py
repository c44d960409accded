import math
import os
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

# Plans have numbers of 64 bits: indices, labels, random words.
jax.config.update("jax_enable_x64", True)


# ---- reading a tensor elsewhere than at its own index ----------------------


def along(x, dim, start, *terms, fill=0):
    """x with a dimension for each (extent, step) of terms in place of dim: the
    element at start + the sum of step * index; fill where that is outside."""
    low = start + sum(min(0, s * (n - 1)) for n, s in terms)
    high = start + sum(max(0, s * (n - 1)) for n, s in terms)
    if low < 0 or high >= x.shape[dim]:
        edges = [(0, 0, 0)] * x.ndim
        edges[dim] = (max(0, -low), max(0, high - x.shape[dim] + 1), 0)
        x = lax.pad(x, jnp.asarray(fill, x.dtype), edges)
        start += max(0, -low)
    if len(terms) == 1:
        (n, s), = terms
        if s < 0:
            x = lax.rev(x, (dim,))
            start = x.shape[dim] - 1 - start
        s = abs(s) or 1
        return lax.slice_in_dim(x, start, start + (n - 1) * s + 1, s, dim)
    order = sorted(range(len(terms)), key=lambda i: -terms[i][1])
    sizes = [terms[i][0] for i in order]
    digits = [math.prod(sizes[i + 1:]) for i in range(len(sizes))]
    if start == 0 and [terms[i][1] for i in order] == digits and \
            math.prod(sizes) == x.shape[dim]:
        x = x.reshape(x.shape[:dim] + tuple(sizes) + x.shape[dim + 1:])
        back = [dim + order.index(i) for i in range(len(terms))]
        rest = range(dim + len(terms), x.ndim)
        return x.transpose(*range(dim), *back, *rest)
    few = min(range(len(terms)), key=lambda i: terms[i][0])
    others = terms[:few] + terms[few + 1:]
    return jnp.stack([along(x, dim, start + terms[few][1] * i, *others)
                      for i in range(terms[few][0])], dim + few)


def gather(x, rank, at, fill=None):
    """An array of this rank with x's element at the indices `at`, one for each
    dimension of x: an array that broadcasts to the result, or the number of the
    result's axis that goes along the dimension.  Where an index is outside, it
    is fill, or, without one, the nearest element."""
    found = {d: jnp.asarray(i) for d, i in enumerate(at)
             if not isinstance(i, int)}
    shape = np.broadcast_shapes((1,) * rank, *(i.shape for i in found.values()))
    inside = jnp.bool_(True)
    starts = []
    for d, i in found.items():
        inside = inside & (i >= 0) & (i < x.shape[d])
        starts.append(jnp.broadcast_to(jnp.clip(i, 0, x.shape[d] - 1), shape))
    axes = {d: i for d, i in enumerate(at) if isinstance(i, int)}
    batch = [d for d, p in axes.items() if shape[p] > 1]
    whole = [d for d in axes if d not in batch]
    along_x = [axes[d] for d in whole]
    kept = [p for p in range(rank) if p not in along_x]
    start = jnp.stack(starts, -1).reshape([shape[p] for p in kept] + [-1])
    y = lax.gather(
        x, start, lax.GatherDimensionNumbers(
            offset_dims=tuple(sorted(along_x)),
            collapsed_slice_dims=tuple(found),
            start_index_map=tuple(found),
            operand_batching_dims=tuple(batch),
            start_indices_batching_dims=tuple(kept.index(axes[d])
                                              for d in batch)),
        tuple(x.shape[d] if d in whole else 1 for d in range(x.ndim)),
        mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)
    order = list(range(rank))
    for to, have in zip(along_x, sorted(along_x)):
        order[to] = have
    y = y.transpose(order)
    if fill is None:
        return y
    return jnp.where(inside, y, jnp.asarray(fill, x.dtype))


def scatter_add(size, nbatch, index, values):
    """values added up at places of a new dimension of `size' elements, which
    comes behind the first nbatch; index is for the dimensions of values up to
    its own rank, and what lies outside is left out."""
    batch = tuple(range(nbatch))
    shape = values.shape[:nbatch] + (size,) + values.shape[index.ndim:]
    return lax.scatter_add(
        jnp.zeros(shape, values.dtype), index[..., None], values,
        lax.ScatterDimensionNumbers(
            update_window_dims=tuple(range(index.ndim, values.ndim)),
            inserted_window_dims=(nbatch,),
            scatter_dims_to_operand_dims=(nbatch,),
            operand_batching_dims=batch,
            scatter_indices_batching_dims=batch),
        mode=lax.GatherScatterMode.FILL_OR_DROP)


def part(x, dim, number, size):
    """Part `number` of a dimension, of parts of that size."""
    return lax.dynamic_slice_in_dim(x, number * size, size, dim)


# ---- functions of elements --------------------------------------------------


def floor_div(x, y):
    """Of integers; 0 where y is."""
    zero = y == 0
    return jnp.where(zero, 0, x // jnp.where(zero, 1, y))


def floor_mod(x, y):
    zero = y == 0
    return jnp.where(zero, 0, x % jnp.where(zero, 1, y))


def remainder(x, y):
    """With the sign of x."""
    zero = y == 0
    return jnp.where(zero, 0, lax.rem(x, jnp.where(zero, 1, y)))


def power(x, y):
    """Of integers, by squaring; where y < 0, 1 / x rounded to 0."""
    x, y = jnp.broadcast_arrays(jnp.asarray(x), jnp.asarray(y))
    left = jnp.maximum(y, 0).astype(jnp.uint64)
    result, factor = jnp.ones_like(x), x
    for _ in range(64):
        result = jnp.where(left & 1 != 0, result * factor, result)
        factor, left = factor * factor, left >> 1
    odd = jnp.where(y & 1 != 0, x, jnp.ones_like(x))
    small = jnp.where(x == 1, x, jnp.where(x == -1, odd, jnp.zeros_like(x)))
    return jnp.where(y < 0, small, result)


def shift_left(x, n, bits):
    far = (n < 0) | (n >= bits)
    return jnp.where(far, 0, x << jnp.where(far, 0, n))


def shift_right(x, n, bits):
    far = (n < 0) | (n >= bits)
    sign = jnp.where(x < 0, -1, 0).astype(x.dtype)
    return jnp.where(far, sign, x >> jnp.where(far, 0, n))


def wide(x):
    """A factor of short floats.  XLA for CPUs has not all products of these."""
    return x.astype(jnp.float32) if jax.default_backend() == "cpu" else x


def sinpi(x):
    near = jnp.round(x)
    sign = 1 - 2 * jnp.abs(jnp.remainder(near, 2))
    return jnp.sin(math.pi * (x - near)) * sign


def softplus(x):
    return jnp.logaddexp(x, 0)


def to_integer(x, kind):
    """The nearest number of an integer type, 0 for a NaN."""
    least, most = jnp.iinfo(kind).min, jnp.iinfo(kind).max
    y = jnp.where(jnp.isnan(x), 0, x)
    y = jnp.where(y >= float(most), most, y.astype(kind))
    return jnp.where(x <= float(least), jnp.asarray(least, kind), y)


def bits(x, kind):
    if x.dtype == jnp.bool_:
        x = x.astype(jnp.uint8)
    if kind == jnp.bool_:
        return lax.bitcast_convert_type(x, jnp.uint8) != 0
    return lax.bitcast_convert_type(x, kind)


def philox(seed, block, np=jnp):
    """Four words of 32 bits for each block: Philox4x32-10 (Salmon et al.,
    SC'11)."""
    word = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    x = [block & word, block >> half, block & np.uint64(0),
         block & np.uint64(0)]
    key = [seed & word, seed >> half]
    for _ in range(10):
        a = x[0] * np.uint64(0xD2511F53)
        b = x[2] * np.uint64(0xCD9E8D57)
        x = [(b >> half) ^ x[1] ^ key[0], b & word,
             (a >> half) ^ x[3] ^ key[1], a & word]
        key = [(key[0] + np.uint64(0x9E3779B9)) & word,
               (key[1] + np.uint64(0xBB67AE85)) & word]
    return x


def random_word(seed, n):
    """Word number n of a sequence that begins with seed, as an i64."""
    n = jnp.asarray(n, jnp.int64).astype(jnp.uint64)
    words = philox(jnp.asarray(seed, jnp.int64).astype(jnp.uint64), n >> 2)
    words = [jnp.broadcast_to(w, jnp.broadcast_shapes(w.shape, n.shape))
             for w in words]
    return jnp.select([n & 3 == i for i in range(3)], words[:3],
                      words[3]).astype(jnp.int64)


class opaque:
    """Functions that operators call and do not define, for batches in the
    leading dimensions.  What is missing is yours to add:
    opaque.NAME = a function of arrays and of the attributes."""

    def determinant(m):
        return jnp.linalg.det(m)[..., None]

    def inverse_matrix(m):
        return jnp.linalg.inv(m)

    def top_order(x, count, greatest):
        # A NaN is above all numbers; of equal ones the first comes first.
        if greatest:
            at = jnp.argsort(x[..., ::-1], axis=-1, stable=True)
            at = x.shape[-1] - 1 - at[..., ::-1]
        else:
            at = jnp.argsort(x, axis=-1, stable=True)
        return at[..., :count].astype(jnp.int64)


def opaque_result(x, number):
    """One of a function's results."""
    return x[number] if isinstance(x, tuple) else x


# ---- devices ----------------------------------------------------------------


def mesh_of(devices, axes):
    return Mesh(devices.reshape(tuple(axes.values())), tuple(axes),
                axis_types=(AxisType.Auto,) * len(axes))


def pinned(mesh):
    """pin(x, *spec) on a mesh: x laid out as the plan says."""
    def pin(x, *spec):
        return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))
    return pin


def shardings(mesh, table):
    """The layouts of a table of tensors, as arguments of a function have them:
    a dimension that the devices do not divide evenly is replicated."""
    def size(names):
        names = names if isinstance(names, tuple) else (names,)
        return math.prod(mesh.shape[n] for n in names if n)
    return {name: NamedSharding(mesh, P(*(
                s if n % size(s) == 0 else None for n, s in zip(shape, spec))))
            for name, (shape, _, spec) in table.items()}


# ---- running ----------------------------------------------------------------


def constant_file(path, shape, kind, offset):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), path)
    x = np.fromfile(path, kind, math.prod(shape), offset=offset)
    return x.reshape(shape)


def constant_bytes(text, shape, kind):
    import base64
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def constant_random(key, law, a, b, shape, kind):
    """What the plan draws: a function of the key and an element's number."""
    n = np.arange(math.prod(shape), dtype=np.uint64)
    each = 1 if law == "uniform" else 2
    have = np.uint64(4 // each)
    with np.errstate(over="ignore"):
        words = np.stack(philox(np.uint64(key), n // have, np), -1)
    first = (n % have).astype(np.int64) * each
    pick = np.take_along_axis
    u = (pick(words, first[:, None], 1)[:, 0].astype(np.float64) + 0.5) / 2**32
    if law == "uniform":
        return (a + (b - a) * u).reshape(shape).astype(kind)
    v = pick(words, first[:, None] + 1, 1)[:, 0].astype(np.float64)
    turn = 2 * math.pi * (v + 0.5) / 2**32
    x = a + b * np.sqrt(-2 * np.log(u)) * np.cos(turn)
    return x.reshape(shape).astype(kind)


def initial_state(mesh=None):
    """The states before the first step, on the mesh, or as arrays of NumPy."""
    state = {name: make() for name, make in INITIAL.items()}
    if mesh is None:
        return state
    return jax.device_put(state, state_shardings(mesh))


def converted(name, x, own):
    """A weight that is given, in the type of the model's own."""
    if np.shape(x) != own.shape:
        raise ValueError(f"weight '{name}' has shape {tuple(np.shape(x))}, not "
                         f"the model's {own.shape}")
    x = x if isinstance(x, jax.Array) else np.asarray(x)
    return x.astype(own.dtype)


def with_weights(weights, mesh=None):
    """The states with other weights, by their names in the model, of its shapes,
    converted to its types; what the plan has folded of weights is computed
    again."""
    read = {name: make() for name, make in FOLDED.items()}
    own = {**{name: jax.ShapeDtypeStruct(*STATES[name][:2])
              for name in INITIAL}, **read}
    folded = jax.eval_shape(fold, own)
    unknown = [name for name in weights if name not in own or name in folded]
    if unknown:
        raise KeyError(f"the plan has no weights {unknown}")
    given = {name: converted(name, x, own[name]) for name, x in weights.items()}
    state = {name: given[name] if name in given else make()
             for name, make in INITIAL.items()}
    state.update(fold({**state, **read, **given}))
    if mesh is None:
        return state
    return jax.device_put(state, state_shardings(mesh))


def defaults():
    """The inputs that have a value unless they are given one."""
    return {name: make() for name, make in DEFAULTS.items()}


def in_turns(inputs):
    """Inputs as step() takes them: what the plan's micro-batches divide has their
    parts, in a first dimension.  What has that already stays as it is."""
    def divided(x, dim):
        x = x.reshape(x.shape[:dim] + (TURNS, x.shape[dim] // TURNS) +
                      x.shape[dim + 1:])
        return x.transpose(dim, *(d for d in range(x.ndim) if d != dim))
    return {name: divided(x, DIVIDED[name]) if name in DIVIDED and
            x.ndim < len(INPUTS[name][0]) else x
            for name, x in inputs.items()}


def whole(outputs):
    """Outputs of step(), those that micro-batches divide in one piece."""
    def joined(x, dim):
        x = x.transpose(*range(1, dim + 1), 0, *range(dim + 1, x.ndim))
        return x.reshape(x.shape[:dim] + (-1,) + x.shape[dim + 2:])
    return {name: joined(x, DIVIDED[name]) if name in DIVIDED else x
            for name, x in outputs.items()}


def lower_alone(count):
    """Nothing is run: devices of any kind do, so many."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", count)


def runs_of(text):
    """How often each function of a compiled step is run that is the body of a
    loop over the turns.  Other loops move nothing."""
    inside, function = {}, None
    for line in text.splitlines():
        head = re.match(r"(?:ENTRY )?(%[^ ]+) .*\{$", line)
        function = head[1] if head else function
        loop = re.search(r" while\(.* body=(%[^ ,]+)", line)
        if loop:
            count = re.search(r'known_trip_count.*?"n":"(\d+)"', line)
            inside[loop[1]] = function, int(count[1]) if count else TURNS
    times = {}
    for body in inside:
        at, times[body] = body, 1
        while at in inside:
            at, n = inside[at]
            times[body] *= n
    return times


def collectives(compiled, devices):
    """What a compiled function of so many devices moves: for each collective its
    number and the bytes that all devices receive, an all-reduce counted as a
    reduce-scatter and an all-gather."""
    sizes = {"pred": 1, "bf16": 2}
    found = {}
    text = (compiled.as_text() if hasattr(compiled, "as_text") else
            compiled.to_string())
    times = runs_of(text)
    function = None
    for line in text.splitlines():
        head = re.match(r"(?:ENTRY )?(%[^ ]+) .*\{$", line)
        function = head[1] if head else function
        call = re.search(r" (all-gather|all-reduce|reduce-scatter|all-to-all|"
                         r"collective-permute)(-start)?\(", line)
        if not call:
            continue
        kind, result = call[1], line[:call.start()].split(" = ", 1)[1]
        arrays = re.findall(r"([a-z]+\d*)[a-z0-9]*\[([\d,]*)\]", result)
        if call[2] and kind != "all-reduce":
            arrays = arrays[len(arrays) // 2:]  # operands, then results
        nbytes = sum(
            sizes.get(t, int(re.sub(r"\D", "", t) or 8) // 8) *
            math.prod(int(n) for n in dims.split(",") if n)
            for t, dims in arrays)
        groups = re.search(r"replica_groups=\[(\d+),(\d+)\]", line)
        listed = re.search(r"replica_groups=\{\{([\d,]*)\}", line)
        each = int(groups[2]) if groups else \
            len(listed[1].split(",")) if listed else devices
        pairs = re.search(r"source_target_pairs=\{(.*?)\}\}", line)
        if kind == "collective-permute":
            received = nbytes * sum(a != b for a, b in re.findall(
                r"\{(\d+),(\d+)", pairs[0]))
        else:
            share = {"all-gather": 1 / each, "all-to-all": 1 / each,
                     "all-reduce": 2 / each, "reduce-scatter": 1}[kind]
            received = round(nbytes * share * (each - 1)) * devices
        n, total = found.get(kind, (0, 0))
        each_turn = times.get(function, 1)
        found[kind] = n + each_turn, total + received * each_turn
    return found
