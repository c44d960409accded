/* Finds the links of an operator for given shapes, from the index expressions
 * of its kernels. */
#include "config.h"

#include "compiler/export/index_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/analysis/strategy.h"

/* ---- an index as digits ------------------------------------------------- */

/* constant + sum over digits of (var / low) % count * step */
typedef struct digits {
	int n;
	digit at[MAX_DIGITS];
	int64_t constant;
} digits;

static bool digits_of(const kernel *k, const kexpr *e, digits *r);

static bool is_number(const kexpr *e, int64_t *n)
{
	*n = e->i;
	return e->kind == KX_INT;
}

static bool add(digits *x, const digits *y, int64_t by)
{
	int64_t c;
	if (x->n + y->n > MAX_DIGITS || !ck_mul(y->constant, by, &c) ||
	    !ck_add(x->constant, c, &x->constant))
		return false;
	for (int i = 0; i < y->n; i++) {
		x->at[x->n] = y->at[i];
		if (!ck_mul(y->at[i].step, by, &x->at[x->n++].step))
			return false;
	}
	return true;
}

/* Splits x into *high, a multiple of d, and *low, which is always from 0 to d -
 * 1.  Returns false if digits cannot be split so. */
static bool cut(const digits *x, int64_t d, digits *low, digits *high)
{
	int64_t most = x->constant;
	*low = (digits){ .constant = x->constant };
	*high = (digits){ 0 };
	for (int i = 0; i < x->n; i++) {
		digit t = x->at[i];
		if (t.step <= 0)
			return false;
		if (t.step >= d) {
			if (t.step % d)
				return false;
			high->at[high->n++] = t;
			continue;
		}
		int64_t below = d / t.step;
		if (below < t.count) {
			if (d % t.step || t.count % below)
				return false;
			high->at[high->n++] = (digit){ t.var, t.low * below,
						       t.count / below, d };
			t.count = below;
		}
		low->at[low->n++] = t;
		most += (t.count - 1) * t.step;
	}
	return x->constant >= 0 && most < d;
}

/* Computes x / d, or x % d. */
static bool divide(const digits *x, int64_t d, bool rest, digits *r)
{
	digits low, high;
	if (d <= 0 || !cut(x, d, &low, &high))
		return false;
	*r = rest ? low : high;
	for (int i = 0; !rest && i < r->n; i++)
		r->at[i].step /= d;
	return true;
}

static bool digits_of_fn(const kernel *k, const kexpr *e, digits *r)
{
	digits x, y = { 0 };
	int64_t n;
	if (!digits_of(k, e->args[0], &x) ||
	    (e->nargs > 1 && !digits_of(k, e->args[1], &y)))
		return false;
	*r = x;
	switch (e->fn) {
	case FN_ADD:
		return add(r, &y, 1);
	case FN_SUB:
		return add(r, &y, -1);
	case FN_NEG:
		*r = (digits){ 0 };
		return add(r, &x, -1);
	case FN_MUL:
		*r = (digits){ 0 };
		if (is_number(e->args[0], &n))
			return add(r, &y, n);
		return is_number(e->args[1], &n) && add(r, &x, n);
	case FN_DIV:
	case FN_MOD:
		return is_number(e->args[1], &n) &&
		       divide(&x, n, e->fn == FN_MOD, r);
	default:
		return false;
	}
}

static bool digits_of(const kernel *k, const kexpr *e, digits *r)
{
	*r = (digits){ 0 };
	switch (e->kind) {
	case KX_INT:
		r->constant = e->i;
		return true;
	case KX_VAR:
		if (k->vars[e->var].extent > 1)
			r->at[r->n++] = (digit){ e->var, 1,
						 k->vars[e->var].extent, 1 };
		return true;
	case KX_FN:
		return digits_of_fn(k, e, r);
	default:
		return false;
	}
}

static int by_step(const void *x, const void *y)
{
	const digit *a = x, *b = y;
	return (a->step > b->step) - (a->step < b->step);
}

/* Whether these are all the digits of a number from 0 to size - 1, each
 * once. */
static bool is_exact(digits *x, int64_t size)
{
	int64_t next = 1;
	qsort(x->at, (size_t)x->n, sizeof(x->at[0]), by_step);
	for (int i = 0; i < x->n; i++) {
		const digit *t = &x->at[i];
		if (t->step != next || !ck_mul(next, t->count, &next))
			return false;
		for (int j = 0; j < i; j++)
			if (x->at[j].var == t->var &&
			    x->at[j].low < t->low * t->count &&
			    t->low < x->at[j].low * x->at[j].count)
				return false;
	}
	return x->constant == 0 && next == size;
}

/* ---- a kernel's reads --------------------------------------------------- */

typedef struct reading {
	arena *arena;
	const kernel *kernel;
	link_stage *stage;
} reading;

/* Notes the variables in e that are used as numbers, outside the indices of
 * reads.  A part then has to know where its block begins. */
static void note_positions(reading *r, const kexpr *e)
{
	if (e->kind == KX_READ)
		return;
	if (e->kind == KX_VAR)
		r->stage->vars[e->var].positional = true;
	for (int i = 0; i < e->nargs; i++)
		note_positions(r, e->args[i]);
}

static bool same_digits(const dim_link *l, const digits *x)
{
	return l->kind == LINK_EXACT && l->n == x->n &&
	       !memcmp(l->digits, x->at, (size_t)x->n * sizeof(x->at[0]));
}

/* Notes an index at which a dimension is read.  first: it is the first one. */
static void note_index(reading *r, int input, int d, const kexpr *index,
		       bool first)
{
	dim_link *l = &r->stage->inputs[input].dims[d];
	digits x;
	bool exact = index && digits_of(r->kernel, index, &x) &&
		     is_exact(&x, r->kernel->inputs[input].dims[d]);
	if (exact && first) {
		l->kind = LINK_EXACT;
		l->n = x.n;
		memcpy(l->digits, x.at, sizeof(l->digits));
	} else if (!exact || !same_digits(l, &x)) {
		l->kind = LINK_NONE;
	}
	if (index && !exact)
		note_positions(r, index);
}

static void note_reads(reading *r, const kexpr *e, bool *seen)
{
	if (e->kind == KX_READ) {
		for (int d = 0; d < kx_ndim(e); d++)
			note_index(r, e->input, d, e->args[d],
				   !seen[e->input]);
		seen[e->input] = true;
	}
	for (int i = 0; i < e->nargs; i++)
		note_reads(r, e->args[i], seen);
}

/* If two reads index a dimension in different ways, it is not LINK_EXACT, and
 * the variables in the first index count as used as numbers. */
static void note_disagreement(reading *r, const kexpr *e)
{
	if (e->kind == KX_READ)
		for (int d = 0; d < kx_ndim(e); d++)
			if (r->stage->inputs[e->input].dims[d].kind !=
			    LINK_EXACT)
				note_positions(r, e->args[d]);
	for (int i = 0; i < e->nargs; i++)
		note_disagreement(r, e->args[i]);
}

/* A dimension indexed by data has a variable of its own. */
static void note_derived(reading *r)
{
	const kernel *k = r->kernel;
	for (int i = 0; i < k->nderived; i++) {
		const kderived *x = &k->derived[i];
		dim_link *l = &r->stage->inputs[x->input].dims[x->dim];
		l->kind = LINK_EXACT;
		l->n = 1;
		l->digits[0] = (digit){ x->var, 1, k->vars[x->var].extent, 1 };
	}
}

/* ---- dimensions that follow a variable ----------------------------------- */

/* The region of an input that is read if the variable runs over [lo, hi). */
static box need(const reading *r, int input, int var, int64_t lo, int64_t hi)
{
	box space = kernel_space(r->kernel);
	space.lo[var] = lo;
	space.hi[var] = hi;
	return kernel_need(r->kernel, &space, input);
}

static int64_t length(const box *b, int d)
{
	return b->hi[d] - b->lo[d];
}

/* Finds the variable whose halves need the least part of a dimension that is
 * not LINK_EXACT, if any of them needs less than the whole. */
static void find_follower(reading *r, int input, int d)
{
	const kernel *k = r->kernel;
	const kinput *in = &k->inputs[input];
	dim_link *l = &r->stage->inputs[input].dims[d];
	box space = kernel_space(k), all = kernel_need(k, &space, input);
	int64_t least = length(&all, d);
	for (int v = 0; v < k->nvars; v++) {
		int64_t n = k->vars[v].extent;
		if (n < 2 || !r->stage->vars[v].offered ||
		    k->vars[v].kind == KVAR_DERIVED ||
		    (v >= k->nout && l->kind == LINK_FOLLOWS))
			continue;
		box one = need(r, input, v, 0, n / 2);
		box two = need(r, input, v, n / 2, n);
		if (length(&one, d) >= least ||
		    length(&two, d) >= length(&all, d))
			continue;
		least = length(&one, d);
		l->kind = LINK_FOLLOWS;
		l->n = 1;
		l->digits[0] = (digit){ v, 1, n, 1 };
		l->note = arena_printf(
			r->arena, "elements %lld to %lld of %lld in dimension "
			"%d of %s for %lld to %lld of %lld",
			(long long)one.lo[d], (long long)one.hi[d] - 1,
			(long long)in->dims[d], d, in->name, 0LL,
			(long long)n / 2 - 1, (long long)n);
	}
}

/* ---- all of it ---------------------------------------------------------- */

static void read_vars(reading *r)
{
	const kernel *k = r->kernel;
	r->stage->vars = ARENA_ARRAY(r->arena, link_var, k->nvars);
	for (int v = 0; v < k->nvars; v++)
		r->stage->vars[v] = (link_var){
			.name = k->vars[v].name, .kind = k->vars[v].kind,
			.offered = strategy_offered(k, v, NULL),
			.extent = k->vars[v].extent
		};
}

static link_stage stage_of(arena *a, const stage *s, int result)
{
	const kernel *k = s->kernel;
	link_stage to = { .result = result, .nvars = k->nvars, .nout = k->nout,
			  .reducer = k->reducer, .ninputs = k->ninputs };
	reading r = { a, k, &to };
	uint32_t linear = kernel_facts_of(k).linear;
	bool *seen = ARENA_ARRAY(a, bool, k->ninputs);
	to.inputs = ARENA_ARRAY(a, link_input, k->ninputs);
	for (int i = 0; i < k->ninputs; i++)
		to.inputs[i] = (link_input){
			s->inputs[i], linear >> i & 1,
			ARENA_ARRAY(a, dim_link, k->inputs[i].ndim)
		};
	to.joint = ARENA_ARRAY(a, uint64_t, k->npassings);
	for (int i = 0; i < k->npassings; i++)
		if (k->passings[i].by == RED_SUM)
			to.joint[to.njoint++] = k->passings[i].inputs;
	read_vars(&r);
	if (k->body) {
		note_reads(&r, k->body, seen);
		note_disagreement(&r, k->body);
		note_positions(&r, k->body);
	}
	for (int i = 0; i < k->nslices; i++) {
		const kslice *x = &k->slices[i];
		for (int d = 0; d < x->ndim; d++)
			note_index(&r, x->input, d, x->at[d], !seen[x->input]);
		seen[x->input] = true;
	}
	note_derived(&r);
	for (int i = 0; i < k->ninputs; i++)
		for (int d = 0; d < k->inputs[i].ndim; d++)
			if (to.inputs[i].dims[d].kind == LINK_NONE)
				find_follower(&r, i, d);
	return to;
}

static link_value value_of(arena *a, const char *name, int ndims)
{
	return (link_value){ name, ndims, ARENA_ARRAY(a, int64_t, ndims),
			     ARENA_ARRAY(a, bool, ndims) };
}

static void read_params(arena *a, const ast_op *op, const expansion *x,
			const tensor_type *params, links *l)
{
	for (int i = 0; i < x->nparams; i++) {
		l->values[i] = value_of(a, op->params[i].name, params[i].ndim);
		memcpy(l->values[i].dims, params[i].dims,
		       (size_t)params[i].ndim * sizeof(int64_t));
	}
}

links *links_of_expansion(arena *a, const ast_op *op, const expansion *x,
			  const tensor_type *params)
{
	links *l = ARENA_NEW(a, links);
	*l = (links){ op->name, x->nparams, x->nparams + x->nstages, x->nstages,
		      x->nresults,
		      ARENA_ARRAY(a, link_value, x->nparams + x->nstages),
		      ARENA_ARRAY(a, link_stage, x->nstages), x->results,
		      ARENA_ARRAY(a, const char *, x->nresults) };
	read_params(a, op, x, params, l);
	for (int i = 0; i < x->nstages; i++) {
		const kernel *k = x->stages[i].kernel;
		link_value v = value_of(a, x->stages[i].label, k->nout);
		for (int d = 0; d < k->nout; d++)
			v.dims[d] = kernel_dim(k, d);
		l->values[x->nparams + i] = v;
		l->stages[i] = stage_of(a, &x->stages[i], x->nparams + i);
	}
	for (int i = 0; i < x->nresults; i++)
		l->result_names[i] = op->results[i].name;
	return l;
}
