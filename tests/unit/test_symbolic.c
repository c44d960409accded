/* Tests: compiler/analysis */
/* The analysis of an operator for all shapes against the results of
 * compiler/expand and plan/region for given shapes: the stages, their
 * variables, the extents, and for each strategy the regions of the parts. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/bounds.h"
#include "compiler/analysis/descriptor.h"
#include "compiler/analysis/strategy.h"
#include "compiler/analysis/symbolic.h"
#include "compiler/expand/expand.h"
#include "kernel/monotone.h"
#include "tests/unit/suite.h"

static unsigned seed;

static int below(int limit)
{
	seed = seed * 1103515245u + 12345u;
	return (int)(seed >> 16) % limit;
}

/* ---- an operator with numbers ------------------------------------------- */

typedef struct trial {
	arena *a;
	diag_sink *sink;
	tdl_modules *m;
	const char *text;
	const ast_op *op;
	const desc_op *d;
	const sym_op *x;
	int64_t *values; /* by atom */
	const attr_value **attrs;
	tensor_type *types;
	int checked, exact;
} trial;

/* An attribute that names a pack has its one extent; that selects axes of one,
 * its last dimension; others small numbers. */
static int64_t attr_number(const trial *t, const ast_attr *attr)
{
	(void)t;
	if (attr->type == ATTR_AXIS)
		return -1;
	if (!strcmp(attr->name, "perm") || !strcmp(attr->name, "before") ||
	    !strcmp(attr->name, "start"))
		return 0;
	return 1 + below(2);
}

static void set_atom(trial *t, const char *name, int64_t v)
{
	for (int i = 0; i < t->d->space->natoms; i++) {
		const poly_atom *a = &t->d->space->atoms[i];
		if (!a->x && !strcmp(a->name, name))
			t->values[i] = v;
	}
}

static const attr_value *invent_attr(trial *t, const ast_attr *attr)
{
	int n = attr->is_list && attr->length >= 0 ? attr->length : 1;
	int64_t *ints = ARENA_ARRAY(t->a, int64_t, n);
	double *floats = ARENA_ARRAY(t->a, double, n);
	const char **strings = ARENA_ARRAY(t->a, const char *, n);
	if (attr->type == ATTR_STRING || attr->type == ATTR_TYPE ||
	    (attr->init && attr->type != ATTR_INT))
		return NULL;
	for (int i = 0; i < n; i++) {
		ints[i] = attr_number(t, attr);
		set_atom(t, attr->is_list ? arena_printf(t->a, "%s[%d]",
							 attr->name, i)
					  : attr->name, ints[i]);
		if (attr->is_list)
			set_atom(t, arena_printf(t->a, "..%s", attr->name),
				 ints[i]);
	}
	attr_value *v = ARENA_NEW(t->a, attr_value);
	*v = (attr_value){ attr->type, attr->is_list, n, ints, floats,
			   strings };
	return v;
}

static bool invent_shapes(trial *t)
{
	for (int i = 0; i < t->op->nparams; i++) {
		const desc_tensor *p = &t->d->tensors[i];
		const char *type = t->op->params[i].type.name;
		tensor_type *to = &t->types[i];
		to->type = !type || !strcmp(type, "float") ? DT_F32
			   : !strcmp(type, "int")	    ? DT_I64
							    : dtype_parse(type);
		if (to->type == DT_NONE)
			to->type = DT_F32;
		if (p->ndims > MAX_NDIM)
			return false;
		to->ndim = p->ndims;
		for (int j = 0; j < p->ndims; j++)
			if (!poly_eval(t->d->space, p->dims[j].extent,
				       t->values, &to->dims[j]) ||
			    to->dims[j] < 0)
				return false;
	}
	return true;
}

static void invent(trial *t)
{
	int n = t->d->space->natoms;
	t->values = ARENA_ARRAY(t->a, int64_t, POLY_MAX_ATOMS);
	for (int i = 0; i < n; i++)
		if (t->d->space->atoms[i].kind == ATOM_SIZE)
			t->values[i] = 3 + below(6);
	t->attrs = ARENA_ARRAY(t->a, const attr_value *, t->op->nattrs + 1);
	for (int i = 0; i < t->op->nattrs; i++)
		t->attrs[i] = invent_attr(t, &t->op->attrs[i]);
	t->types = ARENA_ARRAY(t->a, tensor_type, t->op->nparams + 1);
}

/* ---- comparing ---------------------------------------------------------- */

static bool is_affine(const sym_op *x, const sym_read *r)
{
	for (int d = 0; d < r->n; d++)
		for (atom_kind k = ATOM_DIV; r->index[d].at && k <= ATOM_MAX;
		     k++)
			if (poly_uses_kind(x->space, r->index[d].at, k))
				return false;
	return !r->open;
}

/* Whether the regions of an input have to be exact: its reads are affine and
 * not under conditions, which expand takes into account. */
static bool wants_exact(const trial *t, int at, int tensor)
{
	const sym_stage *s = t->x->stages[at];
	for (int i = 0; i < s->nreads; i++) {
		const sym_read *r = s->reads[i];
		if (r->tensor == tensor &&
		    (!is_affine(t->x, r) || r->guarded))
			return false;
	}
	return !s->conditional;
}

/* Whether the look-up x comes before y in the order of a stage's variables. */
static bool is_before(sym_lookup x, sym_lookup y)
{
	return x.tensor < y.tensor ||
	       (x.tensor == y.tensor && x.dim < y.dim);
}

/* The kernel's variable that a strategy divides. */
static int var_of(const trial *t, const desc_stage *s, int var,
		  const expansion *e, int at)
{
	const sym_stage *x = t->x->stages[at];
	const kernel *k = e->stages[at].kernel;
	if (s->vars[var].kind != KVAR_DERIVED)
		return var;
	for (int i = 0; i < k->nderived; i++) {
		sym_lookup l = { e->stages[at].inputs[k->derived[i].input],
				 k->derived[i].dim };
		int nbefore = 0;
		bool known = false;
		for (int j = 0; j < x->nlookups; j++) {
			nbefore += is_before(x->lookups[j], l);
			known |= x->lookups[j].tensor == l.tensor &&
				 x->lookups[j].dim == l.dim;
		}
		if (known && var == x->nvars + nbefore)
			return k->derived[i].var;
	}
	return -1;
}

static void compare_part(trial *t, const expansion *e, int at,
			 const desc_strategy *st, int p, int k)
{
	const desc_stage *s = &t->d->stages[at];
	const kernel *kern = e->stages[at].kernel;
	box space = kernel_space(kern), real[MAX_NINPUTS];
	box *said = ARENA_ARRAY(t->a, box, s->ninputs);
	int v = var_of(t, s, st->var, e, at);
	ck_assert_msg(v >= 0, "%s: no derived variable", kern->name);
	block(0, kern->vars[v].extent, p, k, &space.lo[v], &space.hi[v]);
	kernel_needs(kern, &space, real);
	ck_assert(descriptor_needs(t->d, s, st, t->values, space.lo[v],
				   space.hi[v], said));
	for (int i = 0; i < kern->ninputs; i++) {
		int j = 0;
		while (j < s->ninputs &&
		       s->inputs[j] != e->stages[at].inputs[i])
			j++;
		ck_assert_msg(j < s->ninputs, "%s: input %s", kern->name,
			      kern->inputs[i].name);
		bool contains = box_contains(&said[j], &real[i]);
		bool same = box_equal(&said[j], &real[i]);
		ck_assert_msg(contains && (same ||
					   !wants_exact(t, at,
							s->inputs[j])),
			      "%s, %s, part %d of %d, %s: said [%lld, %lld) is "
			      "[%lld, %lld) in the first dimension",
			      kern->name, s->vars[st->var].name, p, k,
			      kern->inputs[i].name, (long long)said[j].lo[0],
			      (long long)said[j].hi[0],
			      (long long)real[i].lo[0],
			      (long long)real[i].hi[0]);
		t->checked++;
		t->exact += same;
	}
}

static bool is_read(const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (is_read(e->args[i], input))
			return true;
	return false;
}

/* What is said to pass does. */
static void compare_passing(const desc_stage *s, const stage *st)
{
	for (int i = 0; i < s->npassing; i++) {
		const desc_passing *p = &s->passing[i];
		for (int j = 0; j < st->kernel->ninputs; j++)
			if (st->inputs[j] == s->inputs[p->input] &&
			    is_read(st->kernel->body, j))
				ck_assert_int_eq(kernel_commutes_with(
							 st->kernel, j, p->by),
						 p->to);
	}
}

static void compare_stage(trial *t, const expansion *e, int at)
{
	const desc_stage *s = &t->d->stages[at];
	const kernel *k = e->stages[at].kernel;
	int64_t extent;
	ck_assert_str_eq(s->label, e->stages[at].label);
	if (s->open_because)
		return;
	ck_assert_int_eq(s->reducer, k->reducer);
	ck_assert_msg(s->nvars == k->nvars, "%s: %d variables, not %d",
		      k->name, s->nvars, k->nvars);
	for (int v = 0; v < k->nvars - k->nderived; v++) {
		ck_assert(poly_eval(t->d->space, s->vars[v].extent, t->values,
				    &extent));
		ck_assert_msg(extent == k->vars[v].extent, "%s: %s", k->name,
			      s->vars[v].name);
		ck_assert_int_eq(s->vars[v].kind, k->vars[v].kind);
		ck_assert_int_eq(!s->vars[v].indivisible_reason,
				 strategy_offered(k, v, NULL));
	}
	compare_passing(s, &e->stages[at]);
	for (int i = 0; i < s->nstrategies; i++)
		for (int parts = 2; parts <= 3; parts++)
			for (int p = 0; p < parts; p++)
				compare_part(t, e, at, &s->strategies[i], p,
					     parts);
}

/* Whether an attribute may choose between bodies. */
static bool has_variants(const ast_op *op)
{
	for (int i = 0; i < op->nattrs; i++)
		if (op->attrs[i].type == ATTR_BOOL ||
		    op->attrs[i].type == ATTR_FLOAT ||
		    op->attrs[i].type == ATTR_TYPE ||
		    op->attrs[i].type == ATTR_STRING)
			return true;
	return false;
}

/* Whether the shapes suited the operator. */
static bool try_shapes(trial *t)
{
	invent(t);
	if (!invent_shapes(t))
		return false;
	diag_sink *quiet = diag_sink_new(t->a);
	expansion *e = expand_op(t->a, t->m, quiet, t->op, t->types, t->attrs,
				 (call_site){ .place = "a test" });
	if (!e)
		return false;
	/* A permutation of one dimension is none; an attribute may choose. */
	if (e->nstages == 0 ||
	    (e->nstages != t->d->nstages && has_variants(t->op)))
		return true;
	ck_assert_msg(e->nstages == t->d->nstages, "%s: %d stages, not %d",
		      t->text ? t->text : t->op->name, t->d->nstages,
		      e->nstages);
	for (int i = 0; i < e->nstages; i++)
		compare_stage(t, e, i);
	return true;
}

/* Returns how many of the shapes suited. */
static int try_op(trial *t, int ntries)
{
	int64_t effort = 100000;
	int suited = 0;
	t->d = descriptor_of(t->a, t->m, t->op);
	t->x = symbolic_op(t->a, t->m, t->op, &effort);
	if (t->d->open_because)
		return 0;
	ck_assert_int_eq(t->x->nstages, t->d->nstages);
	for (int i = 0; i < ntries; i++)
		suited += try_shapes(t);
	return suited;
}

static trial begin(void)
{
	trial t = { .a = arena_new() };
	t.sink = diag_sink_new(t.a);
	t.m = dsl_new(t.a, t.sink, NULL, 0);
	return t;
}

static void load(trial *t, const char *text)
{
	bool ok = dsl_load_text(t->m, "test.tdl", text, strlen(text));
	t->text = text;
	if (!ok)
		diag_print(t->sink, stderr, false);
	ck_assert_msg(ok, "%s", text);
}

/* ---- the operators of the library --------------------------------------- */

static int is_tdl(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 4 && !strcmp(e->d_name + n - 4, ".tdl");
}

START_TEST(library)
{
	const char *dir = getenv("TDL_OPDEFS");
	struct dirent **all;
	trial t = begin();
	int n = dir ? scandir(dir, &all, is_tdl, alphasort) : 0, tried = 0;
	seed = 1;
	for (int i = 0; i < n; i++) {
		dsl_load(t.m, arena_printf(t.a, "%s/%s", dir, all[i]->d_name));
		free(all[i]);
	}
	if (n > 0)
		free(all);
	bool fine = analysis_check(t.m, t.sink) && !diag_errors(t.sink);
	if (!fine)
		diag_print(t.sink, stderr, false);
	ck_assert(fine);
	for (int i = 0; i < strmap_count(t.m->ops); i++) {
		t.op = strmap_value(t.m->ops, i);
		tried += try_op(&t, 6) > 0;
	}
	/* Most operators can be tried with such shapes and attributes. */
	ck_assert_msg(!dir || tried * 4 >= strmap_count(t.m->ops) * 3,
		      "%d of %d", tried, strmap_count(t.m->ops));
	arena_free(t.a);
}
END_TEST

/* ---- written for the purpose -------------------------------------------- */

static const char *const operators[] = {
	"op conv(data[B, C, X], w[C, O, D]) -> y[B, O, X - D + 1] =\n"
	"  lambda b, o, x: Sum(lambda c, d: data[b, c, x + d] * w[c, o, d])",
	"op strided(x[N]; s: int = 2, p: int = 1) ->\n"
	"  y[(N + 2*p - 3) / s + 1] =\n"
	"  lambda i: Max(lambda r < 3: (x[s*i + r - p] else -inf))",
	"op reverse(x[N, M]) -> y[N, M] = lambda i, j: x[N - 1 - i, j]",
	"op upsample(x[N]) -> y[3*N] = lambda i: x[i / 3]",
	"op tile(x[N]) -> y[2*N] = lambda i: x[i % N]",
	"op shuffle(x[N, C, H, W]) -> y[N, C/4, 2*H, 2*W] =\n"
	"  lambda n, c, h, w: x[n, c*4 + (h % 2)*2 + w % 2, h/2, w/2]",
	"op concat(a[A], b[B]) -> y[A + B] =\n"
	"  lambda i: if i < A then a[i] else b[i - A]",
	"op diagonal(x[N, N]) -> y[N] = lambda i: x[i, i]",
	"op outer(a[N], b[M]) -> y[N, M] = lambda i, j: a[i] * b[j]",
	"op variance(x[N, M]) -> y[N] = lambda i:\n"
	"  Sum(lambda j: x[i, j] * x[i, j]) - Sum(lambda j: x[i, j])",
	"op below(x[N, N]) -> y[N, N] = lambda i, j:\n"
	"  Sum(lambda k: if k <= i and j < N - 1 then x[k, j + 1] else 0)",
	"op upper(x[N, M]) -> y[N, M] = lambda i, j:\n"
	"  if j - i >= 1 and j < M - 1 then x[i, j + 1] else 0",
	"op causal(s[N, M], v[M, D]) -> y[N, D] = lambda i, d:\n"
	"  Sum(lambda j: if j <= i then s[i, j] * v[j, d] else 0)",
	"op either(x[N, M]) -> y[N, M] = lambda i, j:\n"
	"  if i < j or j + i > 5 then x[i, M - 1 - j] else 0",
	"op lookup(t[V, D], ids[N]: i64) -> y[N, D] =\n"
	"  lambda n, d: t[ids[n], d]",
	"opaque inverse(m[N, N]) -> l[N, N] = \"inverse\"\n"
	"op inverses(a[B, N, N]) -> y[B, N, N] =\n"
	"  lambda b, i, j: inverse(a[b, :, :])[i, j]",
	"op norm(x[N, M]) -> y[N, M] =\n"
	"  let s = lambda i: Sum(lambda j: x[i, j])\n"
	"  lambda i, j: x[i, j] / s[i]\n"
	"op twice(x[N, M]) -> y[N, M] =\n"
	"  let a = norm(x)\n"
	"  let b = norm(a)\n"
	"  lambda i, j: a[i, j] + b[i, j]",
	"op sum(x[..d]; axis: axis[]) -> y[..(d \\ axis)] =\n"
	"  lambda ..(d \\ axis): Sum(lambda ..(d & axis): x[..d])\n"
	"op centred(x[N, M]) -> y[N, M] =\n"
	"  let s = sum(x, axis = [-1])\n"
	"  lambda i, j: x[i, j] - s[i]",
	"op plus(broadcast a[..d], broadcast b[..d]) -> y[..d] =\n"
	"  lambda ..d: a[..d] + b[..d]\n"
	"op times(broadcast a[..s, I, K], broadcast b[..s, K, J]) ->\n"
	"  c[..s, I, J] =\n"
	"  lambda ..s, i, j: Sum(lambda k: a[..s, i, k] * b[..s, k, j])\n"
	"op layer(x[B, M, K], w[K, N], bias[N], gate[1, N]) -> y[B, M, N] =\n"
	"  let h = times(x, w)\n"
	"  let g = plus(plus(h, bias), gate)\n"
	"  lambda b, m, n: g[b, m, n]",
	"op clamp(x[N]) -> y[N + 4] = lambda i: x[min(max(i - 2, 0), N - 1)]",
	"op banded(x[N]) -> y[N] = lambda i:\n"
	"  (x[i - 1] else 0) + x[i] + (x[i + 2] else 0)",
	"op two(x[N, M]) -> (a[N], b[M]) =\n"
	"  lambda i: Sum(lambda j: x[i, j])\n"
	"  lambda j: Max(lambda i: x[i, j])",
	/* Look-ups: in bodies that are linear in them, and that are not. */
#define LOOKUP(name, body) \
	"op " name "(t[V, D], ids[N]: i64, s[D], c[N]) -> y[N, D] =\n" \
	"  lambda n, d: " body
	LOOKUP("l1", "2*t[ids[n], d]*s[d]"),
	LOOKUP("l2", "2*t[ids[n], d]*s[d] + 1"),
	LOOKUP("l3", "max(t[ids[n], d], 0)"),
	LOOKUP("l4", "t[ids[n], d] / s[d] - t[ids[n], d] * c[n]"),
	LOOKUP("l5", "t[ids[n], d] * t[ids[n], d]"),
	LOOKUP("l6", "t[ids[n], d] * t[0, d] + 0"),
	LOOKUP("l7", "exp(t[ids[n], d] + Sum(lambda m: t[ids[m], d]))"),
	LOOKUP("l8",
	       "Max(lambda m: c[m]) + tanh(t[ids[n], 0]) "
	       "+ Min(lambda m: c[m])"),
	"op extreme(x[A, M], z[N]: f32) -> y[N]: f32 = lambda i:\n"
	"  if i < A and z[i] > 0 then cast(ArgMax(lambda j: x[i, j]), f32)\n"
	"  else z[i]",
	"op known(t[V]: f32, ids[N]: i64) -> y[N]: bool =\n"
	"  lambda n: ids[n] >= 0 and t[ids[n]] > 0",
	LOOKUP("l9", "if c[n] > 0 then t[ids[n], d] else 1"),
	LOOKUP("l10", "if c[n] > 0 then t[ids[n], d] else 0"),
	LOOKUP("l11", "if t[ids[n], d] > 0 then t[ids[n], d] else 1"),
	LOOKUP("l12",
	       "select(c[n] > 0 and t[ids[n], d] < 1, s[d], t[ids[n], 0] + 1)"),
	LOOKUP("l13", "Max(lambda m: t[ids[m], d] + c[n])"),
	LOOKUP("l14", "Sum(lambda m: t[ids[m], d] * c[n])"),
	LOOKUP("l15", "Sum(lambda m: t[ids[m], d] + c[n])"),
	LOOKUP("l16", "Mean(lambda m: t[ids[m], d]) + c[n]"),
	LOOKUP("l17", "t[ids[n] + 0*d, d] + c[n]"),
	LOOKUP("l18", "(t[ids[n], d] else 0) + abs(t[ids[n], d])"),
	LOOKUP("l19", "(t[ids[ids[n]], d] else 0) + 1"),
	LOOKUP("l20", "t[ids[ids[n]], ids[n]] + 1"),
	LOOKUP("l21", "t[ArgMax(lambda v: t[v, 0]), d] * 2 + c[n]"),
	"op casts(t[V]: f32, c[N]: f32, ids[N]: i64) ->\n"
	"  (x[N]: f32, y[N]: f64, z[N]: f32) =\n"
	"  lambda n: cast(cast(t[ids[n]], i64), f32) + c[n]\n"
	"  lambda n: cast(t[ids[n]], f64)\n"
	"  lambda n: cast(cast(t[ids[n]], bf16), f32) * c[n]",
	"op ints(t[V]: i64, ids[N]: i64) -> (y[N]: i64, z[N]: i64) =\n"
	"  lambda n: t[ids[n]] / 2\n"
	"  lambda n: 2*t[ids[n]]",
	"op bits(x[N]: f32, z[N]: f32) ->\n"
	"  (a[N]: i32, b[N]: f32, c[N]: bool) =\n"
	"  lambda n: bitcast(x[n], i32)\n"
	"  lambda n: max(tanh(x[n]) - z[n], x[n]) * -2.0\n"
	"  lambda n: not (x[n] < z[n] and z[n] > 0)",
	"op flags(t[V]: bool, ids[N]: i64) -> (y[N]: bool, z[N]: bool) =\n"
	"  lambda n: t[ids[n]]\n"
	"  lambda n: t[ids[n]] and t[ids[n] / 2]",
	"op kept(t[V, W], ids[N]: i64) -> (x[N, W], y[N, W], z[N, W]) =\n"
	"  lambda n, w: (t[ids[n], w] else 0)\n"
	"  lambda n, w: 2*(t[ids[n] + 1, w - 1] else 0) - t[ids[n], w]\n"
	"  lambda n, w: (t[ids[n], w] else 1) * t[ids[n], w]",
	"op chain(t[V]: i64) -> y[V]: i64 = lambda n: t[t[t[n]]]",
	"opaque invert(m[N, N]) -> l[N, N] = \"inverse\"\n"
	"op rows(a[B, N, N], ids[N]: i64) -> y[B, N, N] =\n"
	"  lambda b, i, j: invert(a[b, :, :])[ids[i], j] + 1",
	"op positions(x[..d], ids[N]: i64) -> y[N] =\n"
	"  lambda n: x[..unravel(ids[n])] * 2 + 1",
	"op order(x[N, M]) -> y[N] =\n"
	"  lambda i: Sum(lambda j: x[i, j]) / Max(lambda j: x[i, j])",
};

START_TEST(written)
{
	seed = 7;
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		trial t = begin();
		load(&t, operators[i]);
		bool fine = analysis_check(t.m, t.sink);
		if (!fine)
			diag_print(t.sink, stderr, false);
		ck_assert_msg(fine, "%s", operators[i]);
		for (int j = 0; j < strmap_count(t.m->ops); j++) {
			t.op = strmap_value(t.m->ops, j);
			ck_assert_msg(try_op(&t, 20) > 5, "%s", t.op->name);
			const char *open = t.d->stages[0].open_because;
			bool unravels = strstr(operators[i], "unravel");
			ck_assert_msg(!open == !unravels, "%s", operators[i]);
		}
		arena_free(t.a);
	}
}
END_TEST

/* ---- random ones -------------------------------------------------------- */

static const char *random_index(arena *a, int depth)
{
	static const char *const leaf[] = { "i", "j", "k", "N", "M" };
	if (depth == 0)
		return below(4) ? leaf[below(5)]
				: arena_printf(a, "%d", below(4));
	const char *x = random_index(a, depth - 1);
	switch (below(7)) {
	case 0:
		return arena_printf(a, "(%s / %d)", x, 1 + below(3));
	case 1:
		return arena_printf(a, "(%s %% %d)", x, 1 + below(4));
	case 2:
		return arena_printf(a, "%d*%s", 1 + below(3), x);
	case 3:
		return arena_printf(a, "(%s - %s)", x,
				    random_index(a, depth - 1));
	case 4:
		return arena_printf(a, "min(%s, %s)", x,
				    random_index(a, depth - 1));
	default:
		return arena_printf(a, "(%s + %s)", x,
				    random_index(a, depth - 1));
	}
}

/* Regions hold what is read, whatever the index is. */
START_TEST(random_operators)
{
	int checked = 0, exact = 0;
	for (unsigned start = 1; start < 12000; start += 31) {
		trial t = begin();
		seed = start;
		load(&t, arena_printf(
			t.a, "op r(x[N, M]) -> y[N, M] = lambda i, j: Sum("
			"lambda k < 3: (x[%s, %s] else 0) + (x[%s, j] else 0))",
			random_index(t.a, below(3)),
			random_index(t.a, below(3)),
			random_index(t.a, below(3))));
		t.op = strmap_value(t.m->ops, 0);
		ck_assert(analysis_check(t.m, t.sink));
		ck_assert_int_gt(try_op(&t, 3), 0);
		checked += t.checked;
		exact += t.exact;
		arena_free(t.a);
	}
	ck_assert_int_gt(checked, 5000);
	ck_assert_int_gt(exact * 2, checked);
}
END_TEST

static const char *random_body(arena *a, int depth)
{
	static const char *const leaf[] = {
		"t[ids[n], d]", "t[ids[n], d]", "t[0, d]", "s[d]", "c[n]",
		"t[ids[ids[n]], 0]", "(t[ids[n], d] else 0)", "0", "2",
		"(t[ids[n], d] else 1)", "(t[n, ids[n]] else 0)",
	};
	if (depth == 0)
		return leaf[below((int)(sizeof(leaf) / sizeof(*leaf)))];
	const char *x = random_body(a, depth - 1);
	const char *y = random_body(a, below(depth));
	switch (below(9)) {
	case 0:
		return arena_printf(a, "(%s - %s)", x, y);
	case 1:
		return arena_printf(a, "(%s * %s)", x, y);
	case 2:
		return arena_printf(a, "(%s / (1 + c[n]))", x);
	case 3:
		return arena_printf(a, "max(%s, %s)", x, y);
	case 4:
		return arena_printf(a, "-%s", x);
	case 5:
		return arena_printf(a, "(if %s > c[n] then %s else %s)", y, x,
				    below(2) ? "c[n] * s[d]" : "0");
	case 6:
		return arena_printf(a, "%s(lambda m: c[m] * %s)",
				    below(2) ? "Sum" : "Mean", x);
	default:
		return arena_printf(a, "(%s + %s)", x, y);
	}
}

/* Which look-ups are stages, and what is divided by them. */
START_TEST(random_lookups)
{
	int derived = 0, gathers = 0;
	for (unsigned start = 1; start < 30000; start += 31) {
		trial t = begin();
		seed = start;
		load(&t, arena_printf(
			t.a, "op r(t[V, D]: f32, ids[N]: i64, s[D]: f32, "
			"c[N]: f32) -> y[N, D]: f32 = lambda n, d: %s",
			random_body(t.a, 1 + below(4))));
		t.op = strmap_value(t.m->ops, 0);
		ck_assert_msg(try_op(&t, 1) > 0, "%s", t.text);
		for (int i = 0; i < t.d->nstages; i++) {
			derived += t.x->stages[i]->nlookups;
			gathers += !strncmp(t.d->stages[i].label, "gather", 6);
		}
		arena_free(t.a);
	}
	ck_assert_int_gt(derived, 300);
	ck_assert_int_gt(gathers, 300);
}
END_TEST

static const char *random_condition(arena *a)
{
	static const char *const op[] = { "<", ">=", "==", "!=" };
	const char *c = arena_printf(a, "%s %s %s", random_index(a, 1),
				     op[below(4)], random_index(a, 1));
	return below(3) ? c
			: arena_printf(a, "%s %s i < N - 1", c,
				       below(2) ? "and" : "or");
}

static const char *random_choice(arena *a, int depth)
{
	const char *x = random_index(a, depth);
	if (below(3))
		return x;
	return arena_printf(a, "(if %s then %s else %s)", random_condition(a),
			    x, random_index(a, depth));
}

/* A read that the check lets pass without a guard is inside for all shapes;
 * one that is outside for some is found. */
START_TEST(bounds_are_sound)
{
	int passed = 0, refused = 0;
	for (unsigned start = 1; start < 20000; start += 31) {
		trial t = begin();
		seed = start;
		bool conditional = below(2);
		const char *cond = arena_printf(t.a, "if %s then ",
						random_condition(t.a));
		load(&t, arena_printf(
			t.a, "op r(x[N, M]) -> y[N, M] = lambda i, j: Sum("
			"lambda k < 3: %s(lambda l < M: %sx[%s, %s]%s))",
			below(4) ? "Max" : "Mean", conditional ? cond : "",
			random_choice(t.a, below(3)), below(2) ? "l" : "0",
			conditional ? " else 0" : ""));
		t.op = strmap_value(t.m->ops, 0);
		bool fine = analysis_check(t.m, t.sink);
		int suited = 0, n = 40;
		t.d = descriptor_of(t.a, t.m, t.op);
		for (int i = 0; i < n; i++) {
			invent(&t);
			for (int j = 0; j < t.d->space->natoms; j++)
				if (t.d->space->atoms[j].kind == ATOM_SIZE)
					t.values[j] = 1 + below(6);
			ck_assert(invent_shapes(&t));
			diag_sink *quiet = diag_sink_new(t.a);
			suited += expand_op(t.a, t.m, quiet, t.op, t.types,
					    t.attrs,
					    (call_site){ .place = "a test" }) !=
				  NULL;
		}
		ck_assert_msg(!fine || suited == n, "%s", t.text);
		passed += fine;
		refused += !fine;
		arena_free(t.a);
	}
	ck_assert_int_gt(passed, 50);
	ck_assert_int_gt(refused, 100);
}
END_TEST

/* ---- files -------------------------------------------------------------- */

START_TEST(round_trip)
{
	trial t = begin();
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		load(&t, arena_printf(t.a, "%s\n", operators[i]));
	descriptor d = { 0 };
	d.ops = ARENA_ARRAY(t.a, desc_op *, strmap_count(t.m->ops));
	for (int i = 0; i < strmap_count(t.m->ops); i++)
		d.ops[d.nops++] =
			descriptor_of(t.a, t.m, strmap_value(t.m->ops, i));
	size_t len, again;
	unsigned char *bytes = descriptor_write(t.a, &d, &len);
	descriptor *r = descriptor_read(t.a, t.sink, "d", bytes, len);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(r->nops, d.nops);
	unsigned char *copy = descriptor_write(t.a, r, &again);
	ck_assert_uint_eq(again, len);
	ck_assert_mem_eq(copy, bytes, len);
	/* Every shorter one is refused. */
	for (size_t n = 0; n < len; n += 1 + n / 50)
		ck_assert_ptr_null(descriptor_read(t.a, diag_sink_new(t.a),
						   "d", bytes, n));
	/* One that is changed is refused, or is written as it was read. */
	seed = 3;
	for (int i = 0; i < 4000; i++) {
		arena *a = arena_new();
		unsigned char *bad = ARENA_COPY(a, bytes, len);
		bad[below((int)len)] = (unsigned char)below(256);
		r = descriptor_read(a, diag_sink_new(a), "d", bad, len);
		if (r) {
			copy = descriptor_write(a, r, &again);
			ck_assert_uint_eq(again, len);
			ck_assert_mem_eq(copy, bad, len);
		}
		arena_free(a);
	}
	arena_free(t.a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("symbolic");
	TCase *t = tcase_create("symbolic");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, library);
	tcase_add_test(t, written);
	tcase_add_test(t, random_operators);
	tcase_add_test(t, random_lookups);
	tcase_add_test(t, bounds_are_sound);
	tcase_add_test(t, round_trip);
	suite_add_tcase(s, t);
	return s;
}
