# ---- one mesh ----------------------------------------------------------------


def make_mesh(devices=None):
    """The plan's mesh, of these devices, or of the first that there are."""
    devices = np.asarray(jax.devices() if devices is None else devices)
    n = math.prod(MESH.values())
    if devices.size < n:
        raise ValueError(f"the plan is for {n} devices; there are "
                         f"{devices.size}")
    return mesh_of(devices.reshape(-1)[:n], MESH)


def unpinned(x, *spec):
    """pin(x, *spec) where there is no mesh."""
    return x


def state_shardings(mesh):
    return shardings(mesh, STATES)


def compile_step(mesh, donate=True):
    """step() on a mesh: step(state, inputs) -> (state, outputs).  The states
    that it is given are used up, where donate is set."""
    state, inputs, outputs = (shardings(mesh, t)
                              for t in (STATES, INPUTS, OUTPUTS))
    pin = pinned(mesh)
    return jax.jit(lambda s, x: step(s, x, pin),
                   in_shardings=(state, inputs),
                   out_shardings=(state, outputs),
                   donate_argnums=(0,) if donate else ())


def compile_forward(mesh):
    """forward() on a mesh: forward(state, inputs) -> outputs."""
    state, inputs, outputs = (shardings(mesh, t)
                              for t in (STATES, INPUTS, OUTPUTS))
    pin = pinned(mesh)
    return jax.jit(lambda s, x: forward(s, x, pin),
                   in_shardings=(state, inputs), out_shardings=outputs)


def stablehlo(mesh, function="step"):
    """A function, step or forward, as text in StableHLO with the shardings of
    Shardy.  Its arguments are the states, then the inputs, each in the order of
    their names; its results are likewise."""
    described = [{name: jax.ShapeDtypeStruct(shape, kind)
                  for name, (shape, kind, _) in table.items()}
                 for table in (STATES, INPUTS)]
    compiled = (compile_step(mesh, donate=False) if function == "step" else
                compile_forward(mesh))
    return compiled.lower(*described).as_text()


def main():
    """FILE.py OUT.mlir [step|forward]: writes what stablehlo() gives."""
    import argparse
    p = argparse.ArgumentParser(description=main.__doc__)
    p.add_argument("out")
    p.add_argument("function", nargs="?", default="step",
                   choices=["step", "forward"])
    a = p.parse_args()
    lower_alone(math.prod(MESH.values()))
    text = stablehlo(make_mesh(), a.function)
    with open(a.out, "w", encoding="utf-8") as f:
        f.write(text)


def traffic(compiled):
    """What a compiled step moves: for each collective its number and the bytes
    that all devices receive.  compiled: compile_step(mesh).lower(state,
    inputs).compile()."""
    return collectives(compiled, math.prod(MESH.values()))
