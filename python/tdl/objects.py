"""Modules, models, plans and runs."""
import collections
import json
import math
import os
import weakref

import numpy as np

from ._lib import ffi, lib
from .context import Context, Options

_NUMPY = {"f32": "f4", "f64": "f8", "f16": "f2", "i8": "i1", "i16": "i2",
          "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
          "u64": "u8", "bool": "?"}
_TDL = {np.dtype(v): k for k, v in _NUMPY.items()}
_ALIGN = 64   # bytes, of large results
_LARGE = 1 << 20


class Module:
    """Operators in TDL, checked, with all that follows from their text."""

    def __init__(self, path=None, text=None, context=None):
        """Of a file; of a text, for which path is a name; or, without either,
        the operator library."""
        self.context = context or Context()
        at = self.context._at
        if text is not None:
            data = text.encode()
            x = lib.tdl_module_of_text(at, str(path or "text.tdl").encode(),
                                       data, len(data))
        elif path is not None:
            x = lib.tdl_module_load(at, os.fspath(path).encode())
        else:
            x = lib.tdl_module_library(at)
        self._at = self.context._made(self, x, lib.tdl_module_free)

    def operators(self):
        """The names of its operators, those of imports among them."""
        return self.context._json(lib.tdl_module_operators(self._at))

    def describe(self):
        """The descriptors of its own operators: docs/descriptor.md."""
        return self.context._json(lib.tdl_module_describe(self._at))

    def explain(self, op, **options):
        """How an operator can be divided; with shape={"a": "64x32"} and
        devices=4 what each division moves."""
        o = Options(options)
        return self.context._json(
            lib.tdl_module_explain(self._at, op.encode(), o.at))

    def verify(self, op=None, **options):
        """Tries the strategies of an operator, or of all of its own, on small
        shapes."""
        o = Options(options)
        name = ffi.NULL if op is None else op.encode()
        return self.context._json(
            lib.tdl_module_verify(self._at, name, o.at))


class Model:
    """A network, in ONNX or TDL; options are those of `tdlc plan' about the
    model: D={"batch": 64}, train=True, optimizer="adamw,lr=1e-3", .."""

    def __init__(self, path, data=None, context=None, **options):
        """Of a file; of bytes, for which path is a name."""
        self.context = context or Context()
        o = Options(options)
        path = os.fspath(path).encode()
        if data is None:
            x = lib.tdl_model_load(self.context._at, path, o.at)
        else:
            x = lib.tdl_model_of_text(self.context._at, path, data, len(data),
                                      o.at)
        self._at = self.context._made(self, x, lib.tdl_model_free)

    def graph(self):
        """Its operators and tensors: `tdlc show MODEL --json'."""
        return self.context._json(lib.tdl_model_graph(self._at))

    def search(self, devices, **options):
        """A Plan; options are those of `tdlc plan': algorithm="auto",
        topology="8xh100-nvlink", memory="80GB", micro_batches=4, .."""
        o = Options({"devices": devices, **options})
        return Plan(lib.tdl_plan_search(self._at, o.at), self.context)

    def compare(self, devices, **options):
        """The plans of all planners side by side."""
        o = Options({"devices": devices, **options})
        return self.context._json(lib.tdl_model_compare(self._at, o.at))

    def score(self, devices, **options):
        """The cost of the plan that pins=FILE or pin=[..] make."""
        o = Options({"devices": devices, **options})
        return self.context._json(lib.tdl_model_score(self._at, o.at))

    def profile(self, path, **options):
        """Measures its layers here, and adds their times to the profile in a
        file: devices=2, micro_batches=4, steps=20, .."""
        o = Options(options)
        return self.context._json(lib.tdl_model_profile(
            self._at, os.fspath(path).encode(), o.at))

    def frontier(self, devices, **options):
        """The plans that none is better than in both time and memory."""
        o = Options({"devices": devices, **options})
        return self.context._json(lib.tdl_model_frontier(self._at, o.at))


class Plan:
    """Who holds what, computes what, and sends what to whom."""

    def __init__(self, x, context):
        self.context = context
        self._at = context._made(self, x, lib.tdl_plan_free)

    @classmethod
    def load(cls, path, context=None):
        """A plan file."""
        context = context or Context()
        return cls(lib.tdl_plan_load(context._at, os.fspath(path).encode()),
                   context)

    @classmethod
    def of_text(cls, text, path="text.plan", context=None):
        """The text of a plan file; path is for messages, and paths of weights
        are relative to its folder."""
        context = context or Context()
        data = text.encode()
        return cls(lib.tdl_plan_of_text(context._at, os.fspath(path).encode(),
                                        data, len(data)), context)

    def report(self):
        """The result of the search: `tdlc plan --json'."""
        return self.context._json(lib.tdl_plan_report(self._at))

    def score(self, topology=None):
        """What it moves, needs and takes: `tdlc score PLAN --json'."""
        t = ffi.NULL if topology is None else str(topology).encode()
        return self.context._json(lib.tdl_plan_score(self._at, t))

    def layout(self, topology=None):
        """Who holds what: `tdlc show PLAN --json'."""
        t = ffi.NULL if topology is None else str(topology).encode()
        return self.context._json(lib.tdl_plan_layout(self._at, t))

    def page(self, **options):
        """The report as a page of HTML; options are those of `tdlc report':
        topology, planners, frontier, trace."""
        o = Options(options)
        return self.context._text(lib.tdl_plan_page(self._at, o.at))

    def text(self):
        """The plan file: docs/plan-format.md."""
        return self.context._text(lib.tdl_plan_text(self._at))

    def tables(self):
        """The plan file, parsed."""
        return json.loads(self.text())

    def write(self, path):
        """A file that tdlrun runs."""
        self.context._check(
            lib.tdl_plan_write(self._at, os.fspath(path).encode()))

    def export(self, to, path):
        """Writes it for another system: `tdlc export'."""
        self.context._check(lib.tdl_plan_export(
            self._at, to.encode(), os.fspath(path).encode()))

    def annotate(self, model, path):
        """Writes the ONNX model that it was made of, with its layouts."""
        self.context._check(lib.tdl_plan_annotate(
            self._at, os.fspath(model).encode(), os.fspath(path).encode()))

    def run(self, **options):
        """A Run on threads of this process; kernels="interpreter" needs no C
        compiler, kernels="library" calls oneDNN where it fits."""
        return Run(self, **options)


def _array(name, x):
    """A tdl_array of a dense one of NumPy, and what it borrows."""
    dims = ffi.new("int64_t[]", list(x.shape) or [0])
    kept = [ffi.new("char[]", name.encode()),
            ffi.new("char[]", _TDL[x.dtype].encode()), dims,
            ffi.from_buffer(x.reshape(-1).view("u1")) if x.size else ffi.NULL]
    return kept, {"name": kept[0], "type": kept[1], "ndim": x.ndim,
                  "dims": dims, "data": kept[3], "nbytes": x.nbytes}


class _Block:
    """Memory of a NumPy array.  When nothing refers to the array any more, it
    joins the spare memory, if that still exists."""

    def __init__(self, memory, spare, shape, dtype):
        self._memory, self._spare = memory, weakref.ref(spare)
        at = memory.ctypes.data
        self.__array_interface__ = {
            "version": 3, "shape": tuple(shape), "typestr": dtype.str,
            "data": (at + -at % _ALIGN, False)}

    def __del__(self):
        spare = self._spare()
        if spare is not None:
            spare.append(self._memory)


class Run:
    """A plan in execution, a thread for each device; states go on from step to
    step."""

    def __init__(self, plan, **options):
        self.context = plan.context
        o = Options(options)
        self._at = self.context._made(self, lib.tdl_run_open(plan._at, o.at),
                                      lib.tdl_run_free)
        tables = plan.tables()
        # What a stage receives has the name, and in the others another role.
        self._tensors = {t["name"]: t for t in sorted(
            tables["tensors"], key=lambda t: t["role"] == "state")}
        # With stages they are names.
        self._outputs = [t if isinstance(t, str)
                         else tables["tensors"][t]["name"]
                         for t in tables["outputs"]]
        # By name of a large output: memory of results of its size that nobody
        # has any more, at most that of one step's.  The system takes longer to
        # give fresh memory than kernels take to fill it.
        sizes = collections.Counter(self._nbytes(n) for n in self._outputs)
        spare = {nbytes: collections.deque(maxlen=n)
                 for nbytes, n in sizes.items() if nbytes >= _LARGE}
        self._spare = {n: spare[self._nbytes(n)] for n in self._outputs
                       if self._nbytes(n) in spare}

    def _nbytes(self, name):
        """Of a tensor; 0 if NumPy has no type for it."""
        t = self._tensors[name]
        size = np.dtype(_NUMPY[t["type"]]).itemsize if t["type"] in _NUMPY \
            else 0
        return math.prod(t["shape"]) * size

    def _empty(self, name):
        t = self._tensors[name]
        if t["type"] not in _NUMPY:
            raise TypeError(f"NumPy has no type for the {t['type']} of "
                            f"'{name}'")
        return np.empty(t["shape"], _NUMPY[t["type"]])

    def _result(self, name):
        """An array for an output, of spare memory if there is some."""
        spare = self._spare.get(name)
        if spare is None:
            return self._empty(name)
        memory = spare.pop() if spare else \
            np.empty(self._nbytes(name) + _ALIGN, np.uint8)
        t = self._tensors[name]
        return np.asarray(_Block(memory, spare, t["shape"],
                                 np.dtype(_NUMPY[t["type"]])))

    def _arrays(self, of):
        pairs = [_array(name, x) for name, x in of.items()]
        at = ffi.new("tdl_array[]", [fields for _, fields in pairs] or 1)
        return [kept for kept, _ in pairs], at

    def step(self, inputs, outputs=None):
        """Runs the plan once on arrays by name, each of its input's type and
        shape, and returns the outputs, all or those named."""
        given = {k: np.ascontiguousarray(v).reshape(np.shape(v))
                 for k, v in inputs.items()}
        results = {name: self._result(name)
                   for name in (self._outputs if outputs is None
                                else outputs)}
        kept, x = self._arrays(given)
        kept_too, y = self._arrays(results)
        self.context._check(lib.tdl_run_step(self._at, x, len(given), y,
                                             len(results)))
        del kept, kept_too
        return results

    def states(self):
        """The names of what is kept from step to step."""
        return [name for name, t in self._tensors.items()
                if t["role"] == "state"]

    def get_state(self, name):
        """The value of a state, copied."""
        x = self._empty(name)
        kept, at = self._arrays({name: x})
        self.context._check(lib.tdl_run_get_state(self._at, at))
        del kept
        return x

    def set_state(self, name, value):
        """Gives a state another value, of its type and shape."""
        kept, at = self._arrays({name: np.ascontiguousarray(value)
                                 .reshape(np.shape(value))})
        self.context._check(lib.tdl_run_set_state(self._at, at))
        del kept
