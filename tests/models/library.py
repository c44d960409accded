"""How calls of the library's operators are drawn: each function adds some, to
tensors that a model (drawn.py) has, and gives the name of the result, or None
where nothing there suits."""
import math

TAME = ("relu tanh sigmoid gelu gelu_tanh elu selu celu mish softplus softsign "
        "hard_swish erf sin cos atan asinh abs neg square").split()
FLAT = "sign floor ceil round stop_gradient".split()
OUTER = ("concat2 concat3 stack2 slice slice_steps pick pad pad_edge "
         "pad_reflect pad_wrap tile repeat_each gather gather_elements cumsum "
         "cumprod one_hot").split()


# ---- element by element --------------------------------------------------------

def unary(g):
    x = g.floats()
    return x and g.call(g.rng.choice(TAME * 4 + FLAT), [x])


def with_attributes(g):
    x, pick = g.floats(), g.rng.choice
    word, attributes = pick([
        ("leaky_relu", {"alpha": pick(["0.1", "0.3"])}),
        ("thresholded_relu", {"alpha": "0.4"}),
        ("elu", {"alpha": "0.7"}), ("celu", {"alpha": "1.5"}),
        ("hard_sigmoid", {"alpha": "0.3", "beta": "0.4"}),
        ("swish", {"alpha": "1.3"}),
        ("shrink", {"lambd": "0.4", "bias": pick(["0.0", "0.2"])}),
        ("clip", {"low": "-0.8", "high": "0.6"}), ("scale", {"alpha": "-1.5"}),
        ("softcap", {"cap": "2.0"}), ("scale_by_root", {"n": "5"})])
    return x and g.call(word, [x], attributes)


def tame_domain(g):
    """Functions that are not everywhere."""
    x, word = g.floats(), g.rng.choice(
        "log sqrt reciprocal inverse_deviation acosh asin acos atanh tan exp "
        "sinh cosh".split())
    if not x:
        return None
    if word in ("asin", "acos", "atanh", "tan", "exp", "sinh", "cosh"):
        y = g.call("tanh", [x])
        return y and g.call(word, [g.call("mul", [y, "0.9"])])
    y = g.call("square", [x])
    y = y and g.call("add", [y, "1.5" if word == "acosh" else "0.5"])
    how = {"epsilon": "0.001"} if word == "inverse_deviation" else {}
    return y and g.call(word, [y], how)


def beside(g, x, number=True):
    """Something that is broadcast with x: a tensor of its shape, a part of
    it, or a number."""
    same = [t for t in g.names("f32") if g.shape(t) == g.shape(x) and t != x]
    if same and g.chance(0.5):
        return g.rng.choice(same)
    if number and g.chance(0.15):
        return g.rng.choice(["0.5", "2.0", "-1.25"])
    dims = g.dims(x)
    dims = dims[g.rng.randint(0, len(dims)):] if g.chance(0.7) else dims
    return g.weight(["1" if g.chance(0.2) else d for d in dims])


def binary(g):
    x = g.floats()
    if not x:
        return None
    word = g.rng.choice("add add sub mul mul maximum minimum prelu div power "
                        "add3 add4 weighted_add clip_tensors fmod mod_float "
                        "where".split())
    y = beside(g, x, word != "where")
    if word in ("div", "power", "fmod", "mod_float"):
        z = g.call("add", [g.call("square", [x]), "0.5"])
        if word == "power":
            return z and g.call(word, [z, y])
        return z and g.call(word, [x, z])
    if word == "add3":
        return g.call(word, [x, y, beside(g, x)])
    if word == "add4":
        return g.call(word, [x, y, beside(g, x), beside(g, x)])
    if word == "weighted_add":
        return g.call(word, [x, y], {"alpha": "0.7", "beta": "-0.4"})
    if word == "clip_tensors":
        return g.call(word, [x, "-0.7", y])
    if word == "where":
        c = g.call(g.rng.choice("less less_equal greater not_equal".split()),
                   [x, beside(g, x)])
        return c and g.call(word, [c, x, y])
    return g.call(word, [y, x] if g.chance(0.3) and word != "prelu"
                  else [x, y])


def logical(g):
    """Conditions out of conditions; the mask of an input, too."""
    x = g.floats()
    if not x:
        return None
    c = g.call("greater", [x, "0.1"])
    d = g.call("less", [x, "0.9"]) if g.chance(0.5) \
        else g.input(g.dims(x), "bool")
    if not c or not d:
        return None
    e = g.call(g.rng.choice(["logical_and", "logical_or", "logical_xor"]),
               [c, d])
    e = g.call("logical_not", [e]) if g.chance(0.3) else e
    return e and g.call("where", [e, x, beside(g, x, False)])


# ---- contractions ------------------------------------------------------------

def matmul(g):
    x = g.floats(ranks=(2, 3, 4))
    if not x:
        return None
    d = g.dims(x)
    if g.chance(0.15):  # of a tensor and itself: shared operands
        y = g.call("transpose", [x], {"perm": str(
            [*range(len(d) - 2), len(d) - 1, len(d) - 2]).replace(" ", "")})
        return y and g.call("matmul", [x, y])
    batch = d[:-2] if g.chance(0.3) else []
    return g.call("matmul", [x, g.weight([*batch, d[-1], g.size()])])


def contraction(g):
    word = g.rng.choice("matmul_nt matmul_tn matmul_tt vector_matmul "
                        "matmul_vector product_nt squared_distances dot"
                        .split())
    x = g.floats(ranks={"vector_matmul": (1,), "dot": (1,),
                        "matmul_vector": (2, 3)}.get(word, (2,)))
    if not x:
        return None
    d = g.dims(x)
    other = {"matmul_nt": [g.size(), d[-1]], "product_nt": [g.size(), d[-1]],
             "squared_distances": [g.size(), d[-1]],
             "matmul_tn": [d[0], g.size()], "matmul_tt": [g.size(), d[0]],
             "vector_matmul": [d[0], g.size()], "matmul_vector": [d[-1]],
             "dot": [d[0]]}[word]
    return g.call(word, [x, g.weight(other)])


def linear(g):
    x = g.floats(ranks=(2, 3))
    if not x:
        return None
    n = g.size()
    y = g.call("matmul", [x, g.weight([g.dims(x)[-1], n])])
    y = y and g.call("add", [y, g.weight([n])])
    return y and g.call(g.rng.choice(["relu", "tanh", "gelu"]), [y])


# ---- images ------------------------------------------------------------------

def spatial(g, ranks=(3, 4)):
    return g.floats(ranks=ranks)


def taps(g, x, least=0):
    """Kernels, strides, dilations and pads that suit an image."""
    n = g.shape(x)[2:]
    kernel = [g.rng.randint(1, 3) for _ in n]
    pads = [g.rng.randint(0, k - 1) for k in kernel * 2] if g.chance(0.5) \
        else [0] * (2 * len(n))
    strides = [g.rng.choice([1, 1, 2, 3]) for _ in n]
    dilations = [g.rng.choice([1, 1, 1, 2]) for _ in n]
    return kernel, {"strides": str(strides), "pads": str(pads),
                    "dilations": str(dilations)}


def conv(g):
    x = spatial(g, (3, 4, 5))
    if not x:
        return None
    kernel, how = taps(g, x)
    n = len(kernel)
    dims = g.dims(x)
    if g.chance(0.25) and n < 3 and g.shape(x)[1] % 2 == 0:
        w = g.weight([f"({g.size()}) * 2", f"{dims[1]} / 2",
                      *map(str, kernel)])
        return g.call(f"conv{n}d_grouped", [x, w], how | {"group": "2"})
    if n == 1 and g.chance(0.2):
        return g.call("conv1d", [x, g.weight([dims[1], g.size(),
                                              str(kernel[0])])])
    y = g.call("conv1d_strided" if n == 1 else f"conv{n}d",
               [x, g.weight([g.size(), dims[1], *map(str, kernel)])], how)
    if y and g.chance(0.4):
        y = g.call("add_channels", [y, g.weight([g.dims(y)[1]])])
    return y


def conv_transpose(g):
    x = spatial(g)
    if not x:
        return None
    kernel, how = taps(g, x)
    n = len(kernel)
    how["extra"] = str([g.rng.choice([0, 0, 1]) for _ in kernel])
    dims = g.dims(x)
    if n == 2 and g.chance(0.25) and g.shape(x)[1] % 2 == 0:
        return g.call("conv_transpose2d_grouped", [x, g.weight(
            [dims[1], g.size(), *map(str, kernel)])], how | {"group": "2"})
    return g.call(f"conv_transpose{n}d", [x, g.weight(
        [dims[1], g.size(), *map(str, kernel)])], how)


def pool(g):
    x = spatial(g, (3, 4, 5))
    if not x:
        return None
    kernel, how = taps(g, x)
    n = len(kernel)
    how["kernel"] = str(kernel)
    word = g.rng.choice(["max", "max", "average", "lp", "global"])
    if word == "max":
        return g.call(f"max_pool{n}d", [x], how)
    if n == 3:
        return None
    if word == "average":
        del how["pads"]
        return g.call(f"average_pool{n}d", [x], how)
    if n == 1:
        return None
    if word == "lp":
        del how["dilations"]
        how["pads"] = "[0, 0, 0, 0]"
        return g.call("lp_pool2d", [x], how | {"p": "2.0"})
    return g.call(g.rng.choice(["global_average_pool2d",
                                "global_max_pool2d"]), [x])


def blocks_of_images(g):
    x = g.floats(ranks=(4,))
    if not x:
        return None
    if g.shape(x)[1] % 4 == 0 and g.shape(x)[1]:
        return g.call("depth_to_space_crd", [x], {"size": "2"})
    if g.shape(x)[2] % 2 == 0 == g.shape(x)[3] % 2:
        return g.call("space_to_depth_crd", [x], {"size": "2"})
    return None


# ---- norms and attention -------------------------------------------------------

def norm(g):
    x = g.floats(ranks=(2, 3, 4))
    if not x or min(g.shape(x)) < 1:
        return None
    d = g.dims(x)
    word = g.rng.choice("layer_norm layer_norm rms_norm instance_norm "
                        "group_norm mean_variance_norm lrn l2_norm l1_norm "
                        "batch batch softmax softmax log_softmax variance"
                        .split())
    tail = d[g.rng.choice([-1, -1, 1]):]
    c = d[1]
    if word == "batch":
        return g.block("batch_normed", [x])
    if word == "layer_norm":
        return g.call(word, [x, g.weight(tail), g.weight(tail)])
    if word == "rms_norm":
        return g.call(word, [x, g.weight(tail)])
    if word == "instance_norm":
        return g.call(word, [x, g.weight([c]), g.weight([c])]) \
            if len(d) > 2 and math.prod(g.shape(x)[2:]) > 1 else None
    if word == "group_norm":
        n = g.rng.choice([n for n in (1, 2, 3) if g.shape(x)[1] % n == 0])
        return g.call(word, [x, g.weight([c]), g.weight([c])],
                      {"groups": str(n)}) if len(d) > 2 else None
    if word == "lrn":
        return g.call(word, [x], {"size": "3", "alpha": "0.1", "beta": "0.75",
                                  "bias": "1.0"})
    if word in ("l1_norm", "l2_norm"):
        return g.call(word, [x], {"axis": str(g.rng.randrange(len(d)))})
    axes = g.axes(x, least=1)
    if word == "mean_variance_norm":
        # two equal numbers have no deviation, and their gradient is noise
        return g.call(word, [x], {"axes": axes, "epsilon": "0.1"})
    return g.call(word, [x], {"axes": axes})


def weighed_softmax(g):
    """Between weights, so that it is trained through, and not by a sum of its
    results, whose derivative is 0."""
    x = g.floats(ranks=(1, 2, 3, 4))
    if not x or min(g.shape(x)) < 1:
        return None
    d = g.dims(x)
    y = g.call("mul", [x, g.weight(d)])
    y = y and g.call(g.rng.choice(["softmax", "softmax", "log_softmax"]), [y],
                     {"axes": g.axes(x, least=1)})
    return y and g.call("mul", [y, g.weight(d)])


def attention(g):
    """Heads of queries, keys and values out of one tensor."""
    x = g.floats(ranks=(4,))
    if not x or min(g.shape(x)) < 1:
        return None
    b, h, t, d = g.dims(x)
    repeats = g.rng.choice([1, 1, 2])
    q = g.call("mul", [x, g.weight([d])])
    if repeats == 2:
        q = g.call("tile", [q], {"outer": f"[{b}]", "n": "2"})
    if q and g.shape(x)[3] >= 2 and g.chance(0.4):
        pairs = [t, f"{d} / 2"]
        q = g.call("rope", [q, g.weight(pairs), g.weight(pairs)])
    s = q and g.call("attention_scores", [q, x], {"repeats": str(repeats)})
    kind = g.rng.choice(["", "causal", "window", "padding"])
    if s and kind == "causal":
        s = g.call("masked_causal", [s], {"offset": g.rng.choice("01")})
    elif s and kind == "window":
        s = g.call("masked_window", [s], {"offset": "0", "left": "1",
                                          "right": g.rng.choice("01")})
    elif s and kind == "padding":
        s = g.call("masked_padding", [s, g.input([b], "i64", f"{t} + 1")])
    p = s and g.call("masked_softmax", [s])
    return p and g.call("attention_values", [p, x], {"repeats": str(repeats)})


# ---- reductions --------------------------------------------------------------

def reduction(g):
    x = g.floats(ranks=(1, 2, 3, 4))
    if not x:
        return None
    word = g.rng.choice("reduce_sum reduce_sum reduce_mean reduce_prod "
                        "reduce_max reduce_min reduce_l1 reduce_sum_square "
                        "reduce_l2 reduce_log_sum_exp".split())
    axes = g.axes(x, least=1)
    if word == "reduce_prod":
        x = g.call("add", [g.call("mul", [g.call("tanh", [x]), "0.5"]),
                           "1.0"])
    return x and g.call(word, [x], {"axes": axes})


def indices(g):
    """Where something is greatest, looked up."""
    x = g.floats(ranks=(2, 3))
    if not x:
        return None
    axis = g.rng.randrange(len(g.shape(x)))
    at = g.call(g.rng.choice(["argmax", "argmin"]), [x], {"axis": str(axis)})
    return at and g.call("embedding", [at, g.weight([g.dims(x)[axis],
                                                     g.size()])])


# ---- moving elements ----------------------------------------------------------

def reshape(g):
    x = g.floats(ranks=(1, 2, 3, 4))
    if not x:
        return None
    d, n = g.dims(x), g.shape(x)
    i = g.rng.randrange(len(d))
    kind = g.rng.choice(["join", "split", "one", "flat"])
    if kind == "join" and i + 1 < len(d):
        d[i:i + 2] = [f"{d[i]} * {d[i + 1]}"]
    elif kind == "split" and n[i] and n[i] % 2 == 0:
        d[i:i + 1] = g.rng.choice([[f"{d[i]} / 2", "2"],
                                   ["2", f"{d[i]} / 2"]])
    elif kind == "one":
        d.insert(i, "1")
    elif kind == "flat":
        d = [" * ".join(d)]
    return g.call("reshape", [x], {"shape": f"[{', '.join(d)}]"})


def transpose(g):
    x = g.floats(ranks=(2, 3, 4))
    if not x:
        return None
    perm = list(range(len(g.shape(x))))
    g.rng.shuffle(perm)
    return g.call("transpose", [x], {"perm": str(perm)})


def expand(g):
    x = g.floats(ranks=(0, 1, 2))
    if not x:
        return None
    return g.call("expand", [x], {"shape": f"[{', '.join([g.size(), *g.dims(x)])}]"})


def along_axis(g):
    word = g.rng.choice(OUTER)
    x = g.floats(ranks=(1, 2, 3, 4))
    if not x:
        return None
    d, shape = g.dims(x), g.shape(x)
    axis = g.rng.randrange(len(d))
    n, small = shape[axis], g.rng.randint
    how = {"outer": f"[{', '.join(d[:axis])}]"}
    other = [x]
    if word in ("concat2", "concat3"):
        for _ in range(int(word[-1]) - 1):
            other.append(g.weight([*d[:axis], g.size(), *d[axis + 1:]]))
        g.rng.shuffle(other)
    elif word == "stack2":
        other.append(beside_whole(g, x))
    elif word in ("slice", "slice_steps", "pick"):
        if n == 0:
            return None
        start = small(0, n - 1)
        if word == "pick":
            how["at"] = str(start)
        elif word == "slice":
            how |= {"start": str(start), "count": str(small(1, n - start))}
        else:
            step = g.rng.choice([2, 1, -1, -2])
            most = (n - 1 - start if step > 0 else start) // abs(step) + 1
            how |= {"start": str(start), "step": str(step),
                    "count": str(small(1, most))}
    elif word.startswith("pad"):
        most = max(n - 1, 0) if word == "pad_reflect" else 3
        how |= {"before": str(small(0, min(most, 3))),
                "after": str(small(0, min(most, 3)))}
        if word == "pad":
            how["value"] = g.rng.choice(["0.0", "1.5"])
    elif word == "tile":
        how["n"] = str(small(1, 3))
    elif word == "repeat_each":
        how |= {"n": "2", "count": f"2 * {d[axis]}"}
    elif word == "gather":
        ids = g.input([g.size() for _ in range(small(0, 2))], "i64", d[axis])
        other.append(ids)
    elif word == "gather_elements":
        other.append(g.input([*d[:axis], g.size(), *d[axis + 1:]], "i64",
                             d[axis]))
    elif word in ("cumsum", "cumprod"):
        how |= {"exclusive": g.rng.choice(["true", "false"]),
                "reverse": g.rng.choice(["true", "false"])}
        if word == "cumprod":
            other = [g.call("add", [g.call("mul", [g.call("tanh", [x]),
                                                   "0.5"]), "1.0"])]
    elif word == "one_hot":
        ids = g.input([*d[:axis], *d[axis + 1:]], "i64", d[axis])
        y = g.call(word, [ids, g.weight(["2"])], how | {"depth": d[axis]})
        return y and g.call("mul", [x, y])
    return g.call(word, other, how)


def beside_whole(g, x):
    same = [t for t in g.names("f32") if g.shape(t) == g.shape(x)]
    return g.rng.choice(same) if g.chance(0.5) else g.weight(g.dims(x))


def triangle(g):
    x = g.floats(ranks=(2, 3))
    return x and g.call(g.rng.choice(["upper_triangle", "lower_triangle"]),
                        [x], {"k": g.rng.choice(["0", "1", "-1"])})


def scatter(g):
    x = g.floats(ranks=(1, 2, 3))
    if not x:
        return None
    d, k = g.dims(x), g.size()
    at = g.input([k], "i64", d[0])
    return g.call(g.rng.choice(["scatter_rows_add", "scatter_rows_add",
                                "scatter_rows"]),
                  [x, at, g.weight([k, *d[1:]])])


def embedding(g):
    ids = g.input([g.size() for _ in range(g.rng.randint(1, 2))], "i64",
                  n := g.size())
    return g.call("embedding", [ids, g.weight([n, g.size()])])


DRAWS = [unary, unary, with_attributes, tame_domain, binary, binary, logical,
         matmul, matmul, contraction, linear, conv, conv, conv_transpose, pool,
         blocks_of_images, norm, norm, weighed_softmax, attention, reduction,
         reduction, indices, reshape, transpose, expand, along_axis, along_axis,
         along_axis, triangle, scatter, embedding]


# ---- losses ------------------------------------------------------------------

def loss_of(g, x):
    """One number for a tensor."""
    d, shape = g.dims(x), g.shape(x)
    kind = g.rng.choice(["squares", "mse", "l1", "sigmoid", "classes",
                         "classes", "likelihood"])
    if not shape:
        return g.call("mul", [x, x])
    if kind in ("classes", "likelihood") and len(d) >= 2 and shape[-1] > 1:
        if kind == "classes":
            label = g.input(d[:-1], "i64", d[-1])
            how = {"label_smoothing": "0.1"} if g.chance(0.3) else {}
            return g.call("softmax_cross_entropy", [x, label], how)
        y = g.call("log_softmax", [x], {"axes": "[1]"})
        label = g.input([d[0], *d[2:]], "i64", d[1])
        y = y and g.call("negative_log_likelihood", [y, label],
                         {"ignore_index": "0"})
        axes = str(list(range(len(d) - 1)))
        return y and g.call("reduce_sum", [y], {"axes": axes})
    if kind == "mse":
        return g.call("mse", [x, g.input(d)])
    if kind == "l1":
        return g.call("mean_absolute_error", [x, g.input(d)])
    if kind == "sigmoid":
        t = g.input(d, "bool")
        y = t and g.call("convert", [t], {"to": "f32"})
        return y and g.call("sigmoid_cross_entropy", [x, y])
    axes = str(list(range(len(d))))
    return g.call(g.rng.choice(["reduce_sum", "reduce_sum_square"]), [x],
                  {"axes": axes})
