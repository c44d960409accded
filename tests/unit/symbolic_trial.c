#include "config.h"

#include "tests/unit/symbolic_trial.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "compiler/analysis/strategy.h"
#include "kernel/monotone.h"

static unsigned seed;

void seed_trials(unsigned start)
{
	seed = start;
}

int below(int limit)
{
	seed = seed * 1103515245u + 12345u;
	return (int)(seed >> 16) % limit;
}

/* ---- an operator with numbers ------------------------------------------- */

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

bool invent_shapes(trial *t)
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

void invent(trial *t)
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

/* Reducers that are said to pass do. */
static void compare_passing(const desc_stage *s, const stage *st)
{
	for (int i = 0; i < s->npassing; i++) {
		const desc_passing *p = &s->passing[i];
		uint32_t inputs = 0;
		for (int j = 0; j < st->kernel->ninputs; j++)
			for (int k = 0; k < s->ninputs; k++)
				if (p->inputs >> k & 1 &&
				    st->inputs[j] == s->inputs[k] &&
				    is_read(st->kernel->body, j))
					inputs |= UINT32_C(1) << j;
		ck_assert(!inputs || kernel_passes_partial(st->kernel, inputs,
							   p->by, p->to));
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
		extent = extent < 0 ? 0 : extent;
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

int try_op(trial *t, int ntries)
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

trial begin(void)
{
	trial t = { .a = arena_new() };
	t.sink = diag_sink_new(t.a);
	t.m = dsl_new(t.a, t.sink, NULL, 0);
	return t;
}

void load(trial *t, const char *text)
{
	bool ok = dsl_load_text(t->m, "test.tdl", text, strlen(text));
	t->text = text;
	if (!ok)
		diag_print(t->sink, stderr, false);
	ck_assert_msg(ok, "%s", text);
}
