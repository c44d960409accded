/* Tests: compiler/expand */
/* compiler/expand: operators as text, expanded for shapes, evaluated by the
 * interpreter, against values worked out here. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/expand/expand.h"
#include "kernel/eval.h"
#include "tests/unit/suite.h"
#include "tests/unit/written.h"

static const ast_op *load(const char *text, const char *name)
{
	if (!load_text(text))
		diag_print(sink, stderr, false);
	const ast_op *op = dsl_op(modules, name);
	ck_assert_msg(op != NULL, "no operator %s in:\n%s", name, text);
	return op;
}

/* "f32 2x3": a scalar is "f32 ". */
static tensor_type type_of(const char *text)
{
	char name[8];
	int used;
	tensor_type t = { .ndim = 0 };
	ck_assert_int_eq(sscanf(text, "%7s %n", name, &used), 1);
	t.type = dtype_parse(name);
	for (const char *p = text + used; *p;) {
		char *end;
		t.dims[t.ndim++] = strtoll(p, &end, 10);
		p = *end == 'x' ? end + 1 : end;
	}
	return t;
}

/* Attributes as the operator's file would have them: "perm=[1,0]" becomes an
 * operator's default by being in the text, so tests need lists only. */
typedef struct given {
	const char *name;
	int n;
	int64_t ints[4];
} given;

static expansion *expand(const ast_op *op, const char *const *types,
			 const given *attrs)
{
	tensor_type params[8];
	for (int i = 0; i < op->nparams; i++)
		params[i] = type_of(types[i]);
	const attr_value **values =
		ARENA_ARRAY(a, const attr_value *, op->nattrs + 1);
	for (int i = 0; attrs && attrs->name && i < op->nattrs; i++) {
		for (const given *g = attrs; g->name; g++) {
			if (strcmp(g->name, op->attrs[i].name))
				continue;
			attr_value *v = ARENA_NEW(a, attr_value);
			v->type = op->attrs[i].type;
			v->is_list = op->attrs[i].is_list;
			v->n = g->n;
			v->ints = g->ints;
			values[i] = v;
		}
	}
	return expand_op(a, modules, sink, op, params, values,
			 (call_site){ .place = "the test" });
}

static view value_view(const tensor_type *t, void *data)
{
	box whole = box_whole(t->dims, t->ndim);
	return view_dense(data, t->type, &whole);
}

/* Evaluates an expansion whose inputs hold 1, 2, 3, .. (so that none is its
 * own index), or `ids` for integer inputs.  Returns the first result. */
static double *evaluate(const expansion *x, const char *const *types,
			const int64_t *ids, tensor_type *result)
{
	view *values = ARENA_ARRAY(a, view, x->nparams + x->nstages);
	for (int i = 0; i < x->nparams; i++) {
		tensor_type t = type_of(types[i]);
		box whole = box_whole(t.dims, t.ndim);
		int64_t n = box_volume(&whole);
		void *data = ARENA_ARRAY(a, double, n + 1);
		for (int64_t j = 0; j < n; j++) {
			if (dtype_is_int(t.type))
				elem_set_i64(t.type, data, j, ids[j]);
			else
				elem_set_f64(t.type, data, j, (double)j + 1);
		}
		values[i] = value_view(&t, data);
	}
	for (int s = 0; s < x->nstages; s++) {
		const kernel *k = x->stages[s].kernel;
		view in[MAX_NINPUTS];
		for (int i = 0; i < k->ninputs; i++)
			in[i] = values[x->stages[s].inputs[i]];
		tensor_type t = { .type = k->type, .ndim = k->nout };
		for (int d = 0; d < k->nout; d++)
			t.dims[d] = kernel_dim(k, d);
		box space = kernel_space(k);
		box whole = box_whole(t.dims, t.ndim);
		void *data = ARENA_ARRAY(a, double, box_volume(&whole) + 1);
		values[x->nparams + s] = value_view(&t, data);
		ck_assert_int_eq(kernel_eval(k, &space, in,
					     &values[x->nparams + s], NULL,
					     NULL), EVAL_OK);
	}
	*result = x->result_types[0];
	box whole = box_whole(result->dims, result->ndim);
	int64_t n = box_volume(&whole);
	double *out = ARENA_ARRAY(a, double, n + 1);
	for (int64_t i = 0; i < n; i++)
		out[i] = elem_get_f64(result->type,
				      values[x->results[0]].data, i);
	return out;
}

/* An operator, its arguments, how many stages it has, its result. */
typedef struct expected {
	const char *text, *op;
	const char *types[4];
	given attrs[3];
	int64_t ids[6];
	int nstages;
	const char *first;  /* stage, where that is asked for */
	const char *result; /* type and shape */
	double values[12];
	int nvalues;
} expected;

#define CONV1D                                                              \
	"op conv1d(data[B, CI, X], filters[CI, CO, DX])"                    \
	" -> out[B, CO, X - DX + 1] = lambda b, co, x: Sum(lambda ci, dx: " \
	"data[b, ci, x + dx] * filters[ci, co, dx])\n"
#define ADD                                                        \
	"op add(broadcast a[..d], broadcast b[..d]) -> out[..d] = " \
	"lambda ..d: a[..d] + b[..d]\n"
#define SOFTMAX                                                           \
	"op softmax(x[..d]; axis: axis = -1) -> y[..d] =\n"               \
	"let m = lambda ..(d \\ axis): Max(lambda ..(d & axis): x[..d])\n" \
	"let e = lambda ..d: exp(x[..d] - m[..(d \\ axis)])\n"            \
	"let z = lambda ..(d \\ axis): Sum(lambda ..(d & axis): e[..d])\n" \
	"lambda ..d: e[..d] / z[..(d \\ axis)]\n"
#define SUM_LIKE                                                          \
	"op sum_like(x[..d], broadcast b[..d]) -> y[..b] = "              \
	"lambda ..b: Sum(lambda ..(d \\ b): x[..d])"
#define RESHAPE                                                  \
	"op reshape(x[..d]; shape: int[]) -> y[..shape] = "      \
	"lambda ..shape: x[..unravel(ravel(..shape))]\n"
#define POOL                                                               \
	"op pool(x[N, W]; kernel: int = 3, stride: int = 2, pad: int = 1)" \
	" -> y[N, (W + 2*pad - kernel) / stride + 1] = lambda n, j: "      \
	"Max(lambda r < kernel: (x[n, stride*j + r - pad] else -inf))\n"

static const expected cases[] = {
	{ CONV1D, "conv1d", { "f32 1x2x3", "f32 2x1x2" }, .nstages = 1,
	  .result = "f32 1x1x2",
	  .values = { 1 * 1 + 2 * 2 + 4 * 3 + 5 * 4,
		      2 * 1 + 3 * 2 + 5 * 3 + 6 * 4 }, .nvalues = 2 },
	{ ADD, "add", { "f64 2x1", "f64 3" }, .nstages = 1,
	  .result = "f64 2x3", .values = { 2, 3, 4, 3, 4, 5 }, .nvalues = 6 },
	{ ADD, "add", { "f32 ", "f32 2" }, .nstages = 1, .result = "f32 2",
	  .values = { 2, 3 }, .nvalues = 2 },
	{ ADD, "add", { "f32 0x3", "f32 1x3" }, .nstages = 1,
	  .result = "f32 0x3" },
	{ SOFTMAX, "softmax", { "f32 1x2" }, .nstages = 4,
	  .result = "f32 1x2",
	  .values = { 0.2689414213699951, 0.7310585786300049 }, .nvalues = 2 },
	{ SOFTMAX, "softmax", { "f32 2x1" }, { { "axis", 1, { 0 } } },
	  .nstages = 4, .result = "f32 2x1",
	  .values = { 0.2689414213699951, 0.7310585786300049 }, .nvalues = 2 },
	{ "op transpose(x[..d]; perm: int[]) -> out[..d[perm]] = "
	  "lambda ..d[perm]: x[..d]", "transpose", { "f32 2x3x1" },
	  { { "perm", 3, { 1, 2, 0 } } }, .nstages = 1, .result = "f32 3x1x2",
	  .values = { 1, 4, 2, 5, 3, 6 }, .nvalues = 6 },
	{ "op reduce_sum(x[..d]; axes: axis[]) -> out[..(d \\ axes)] = "
	  "lambda ..(d \\ axes): Sum(lambda ..(d & axes): x[..d])",
	  "reduce_sum", { "f32 2x3x2" }, { { "axes", 2, { 0, -1 } } },
	  .nstages = 1, .result = "f32 3", .values = { 18, 26, 34 },
	  .nvalues = 3 },
	{ "op over_none(x[..d]; axes: axis[]) -> out[..(d \\ axes)] = "
	  "lambda ..(d \\ axes): Sum(lambda ..(d & axes): x[..d])",
	  "over_none", { "f32 2x2" }, { { "axes", 0, { 0 } } },
	  .nstages = 1, .result = "f32 2x2", .values = { 1, 2, 3, 4 },
	  .nvalues = 4 },
	{ SUM_LIKE, "sum_like", { "f32 2x3", "f32 3" }, .nstages = 1,
	  .result = "f32 3", .values = { 5, 7, 9 }, .nvalues = 3 },
	{ SUM_LIKE, "sum_like", { "f32 2x3", "f32 2x1" }, .nstages = 1,
	  .result = "f32 2x1", .values = { 6, 15 }, .nvalues = 2 },
	{ SUM_LIKE, "sum_like", { "f32 2x3", "f32 2x3" }, .nstages = 1,
	  .result = "f32 2x3", .values = { 1, 2, 3, 4, 5, 6 },
	  .nvalues = 6 },
	{ SUM_LIKE, "sum_like", { "f32 2x3", "f32" }, .nstages = 1,
	  .result = "f32", .values = { 21 }, .nvalues = 1 },
	{ "op share(x[..d]) -> y[..d] = "
	  "lambda ..d: x[..d] / size(..d)", "share", { "f32 2x2" },
	  .nstages = 1, .result = "f32 2x2",
	  .values = { 0.25, 0.5, 0.75, 1 }, .nvalues = 4 },
	{ "op embedding(ids[..b]: int, table[V, D]) -> out[..b, D] = "
	  "lambda ..b, j: table[ids[..b], j]", "embedding",
	  { "i64 3", "f32 4x2" }, .ids = { 3, 0, 2 }, .nstages = 1,
	  .result = "f32 3x2", .values = { 7, 8, 1, 2, 5, 6 }, .nvalues = 6 },
	{ "op look_up(ids[N]: i32, table[V]) -> out[N] = "
	  "lambda i: table[ids[i]]", "look_up", { "i32 2", "f32 4" },
	  .ids = { 3, 1 }, .nstages = 1, .result = "f32 2",
	  .values = { 4, 2 }, .nvalues = 2 },
	{ RESHAPE, "reshape", { "f32 2x3" }, { { "shape", 2, { 3, 2 } } },
	  .nstages = 1, .result = "f32 3x2", .values = { 1, 2, 3, 4, 5, 6 },
	  .nvalues = 6 },
	{ RESHAPE, "reshape", { "f32 2x1" }, { { "shape", 1, { 2 } } },
	  .nstages = 1, .result = "f32 2", .values = { 1, 2 }, .nvalues = 2 },
	{ POOL, "pool", { "f32 1x4" }, .nstages = 1, .result = "f32 1x2",
	  .values = { 2, 4 }, .nvalues = 2 },
	/* Mean is a Sum and a division. */
	{ "op mean(x[M, N]) -> y[M] = lambda i: Mean(lambda j: x[i, j])",
	  "mean", { "f32 2x4" }, .nstages = 2, .result = "f32 2",
	  .values = { 2.5, 6.5 }, .nvalues = 2 },
	/* A reduction inside keeps the condition it stands under. */
	{ "op half(x[N], w[M]) -> y[N] = lambda i: if i < M then "
	  "Sum(lambda r < 1: w[i + r]) else x[i]", "half",
	  { "f32 3", "f32 2" }, .nstages = 2, .result = "f32 3",
	  .values = { 1, 2, 3 }, .nvalues = 3 },
	{ "op concat(a[A], b[B]) -> c[A + B] = lambda i: "
	  "if i < A then a[i] else b[i - A]", "concat", { "f32 2", "f32 1" },
	  .nstages = 1, .result = "f32 3", .values = { 1, 2, 1 },
	  .nvalues = 3 },
	/* Sums of sums are one; products of independent sums are not. */
	{ "op total(x[M, N]) -> y[] = "
	  "lambda: Sum(lambda i: Sum(lambda j: x[i, j]))", "total",
	  { "f32 2x2" }, .nstages = 1, .result = "f32 ", .values = { 10 },
	  .nvalues = 1 },
	/* A Mean of sums is divided by the extent of its own variables, and an
	 * empty sum is 0; a Mean over nothing is none. */
	{ "op f(p[A, B]) -> y[] = "
	  "lambda: Mean(lambda j: Sum(lambda i: p[i, j]))", "f",
	  { "f32 2x4" }, .nstages = 2, .result = "f32 ", .values = { 9 },
	  .nvalues = 1 },
	{ "op f(p[A, B]) -> y[] = "
	  "lambda: Mean(lambda j: Sum(lambda i: p[i, j]))", "f",
	  { "f32 0x4" }, .nstages = 2, .result = "f32 ", .values = { 0 },
	  .nvalues = 1 },
	{ "op f(p[A, B, C]) -> y[B] = lambda j: "
	  "Sum(lambda k: Mean(lambda i: Sum(lambda r < 2: p[i, j, k])))",
	  "f", { "f32 2x1x3" }, .nstages = 2, .result = "f32 1",
	  .values = { 21 }, .nvalues = 1 },
	{ "op f(p[A, B]) -> y[] = "
	  "lambda: Mean(lambda j: Mean(lambda i: p[i, j]))", "f",
	  { "f32 2x4" }, .nstages = 3, .result = "f32 ", .values = { 4.5 },
	  .nvalues = 1 },
	{ "op f(p[A, B]) -> y[]: bool = "
	  "lambda: isnan(Mean(lambda j: Sum(lambda i: p[i, j])))", "f",
	  { "f32 2x0" }, .nstages = 2, .result = "bool ", .values = { 1 },
	  .nvalues = 1 },
	/* 2^63 is no i64; the f32 below it is 2^63 - 2^39. */
	{ "op f(x[N]: f32) -> y[N]: i64 = "
	  "lambda i: cast(saturate(x[i] * 1e30, i64), i64)", "f",
	  { "f32 1" }, .nstages = 1, .result = "i64 1",
	  .values = { 9223371487098961920.0 }, .nvalues = 1 },
	/* Constants wrap in the type that they meet. */
	{ "op f(x[N]: i4, y[N]: u8) -> z[N]: i64 = lambda i: "
	  "if x[i] > 15 and y[i] < 258 then 1 else 0", "f",
	  { "i4 2", "u8 2" }, .ids = { 0, 1 }, .nstages = 1,
	  .result = "i64 2", .values = { 1, 1 }, .nvalues = 2 },
	{ "op f(x[N]: u8) -> z[N]: i64 = lambda i: "
	  "cast((x[i - 5] else 259), i64)", "f", { "u8 2" },
	  .ids = { 0, 0 }, .nstages = 1, .result = "i64 2",
	  .values = { 3, 3 }, .nvalues = 2 },
	/* The result is the parameter itself: no stage. */
	{ "op same(x[..d]) -> y[..d] = lambda ..d: x[..d]", "same",
	  { "f32 2" }, .nstages = 0, .result = "f32 2", .values = { 1, 2 },
	  .nvalues = 2 },
	{ SOFTMAX "op twice(x[N, M]) -> y[N, M] = let s = softmax(x, axis = 1)"
	  " lambda i, j: s[i, j] + s[i, j]", "twice", { "f32 1x2" },
	  .nstages = 5, .result = "f32 1x2",
	  .values = { 2 * 0.2689414213699951, 2 * 0.7310585786300049 },
	  .nvalues = 2 },
	{ "op largest(x[M, N]) -> y[M]: i64 = lambda i: "
	  "ArgMax(lambda j: x[i, j])", "largest", { "f32 2x3" }, .nstages = 1,
	  .result = "i64 2", .values = { 2, 2 }, .nvalues = 2 },
	{ "op choose(x[N]; mode: string = \"neg\") -> y[N] = lambda i: "
	  "if mode == \"neg\" then -x[i] else x[i]", "choose", { "f32 2" },
	  .nstages = 1, .result = "f32 2", .values = { -1, -2 },
	  .nvalues = 2 },
	{ "op scale(x[N]; alpha: float = 0.5) -> y[N] = "
	  "lambda i: alpha * x[i] + 1", "scale", { "f32 2" }, .nstages = 1,
	  .result = "f32 2", .values = { 1.5, 2 }, .nvalues = 2 },
	/* Constants alone in a reduction have the type of what is around. */
	{ "op count(x[N]: f32) -> y[]: f32 = lambda: "
	  "1 + Sum(lambda i: if x[i] > 1 then 2 else 0)", "count",
	  { "f32 3" }, .nstages = 2, .result = "f32 ", .values = { 5 },
	  .nvalues = 1 },
	/* A choice between constants has the type of what it meets. */
	{ "op met(x[N]: f32, k[N]: i64) -> y[N]: f32 = lambda i: "
	  "x[i] * cast(k[i] + 2*(if x[i] > 1 then 1 else -1), f32)", "met",
	  { "f32 2", "i64 2" }, .ids = { 5, 7 }, .nstages = 1,
	  .result = "f32 2", .values = { 3, 18 }, .nvalues = 2 },
	{ "op held(x[N]: f32) -> y[N]: f32 = lambda i: "
	  "if i < (if x[i] > 1 then 1 else N) then (if i < 1 then 2 else 0.5)"
	  " * x[i] else 0", "held", { "f32 2" }, .nstages = 1,
	  .result = "f32 2", .values = { 2, 0 }, .nvalues = 2 },
	/* And so has one that is reduced, whatever tensors share. */
	{ "op met(x[N]: f64, y[N]) -> z[N]: f64 = lambda i: "
	  "x[i] * Sum(lambda k < 2: if k < i then 1 else 0.1) + "
	  "cast(y[i], f64)", "met", { "f64 2", "f32 2" }, .nstages = 2,
	  .result = "f64 2", .values = { 1.2, 4.2 }, .nvalues = 2 },
	/* The operand of a condition has no part in the type of an index. */
	{ "op at(x[N]: f64) -> y[N]: f64 = lambda i: "
	  "x[(if isinf(3) then 3 else 0) % 2]", "at", { "f64 2" },
	  .nstages = 1, .result = "f64 2", .values = { 1, 1 }, .nvalues = 2 },
	/* The position of an extreme, where there is one. */
	{ "op where(x[A, M]: f32, z[N]: f32) -> y[N]: f32 = lambda i: "
	  "if i < A then cast(ArgMax(lambda j: x[i, j]), f32) else z[i]",
	  "where", { "f32 1x3", "f32 2" }, .nstages = 2, .result = "f32 2",
	  .values = { 2, 2 }, .nvalues = 2 },
	/* Stages in the order in which they are written. */
	{ "op order(x[N]) -> y[] = lambda: "
	  "Max(lambda i: x[i]) - Sum(lambda i: x[i])", "order", { "f32 3" },
	  .nstages = 3, .first = "order.max1", .result = "f32 ",
	  .values = { -3 }, .nvalues = 1 },
	{ "op onehot(ids[N]: int; depth: int = 3) -> y[N, depth]: f32 = "
	  "lambda i, j: if ids[i] == cast(j, i32) then 1 else 0", "onehot",
	  { "i32 2" }, .ids = { 2, 0 }, .nstages = 1, .result = "f32 2x3",
	  .values = { 0, 0, 1, 1, 0, 0 }, .nvalues = 6 },
};

START_TEST(values)
{
	const expected *c = &cases[_i];
	const ast_op *op = load(c->text, c->op);
	expansion *x = expand(op, c->types, c->attrs);
	if (!x)
		diag_print(sink, stderr, false);
	ck_assert_msg(x != NULL, "%s", c->text);
	ck_assert_int_eq(x->nstages, c->nstages);
	if (c->first)
		ck_assert_str_eq(x->stages[0].kernel->name, c->first);
	tensor_type want = type_of(c->result), got;
	double *v = evaluate(x, c->types, c->ids, &got);
	ck_assert_int_eq(got.type, want.type);
	ck_assert_int_eq(got.ndim, want.ndim);
	for (int d = 0; d < want.ndim; d++)
		ck_assert_int_eq(got.dims[d], want.dims[d]);
	for (int i = 0; i < c->nvalues; i++)
		ck_assert_msg(fabs(v[i] - c->values[i]) <= 1e-6,
			      "%s: element %d is %g, not %g", c->op, i, v[i],
			      c->values[i]);
}
END_TEST

/* The diagnostics of expansions for these shapes. */
static const struct {
	const char *text, *op;
	const char *types[3];
	given attrs[2];
	diag_id id;
} faults[] = {
	{ CONV1D, "conv1d", { "f32 1x2x3", "f32 3x1x2" }, { { 0 } },
	  DIAG_SHAPE_MISMATCH },
	{ CONV1D, "conv1d", { "f32 1x2x3", "f32 2x1" }, { { 0 } },
	  DIAG_SHAPE_MISMATCH },
	{ CONV1D, "conv1d", { "f32 1x2x3", "f32 2x1x5" }, { { 0 } },
	  DIAG_NEGATIVE_EXTENT },
	{ CONV1D, "conv1d", { "f32 1x2x3", "f64 2x1x1" }, { { 0 } },
	  DIAG_TYPE_MISMATCH },
	{ ADD, "add", { "f32 2", "f32 3" }, { { 0 } }, DIAG_SHAPE_MISMATCH },
	{ SOFTMAX, "softmax", { "f32 2" }, { { "axis", 1, { 1 } } },
	  DIAG_BAD_AXIS },
	{ "op cut(x[N]; start: int) -> y[N - start] = lambda i: x[i + start]",
	  "cut", { "f32 4" }, { { "start", 1, { -1 } } }, DIAG_READ_OUTSIDE },
	{ "op cut(x[N]; start: int) -> y[N - start] = lambda i: x[i + start]",
	  "cut", { "f32 4" }, { { 0 } }, DIAG_BAD_ATTRIBUTE },
	{ "op every(x[N]; step: int) -> y[N / step] = lambda i: x[i * step]",
	  "every", { "f32 4" }, { { "step", 1, { 0 } } }, DIAG_BAD_DIVISOR },
	{ "op pair(x[N]; p: int[2]) -> y[N] = lambda i: x[i] + p[1]", "pair",
	  { "f32 4" }, { { "p", 1, { 1 } } }, DIAG_BAD_ATTRIBUTE },
	{ "op square(x[N, N]) -> y[N] = lambda i: x[i, i]", "square",
	  { "f32 2x3" }, { { 0 } }, DIAG_SHAPE_MISMATCH },
	{ RESHAPE, "reshape", { "f32 2" }, { { "shape", 1, { 3 } } },
	  DIAG_READ_OUTSIDE },
};

START_TEST(errors)
{
	const ast_op *op = load(faults[_i].text, faults[_i].op);
	int before = diag_errors(sink);
	ck_assert_int_eq(before, 0);
	ck_assert(!expand(op, faults[_i].types, faults[_i].attrs));
	ck_assert_int_gt(diag_errors(sink), 0);
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	diag_print(sink, f, false);
	fclose(f);
	char want[64];
	snprintf(want, sizeof(want), "[%s]", diag_name(faults[_i].id));
	ck_assert_msg(strstr(text, want) != NULL, "%s is not in\n%s", want,
		      text);
	ck_assert_ptr_nonnull(strstr(text, "is called by the test"));
	free(text);
}
END_TEST

/* An opaque function is a stage whose result variables are hidden. */
START_TEST(opaque_calls)
{
	const ast_op *op = load(
		"opaque cholesky(m[N, N]) -> l[N, N] = \"tdl_cholesky\"\n"
		"op batch_cholesky(a[B, N, N]) -> out[B, N, N] =\n"
		"lambda b, i, j: cholesky(a[b, :, :])[i, j]",
		"batch_cholesky");
	const char *types[] = { "f32 4x3x3" };
	expansion *x = expand(op, types, NULL);
	ck_assert_ptr_nonnull(x);
	ck_assert_int_eq(x->nstages, 1);
	const kernel *k = x->stages[0].kernel;
	ck_assert_str_eq(k->name, "batch_cholesky");
	ck_assert_str_eq(k->opaque_symbol, "tdl_cholesky");
	ck_assert_int_eq(k->nhidden, 2);
	ck_assert_ptr_null(k->vars[0].indivisible_reason);
	ck_assert_str_eq(k->vars[2].name, "j");
	ck_assert_str_eq(k->vars[2].indivisible_reason,
			 "hidden by the opaque function 'cholesky'");
	box space = kernel_space(k);
	space.lo[0] = 1;
	space.hi[0] = 3;
	box need = kernel_need(k, &space, 0);
	ck_assert_int_eq(need.lo[0], 1);
	ck_assert_int_eq(need.hi[0], 3);
	ck_assert_int_eq(need.hi[2], 3);
}
END_TEST

/* A result of a class has the type of the slice of that class, whatever the
 * other slices are of. */
START_TEST(opaque_of_a_class)
{
	const ast_op *op = load(
		"opaque pick(w[N]: f32, x[N]: float, i[N]: int) -> y[N]: float "
		"= \"pick\"\n"
		"op f(w[A, N]: f32, x[A, N]: float, i[A, N]: int) -> "
		"out[A, N]: float =\n"
		"lambda a, n: pick(w[a, :], x[a, :], i[a, :])[n]",
		"f");
	const char *types[] = { "f32 2x3", "f64 2x3", "i32 2x3" };
	expansion *x = expand(op, types, NULL);
	ck_assert_ptr_nonnull(x);
	ck_assert_int_eq(x->stages[0].kernel->type, DT_F64);
}
END_TEST

/* A variable that the analysis makes up has its dimension's name. */
START_TEST(derived)
{
	const ast_op *op = load(
		"op embedding(ids[..b]: int, table[V, D]) -> out[..b, D] = "
		"lambda ..b, j: table[ids[..b], j]",
		"embedding");
	const char *types[] = { "i64 4", "f32 10x3" };
	expansion *x = expand(op, types, NULL);
	ck_assert_ptr_nonnull(x);
	const kernel *k = x->stages[0].kernel;
	ck_assert_int_eq(k->nderived, 1);
	ck_assert_str_eq(k->vars[k->derived[0].var].name, "V");
	ck_assert_int_eq(k->vars[k->derived[0].var].extent, 10);
}
END_TEST

/* A look-up in a body that is not linear in it is a stage, so that it can be
 * divided; one under a condition stays where it is. */
START_TEST(gathers)
{
	const ast_op *op = load(
		"op e(ids[B]: int, t[V, D], s[D]) -> out[B, D] = "
		"lambda b, j: max(t[ids[b], j] * s[j] + 1, 0)\n"
		"op f(ids[B]: int, t[V], c[B]) -> out[B] = "
		"lambda b: if c[b] > 0 then t[ids[b]] + 1 else 0",
		"e");
	const char *types[] = { "i64 4", "f32 10x3", "f32 3" };
	expansion *x = expand(op, types, NULL);
	ck_assert_ptr_nonnull(x);
	ck_assert_int_eq(x->nstages, 2);
	ck_assert_int_eq(x->stages[0].kernel->nderived, 1);
	ck_assert_str_eq(x->stages[0].kernel->name, "e.gather1");
	ck_assert_str_eq(x->stages[1].kernel->name, "e");
	const char *more[] = { "i64 4", "f32 10", "f32 4" };
	x = expand(dsl_op(modules, "f"), more, NULL);
	ck_assert_ptr_nonnull(x);
	ck_assert_int_eq(x->nstages, 1);
}
END_TEST

/* The labels of an operator's stages. */
START_TEST(labels)
{
	const ast_op *op = load(SOFTMAX, "softmax");
	const char *types[] = { "f32 2x3" };
	expansion *x = expand(op, types, NULL);
	ck_assert_ptr_nonnull(x);
	static const char *const names[] = { "softmax.m", "softmax.e",
					     "softmax.z", "softmax" };
	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(x->stages[i].kernel->name, names[i]);
	ck_assert_str_eq(x->stages[1].kernel->vars[1].name, "d.1");
	ck_assert_int_eq(x->stages[0].kernel->reducer, RED_MAX);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("expand");
	TCase *t = tcase_create("expand");
	tcase_add_checked_fixture(t, set_up_modules, tear_down_modules);
	tcase_add_loop_test(t, values, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_loop_test(t, errors, 0,
			    (int)(sizeof(faults) / sizeof(faults[0])));
	tcase_add_test(t, opaque_calls);
	tcase_add_test(t, opaque_of_a_class);
	tcase_add_test(t, derived);
	tcase_add_test(t, gathers);
	tcase_add_test(t, labels);
	suite_add_tcase(s, t);
	return s;
}
