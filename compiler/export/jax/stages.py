# ---- stages -----------------------------------------------------------------

import collections  # noqa: E402

Part = collections.namedtuple("Part", [
    "function",  # function(given, number, pin): what the part makes, by name
    "in_turns",  # whether it is run for each micro-batch, or once
    "takes",     # the channels that bring something of what it is given
    "given",     # the names of the values that it reads
    "makes",     # .. and of those that others read
    "sends"])    # channels

Stage = collections.namedtuple("Stage", [
    "mesh",      # the sizes of its axes, the outermost first
    "tensors",   # shape, type and layout of what parts are given, make and send
    "grows",     # of a sum over micro-batches, the value that it has before
    "parts",     # by name
    "order"])    # (times, (part, ..)), ..: the schedule


def make_mesh(devices=None):
    """A mesh for each stage, of these devices in their order, or of the first
    that there are."""
    devices = np.asarray(jax.devices() if devices is None else devices)
    sizes = [math.prod(s.mesh.values()) for s in STAGES]
    if devices.size < sum(sizes):
        raise ValueError(f"the plan is for {sum(sizes)} devices; there are "
                         f"{devices.size}")
    return tuple(mesh_of(devices.reshape(-1)[end - n:end],
                         s.mesh or {"device": 1})
                 for s, n, end in zip(STAGES, sizes, np.cumsum(sizes)))


def state_shardings(meshes):
    return {n: x for s, mesh in enumerate(meshes) for n, x in shardings(
                mesh, {n: t for n, t in STATES.items() if HOME[n] == s}).items()}


def names_of(part):
    """The values that a part is given, or sends and has not made."""
    return {*part.given, *(CHANNELS[c][1] for c in part.sends)} - \
        {*part.makes}


def readers(stage):
    """By name: in how many parts of a micro-batch a value is read that another
    part has."""
    count = collections.Counter()
    for part in stage.parts.values():
        if part.in_turns:
            count.update(names_of(part))
    return count


def lasting(stage):
    """Values of micro-batches of which the last one's is read behind them."""
    return {*NEXT.values(), *(n for n in OUTPUTS if n not in DIVIDED)}.union(
        *(names_of(p) for p in stage.parts.values() if not p.in_turns))


def spent(stage, name, donate):
    """What a part is given and nothing reads after it, whose place what it
    makes can have: sums that grow, states where donate is set."""
    part = stage.parts[name]
    names = {stage.grows[n] for n in part.makes if n in stage.grows}
    if donate and not part.in_turns:
        order = [p for _, parts in stage.order for p in parts]
        later = {n for p in order[order.index(name) + 1:]
                 for n in names_of(stage.parts[p])}
        names |= {s for s, n in NEXT.items()
                  if n in part.makes and s not in later and s not in OUTPUTS}
    return names & {*part.given}


class Worker:
    """A stage in a step."""

    def __init__(self, step, number, state, inputs, mail):
        self.step, self.number = step, number
        self.stage, self.laid = step.stages[number], step.laid[number]
        self.state, self.inputs, self.mail = state, inputs, mail
        self.values = {}   # by name, what is there for the rest of the step
        self.passing = {}  # by turn and name, what is in one micro-batch,
        self.left = {}     # .. and how many parts are still to read it
        self.divided = {n: [] for n in OUTPUTS if n in DIVIDED and
                        n not in INPUTS and HOME[n] == number}
        self.turns = collections.Counter()  # by part, how often it was run
        self.order = (p for times, parts in self.stage.order
                      for _ in range(times) for p in parts)
        self.now = next(self.order, None)

    def keep(self, name, turn, value):
        if name in self.divided:
            self.divided[name].append(value)
        if name in self.stage.grows:
            self.values[self.stage.grows[name]] = value
        if turn is None or name in self.step.lasting[self.number]:
            self.values[name] = value
        count = self.step.readers[self.number][name]
        if turn is not None and count:
            self.passing[turn, name], self.left[turn, name] = value, count

    def copy(self, name):
        """A constant that lies in another stage."""
        have = self.step.copies.get((self.number, name))
        if have is None or have[0] is not self.state[name]:
            have = self.state[name], jax.device_put(self.state[name],
                                                    self.laid[name])
            self.step.copies[self.number, name] = have
        return have[1]

    def find(self, name, turn):
        if (turn, name) in self.passing:
            self.left[turn, name] -= 1
            return self.passing[turn, name] if self.left[turn, name] else \
                self.passing.pop((turn, name))
        if name in self.values:
            return self.values[name]
        if name in STATES:
            return self.state[name] if HOME[name] == self.number else \
                self.copy(name)
        x, laid = self.inputs[name], self.laid[name]
        if name in DIVIDED:
            self.keep(name, turn, jax.device_put(x[turn], laid))
        else:
            self.values[name] = jax.device_put(x, laid)
        return self.find(name, turn)

    def run(self, name, turn):
        part = self.stage.parts[name]
        for c in part.takes:
            self.keep(CHANNELS[c][1], turn, self.mail.pop((c, turn)))
        have = {n: self.find(n, turn) for n in names_of(part)}
        made = self.step.parts[self.number][name](have, turn or 0)
        for n, x in made.items():
            self.keep(n, turn, x)
        for c in part.sends:
            _, n, to = CHANNELS[c]
            self.mail[c, turn] = jax.device_put(
                made[n] if n in made else have[n], self.step.laid[to][n])

    def advance(self):
        """Runs parts until one waits for another stage; whether any was run."""
        moved = False
        while self.now is not None:
            part = self.stage.parts[self.now]
            turn = self.turns[self.now] if part.in_turns else None
            if any((c, turn) not in self.mail for c in part.takes):
                break
            self.run(self.now, turn)
            self.turns[self.now] += 1
            self.now = next(self.order, None)
            moved = True
        return moved


class Step:
    """step(state, inputs) -> (state, outputs): the stages, each on its mesh.
    Nothing here waits for what devices compute: each gets its work in the order
    of the plan's schedule, and a value goes to the next stage when it is there."""

    def __init__(self, meshes, stages, donate):
        self.stages = stages
        self.laid = [shardings(m, s.tensors) for m, s in zip(meshes, stages)]
        self.readers = [readers(s) for s in stages]
        self.lasting = [lasting(s) for s in stages]
        self.copies = {}  # by stage and name: a constant, and its copy
        self.programs = [
            {n: lowered(s, m, n, donate).compile() for n in s.parts}
            for m, s in zip(meshes, stages)]
        self.parts = [
            {n: self.caller(s, n, donate, x) for n, x in programs.items()}
            for s, programs in zip(stages, self.programs)]
        self.join = {
            n: jax.jit(jnp.stack, out_shardings=shardings(
                meshes[HOME[n]], {n: OUTPUTS[n]})[n])
            for n in OUTPUTS if n in DIVIDED and n not in INPUTS}

    def caller(self, stage, name, donate, program):
        part, over = stage.parts[name], spent(stage, name, donate)

        def call(have, turn):
            return program({n: have[n] for n in over},
                           {n: have[n] for n in {*part.given} - over},
                           np.int64(turn))
        return call if part.makes else lambda have, turn: {}

    def output(self, name, workers):
        if name in INPUTS and name in DIVIDED:
            return workers[0].inputs[name]
        worker = workers[HOME[name]]
        return self.join[name](worker.divided[name]) if name in DIVIDED else \
            worker.find(name, None)

    def __call__(self, state, inputs):
        inputs = {n: of_turns(n, inputs[n]) for n in INPUTS}
        mail = {}
        workers = [Worker(self, s, state, inputs, mail)
                   for s in range(len(self.stages))]
        while any([w.advance() for w in workers]):
            pass
        assert all(w.now is None for w in workers)
        outputs = {n: self.output(n, workers) for n in OUTPUTS}
        return {**state, **{s: workers[HOME[s]].values[n]
                            for s, n in NEXT.items()
                            if n in workers[HOME[s]].values}}, outputs


def of_turns(name, x):
    """An input as its table has it."""
    shape, kind, _ = INPUTS[name]
    if np.shape(x) != shape:
        raise ValueError(f"input '{name}' has shape {tuple(np.shape(x))}, not "
                         f"{shape}; in_turns() makes that of a whole batch's")
    x = x if isinstance(x, jax.Array) else np.asarray(x)
    return x.astype(kind)


def lowered(stage, mesh, name, donate=False):
    """A part as JAX lowers it, for its stage's mesh."""
    part, over = stage.parts[name], spent(stage, name, donate)
    laid, pin = shardings(mesh, stage.tensors), pinned(mesh)
    like = [{n: jax.ShapeDtypeStruct(*stage.tensors[n][:2]) for n in names}
            for names in (over, {*part.given} - over)]
    return jax.jit(
        lambda spent, given, number: part.function({**given, **spent}, number,
                                                   pin),
        in_shardings=(*({n: laid[n] for n in x} for x in like), None),
        out_shardings={n: laid[n] for n in part.makes},
        donate_argnums=(0,)).lower(
            *like, jax.ShapeDtypeStruct((), jnp.int64))


def compile_step(meshes, donate=True):
    """The step, compiled for the stages' meshes: step(state, inputs) -> (state,
    outputs), inputs as in_turns() makes them.  The states that it is given are
    used up, where donate is set."""
    return Step(meshes, STAGES, donate)


def compile_forward(meshes):
    """forward(state, inputs) -> outputs."""
    step = Step(meshes, FORWARD_STAGES, False)
    return lambda state, inputs: step(state, inputs)[1]


def traffic(step):
    """What a compiled step moves: for each collective within stages, and for
    device_put, which brings values from stage to stage, how often and the bytes
    that all devices receive."""
    found = collections.defaultdict(lambda: (0, 0))

    def add(kind, n, nbytes):
        found[kind] = found[kind][0] + n, found[kind][1] + nbytes
    for s, programs in enumerate(step.programs):
        for name, program in programs.items():
            part = step.stages[s].parts[name]
            times = TURNS if part.in_turns else 1
            devices = math.prod(step.stages[s].mesh.values())
            for kind, (n, nbytes) in collectives(program, devices).items():
                add(kind, n * times, nbytes * times)
            for c in part.sends:
                _, value, to = CHANNELS[c]
                shape, kind, _ = step.stages[to].tensors[value]
                laid = step.laid[to][value]
                add("device_put", times, times * len(laid.device_set) *
                    math.prod(laid.shard_shape(shape)) *
                    np.dtype(kind).itemsize)
    return dict(found)


def stablehlo(meshes):
    """By name of a part: it as text in StableHLO with the shardings of Shardy.
    Its arguments are what it makes new, what else it is given, each in the order
    of their names, and the number of the micro-batch where it asks for it."""
    return {n: lowered(s, m, n).as_text()
            for m, s in zip(meshes, STAGES) for n in s.parts}


def main():
    """FILE.py FOLDER: writes what stablehlo() gives, a file for each part."""
    import argparse
    p = argparse.ArgumentParser(description=main.__doc__)
    p.add_argument("folder")
    a = p.parse_args()
    lower_alone(sum(math.prod(s.mesh.values()) for s in STAGES))
    os.makedirs(a.folder, exist_ok=True)
    for name, text in stablehlo(make_mesh()).items():
        with open(os.path.join(a.folder, f"{name}.mlir"), "w",
                  encoding="utf-8") as f:
            f.write(text)
