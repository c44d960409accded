#include "config.h"

#include "plan/contraction.h"

#include "base/checked.h"
#include "base/vec.h"

/* Batches that are looked at one by one. */
enum { MAX_BATCHES = 1 << 16 };

/* ---- finding it -------------------------------------------------------- */

static bool is_wider(dtype to, dtype from)
{
	bool both = dtype_is_float(to) && dtype_is_float(from);
	return to == from || (both && to == DT_F64) ||
	       (both && to == DT_F32 && from != DT_F64);
}

static const kexpr *read_of(const kexpr *e)
{
	while (e->kind == KX_CAST && is_wider(e->type, e->args[0]->type))
		e = e->args[0];
	return e->kind == KX_READ ? e : NULL;
}

static uint32_t vars_of(const kexpr *e)
{
	uint32_t vars = e->kind == KX_VAR ? 1u << e->var : 0;
	for (int i = 0; i < e->nargs; i++)
		vars |= vars_of(e->args[i]);
	return vars;
}

/* The indices of a read; false if one is not an affine sum, or may lie outside
 * the input, so that a guard would matter. */
static bool factor_of(arena *a, const kernel *k, const kexpr *read, factor *f)
{
	const kinput *in = &k->inputs[read->input];
	*f = (factor){ .input = read->input, .type = in->type,
		       .ndim = in->ndim };
	for (int d = 0; d < f->ndim; d++)
		if (!index_compile(a, k, read->args[d], &f->at[d]) ||
		    f->at[d].all.lo < 0 || f->at[d].all.hi >= in->dims[d])
			return false;
	return true;
}

/* The variables of a read's indices; those of an index that is not affine are
 * added to *odd. */
static uint32_t vars_of_factor(const factor *f, const kexpr *read,
			       uint32_t *odd)
{
	uint32_t all = 0;
	for (int d = 0; d < f->ndim; d++) {
		uint32_t vars = vars_of(read->args[d]);
		all |= vars;
		*odd |= f->at[d].affine ? 0 : vars;
	}
	return all;
}

bool contraction_of(arena *a, const kernel *k, contraction *c)
{
	const kexpr *e = k->body;
	uint32_t odd = 0, outputs = 0, reduced = 0;
	*c = (contraction){ 0 };
	if (k->reducer != RED_SUM || k->nderived || !e ||
	    !dtype_is_float(k->type) || e->kind != KX_FN || e->fn != FN_MUL)
		return false;
	const kexpr *left = read_of(e->args[0]), *right = read_of(e->args[1]);
	if (!left || !right || !factor_of(a, k, left, &c->left) ||
	    !factor_of(a, k, right, &c->right))
		return false;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].extent > 1)
			*(v < k->nout ? &outputs : &reduced) |= 1u << v;
	uint32_t l = vars_of_factor(&c->left, left, &odd);
	uint32_t r = vars_of_factor(&c->right, right, &odd);
	c->depth = reduced;
	c->batch = outputs & ((l & r) | odd);
	c->rows = outputs & l & ~c->batch;
	c->cols = outputs & r & ~c->batch;
	return !(outputs & ~(l | r)) && !(reduced & ~(l & r)) &&
	       !(reduced & odd) && reduced;
}

/* ---- on blocks --------------------------------------------------------- */

enum { LEFT, RIGHT, OUT, NSIDES };

typedef struct layout {
	const kernel *k;
	const contraction *c;
	const view *views[NSIDES];
	box at; /* the point whose place is asked for */
	int64_t count[MAX_NVARS];
	int64_t stride[NSIDES][MAX_NVARS]; /* of what is affine */
} layout;

static int64_t place_in(const layout *x, int side)
{
	const view *v = x->views[side];
	const factor *f = side == LEFT ? &x->c->left : &x->c->right;
	int ndim = side == OUT ? x->k->nout : f->ndim;
	int64_t at = 0;
	for (int d = 0; d < ndim; d++) {
		int64_t i = side == OUT ? x->at.lo[d] :
					  index_span(&f->at[d], &x->at).lo;
		at += (i - v->at.lo[d]) * v->stride[d];
	}
	return at;
}

static void move_to(layout *x, int var, int64_t i)
{
	x->at.lo[var] = i;
	x->at.hi[var] = i + 1;
}

/* The strides are those between the first two points. */
static void measure(layout *x, const box *space, uint32_t vars)
{
	x->at.n = x->k->nvars;
	for (int v = 0; v < x->k->nvars; v++) {
		x->count[v] = space->hi[v] - space->lo[v];
		move_to(x, v, space->lo[v]);
	}
	for (int v = 0; v < x->k->nvars; v++) {
		if (!(vars >> v & 1) || x->count[v] < 2)
			continue;
		for (int s = 0; s < NSIDES; s++)
			x->stride[s][v] = -place_in(x, s);
		move_to(x, v, space->lo[v] + 1);
		for (int s = 0; s < NSIDES; s++)
			x->stride[s][v] += place_in(x, s);
		move_to(x, v, space->lo[v]);
	}
}

/* Variables that are walked as one: their strides on two sides continue each
 * other. */
typedef struct chain {
	uint32_t vars;
	int64_t count, first, second; /* elements, strides on the sides */
} chain;

static chain chain_from(const layout *x, uint32_t vars, int v, int s, int t)
{
	chain c = { 1u << v, x->count[v], x->stride[s][v], x->stride[t][v] };
	for (int w = x->k->nvars - 1; w >= 0; w--)
		if ((vars & ~c.vars) >> w & 1 &&
		    x->stride[s][w] == c.first * c.count &&
		    x->stride[t][w] == c.second * c.count) {
			c.vars |= 1u << w;
			c.count *= x->count[w];
			w = x->k->nvars;
		}
	return c;
}

/* The longest one. */
static chain best_chain(const layout *x, uint32_t vars, int s, int t)
{
	chain best = { .count = 1, .first = 0, .second = 0 };
	for (int v = 0; v < x->k->nvars; v++)
		if (vars >> v & 1) {
			chain c = chain_from(x, vars, v, s, t);
			if (c.count > best.count)
				best = c;
		}
	return best;
}

/* Goes to the next batch; false after the last. */
static bool next_batch(layout *x, const box *space, uint32_t batch)
{
	for (int v = x->k->nvars - 1; v >= 0; v--) {
		if (!(batch >> v & 1))
			continue;
		if (x->at.hi[v] < space->hi[v]) {
			move_to(x, v, x->at.hi[v]);
			return true;
		}
		move_to(x, v, space->lo[v]);
	}
	return false;
}

/* Adds the product at hand to a call, if it continues that; else begins a new
 * one with it. */
static bool add_product(gemm_call *last, const layout *x)
{
	int64_t l = place_in(x, LEFT), r = place_in(x, RIGHT);
	int64_t o = place_in(x, OUT), n = last->count;
	if (n == 1) {
		last->left_step = l - last->left;
		last->right_step = r - last->right;
		last->out_step = o - last->out;
	}
	if (n > 0 && l == last->left + n * last->left_step &&
	    r == last->right + n * last->right_step &&
	    o == last->out + n * last->out_step) {
		last->count++;
		return true;
	}
	*last = (gemm_call){ .left = l, .right = r, .out = o, .count = 1 };
	return false;
}

static bool list_calls(arena *a, layout *x, const box *space, uint32_t batch,
		       gemm *g)
{
	VEC(gemm_call) calls = { 0 };
	int64_t n = 1;
	for (int v = 0; v < x->k->nvars; v++)
		if (batch >> v & 1 && (!ck_mul(n, x->count[v], &n) ||
				       n > MAX_BATCHES))
			return false;
	gemm_call last = { 0 };
	do {
		gemm_call before = last;
		if (!add_product(&last, x) && before.count)
			vec_push(a, &calls, before);
		if (calls.n >= GEMM_MAX_CALLS)
			return false;
	} while (next_batch(x, space, batch));
	vec_push(a, &calls, last);
	g->ncalls = calls.n;
	g->calls = calls.at;
	return true;
}

/* Those of which a part has more than one value. */
static uint32_t several(const layout *x, uint32_t vars)
{
	for (int v = 0; v < x->k->nvars; v++)
		if (x->count[v] < 2)
			vars &= ~(1u << v);
	return vars;
}

bool contraction_gemm(arena *a, const kernel *k, const contraction *c,
		      const box *space, const view *inputs, const view *out,
		      gemm *g)
{
	layout x = { .k = k, .c = c };
	x.views[LEFT] = &inputs[c->left.input];
	x.views[RIGHT] = &inputs[c->right.input];
	x.views[OUT] = out;
	*g = (gemm){ 0 };
	for (int v = 0; v < k->nvars; v++)
		if (space->lo[v] >= space->hi[v])
			return v < k->nout;
	measure(&x, space, c->rows | c->cols | c->depth);
	uint32_t rows = several(&x, c->rows), cols = several(&x, c->cols);
	uint32_t depth = several(&x, c->depth);
	chain i = best_chain(&x, rows, LEFT, OUT);
	chain j = best_chain(&x, cols, RIGHT, OUT);
	chain l = best_chain(&x, depth, LEFT, RIGHT);
	if (l.vars != depth)
		return false;
	*g = (gemm){ .rows = i.count, .left_row = i.first, .out_row = i.second,
		     .cols = j.count, .right_col = j.first,
		     .out_col = j.second, .depth = l.count,
		     .left_depth = l.first, .right_depth = l.second,
		     .row_vars = i.vars, .col_vars = j.vars };
	uint32_t batch = several(&x, c->batch) | (rows & ~i.vars) |
			 (cols & ~j.vars);
	return list_calls(a, &x, space, batch, g);
}
