/* Computes the region of each input that a block of one variable needs (Tofu,
 * section 4.2).  Recognises contractions that libraries implement. */
#include "config.h"

#include "compiler/analysis/descriptor_build.h"

#include <string.h>

/* ---- regions ------------------------------------------------------------ */

typedef struct cutting {
	arena *arena;
	const sym_op *op;
	const sym_stage *stage;
	const desc_var *var;
	/* the lookup whose index the variable replaces, or NULL */
	const sym_lookup *lookup;
	int at; /* place of the variable in ranges[]; -1 for a derived one */
	int nranges;
	sym_range *ranges; /* of the stage's variables for this cut */
	bool *assumed;
} cutting;

static cutting cut(arena *a, const sym_op *op, const sym_stage *x,
		   const desc_stage *s, int var, bool *assumed)
{
	cutting c = { a, op, x, &s->vars[var], NULL,
		      var < x->nvars ? var : -1, x->nvars,
		      ARENA_ARRAY(a, sym_range, x->nvars), assumed };
	for (int i = 0; i < x->nvars; i++) {
		int atom = x->vars[i].atom;
		sym_interval in = { poly_int(a, 0),
				    op->space->atoms[atom].max };
		if (i == var) {
			in.lo = poly_of(a, c.var->begin);
			in.hi = poly_shift(a, poly_of(a, c.var->end), -1);
		}
		c.ranges[i] = (sym_range){ atom, in };
	}
	return c;
}

/* Whether the variable stands for the index of the read in dimension d. */
static bool stands_for(const cutting *c, const sym_read *r, int d)
{
	const sym_lookup *l = c->lookup;
	return l && l->tensor == r->tensor && l->dim == d && !r->open &&
	       r->index[d].data;
}

static desc_region own_block(const cutting *c)
{
	return (desc_region){ .lo = poly_of(c->arena, c->var->begin),
			      .hi = poly_of(c->arena, c->var->end) };
}

static bool depends(const cutting *c, const poly *p)
{
	return poly_uses(c->op->space, p, c->var->begin) ||
	       poly_uses(c->op->space, p, c->var->end);
}

/* The region [lo, hi) of one index.  lo and hi are NULL if intervals cannot
 * follow the index. */
static desc_region region_of(const cutting *c, const sym_index *x)
{
	desc_region r = { 0 };
	if (x->all || x->data || !x->at)
		return r;
	sym_interval in = symbolic_interval(c->op->space, x->at, c->ranges,
					    c->nranges, c->assumed);
	if (!in.lo || !in.hi)
		return r;
	r.lo = in.lo;
	r.hi = poly_shift(c->arena, in.hi, 1);
	return r;
}

static desc_region hull(const cutting *c, desc_region x, desc_region y)
{
	desc_region r = { 0 };
	if (!x.lo || !y.lo)
		return r;
	r.lo = poly_min(c->op->space, x.lo, y.lo);
	r.hi = poly_max(c->op->space, x.hi, y.hi);
	return r.lo && r.hi ? r : (desc_region){ 0 };
}

/* Recognises regions of the form [scale * begin - before, scale * end +
 * after). */
static void classify(const cutting *c, desc_region *r)
{
	arena *a = c->arena;
	const poly *by, *end_by, *before, *after;
	r->follows = r->lo && (depends(c, r->lo) || depends(c, r->hi));
	if (!r->follows ||
	    !poly_split(c->op->space, a, r->lo, c->var->begin, &by, &before) ||
	    !poly_split(c->op->space, a, r->hi, c->var->end, &end_by, &after))
		return;
	if (!poly_equal(by, end_by) || depends(c, by) || depends(c, before) ||
	    depends(c, after))
		return;
	r->scale = by;
	r->before = poly_scale(a, before, -1);
	r->after = after;
}

/* Narrows the range of an undivided variable v by a read's condition f >= 0
 * that also involves the divided one.  f = v + rest gives v >= -rest, f = rest
 * - v gives v <= rest. */
static void narrow(const cutting *c, const poly *f, sym_range *to)
{
	poly_space *space = c->op->space;
	const poly *by, *rest;
	int64_t slope;
	if (to->atom == c->ranges[c->at].atom ||
	    !poly_split(space, c->arena, f, to->atom, &by, &rest) ||
	    !poly_is_constant(by, &slope) || (slope != 1 && slope != -1))
		return;
	if (slope == 1)
		rest = poly_scale(c->arena, rest, -1);
	sym_interval in = symbolic_interval(space, rest, c->ranges,
					    c->nranges, NULL);
	if (slope == 1 && in.lo && depends(c, in.lo))
		to->in.lo = in.lo;
	if (slope == -1 && in.hi && depends(c, in.hi))
		to->in.hi = in.hi;
}

/* Whether f consists of sizes, attributes and variables of the stage only, the
 * divided one among them. */
static bool compares(const cutting *c, const poly *f)
{
	const poly_space *space = c->op->space;
	for (int i = 0; i < space->natoms; i++) {
		bool known = space->atoms[i].kind != ATOM_VAR;
		for (int j = 0; j < c->nranges && !known; j++)
			known = c->ranges[j].atom == i;
		if (!known && poly_uses(space, f, i))
			return false;
	}
	return poly_uses(space, f, c->ranges[c->at].atom);
}

/* The cut for one read, with the variables' ranges narrowed by the conditions
 * of the read. */
static cutting where_read(const cutting *c, const sym_read *r)
{
	cutting n = *c;
	if (r->npaths != 1 || c->at < 0)
		return n;
	n.ranges = ARENA_COPY(c->arena, c->ranges, c->nranges);
	for (int i = 0; i < r->paths[0].n; i++) {
		const poly *f = r->paths[0].facts[i];
		if (!f || !compares(c, f))
			continue;
		for (int v = 0; v < n.nranges; v++)
			narrow(c, f, &n.ranges[v]);
	}
	return n;
}

static void cut_input(const cutting *c, int tensor, desc_need *need)
{
	int ndims = c->op->tensors[tensor].ndims;
	bool any = false;
	need->regions = ARENA_ARRAY(c->arena, desc_region, ndims);
	for (int i = 0; i < c->stage->nreads; i++) {
		const sym_read *r = c->stage->reads[i];
		if (r->tensor != tensor)
			continue;
		cutting here = where_read(c, r);
		for (int d = 0; d < ndims; d++) {
			desc_region x = { 0 };
			if (stands_for(c, r, d))
				x = own_block(c);
			else if (!r->open && d < r->n)
				x = region_of(&here, &r->index[d]);
			need->regions[d] = any ? hull(c, need->regions[d], x)
					       : x;
		}
		any = true;
	}
	for (int d = 0; d < ndims; d++)
		classify(c, &need->regions[d]);
}

static desc_strategy strategy_for(arena *a, const sym_op *op,
				  const sym_stage *x, const derived_dim *at,
				  const desc_stage *s, int var, bool *assumed)
{
	const desc_var *v = &s->vars[var];
	desc_strategy st = { .var = var, .split = -1 };
	if (v->kind == KVAR_OUTPUT)
		st.split = var;
	else
		st.reducer = v->kind == KVAR_DERIVED ? RED_SUM : s->reducer;
	cutting c = cut(a, op, x, s, var, assumed);
	const sym_lookup lookup = { s->ninputs ? s->inputs[at->input] : -1,
				    at->dim };
	c.lookup = v->kind == KVAR_DERIVED ? &lookup : NULL;
	st.needs = ARENA_ARRAY(a, desc_need, s->ninputs);
	for (int i = 0; i < s->ninputs; i++)
		cut_input(&c, s->inputs[i], &st.needs[i]);
	return st;
}

void descriptor_strategies(arena *a, const sym_op *op, const sym_stage *x,
			   const derived_dim *derived, desc_stage *s,
			   bool *assumed)
{
	s->strategies = ARENA_ARRAY(a, desc_strategy, s->nvars);
	for (int v = 0; v < s->nvars; v++)
		if (!s->vars[v].indivisible_reason && s->vars[v].begin >= 0)
			s->strategies[s->nstrategies++] = strategy_for(
				a, op, x, &derived[v], s, v, assumed);
}

/* ---- patterns ----------------------------------------------------------- */

/* The occurrence of a variable in a read: not at all, alone in an index, or
 * together with other variables. */
typedef enum part { ABSENT, ALONE, MIXED } part;

static part part_of(const sym_op *op, const sym_read *r, const sym_var *v)
{
	part p = ABSENT;
	for (int d = 0; d < r->n; d++) {
		if (!r->index[d].at)
			return MIXED;
		if (poly_equal(r->index[d].at,
			       poly_of(op->space->arena, v->atom)) &&
		    p == ABSENT)
			p = ALONE;
		else if (poly_uses(op->space, r->index[d].at, v->atom))
			p = MIXED;
	}
	return p;
}

/* Recognises pooling: one read, reduced over a window that moves with the
 * result. */
static const char *pooling(const sym_op *op, const sym_stage *x)
{
	bool window = false;
	for (int v = x->nout; v < x->nvars; v++) {
		if (part_of(op, x->reads[0], &x->vars[v]) != MIXED)
			return NULL;
		window = true;
	}
	return window ? "pooling" : NULL;
}

/* Recognises a contraction: a sum of products of two reads. */
static const char *contraction(const sym_op *op, const sym_stage *x)
{
	int batch = 0, contracted = 0, windows = 0, moved = 0;
	for (int v = 0; v < x->nvars; v++) {
		part p = part_of(op, x->reads[0], &x->vars[v]);
		part q = part_of(op, x->reads[1], &x->vars[v]);
		bool mixed = p == MIXED || q == MIXED;
		if (v >= x->nout && !mixed && (p == ABSENT || q == ABSENT))
			return NULL;
		if (mixed && p == MIXED && q == MIXED)
			return NULL;
		windows += mixed && v >= x->nout;
		moved += mixed && v < x->nout;
		contracted += v >= x->nout && !mixed;
		batch += v < x->nout && p == ALONE && q == ALONE;
	}
	if (windows)
		return "convolution";
	/* k[h / repeats, ..] is neither a moving window nor a plain product. */
	if (!contracted || moved)
		return NULL;
	return batch ? "batched matmul" : "matmul";
}

const char *descriptor_pattern(const sym_op *op, const sym_stage *x)
{
	bool reads = x->nreads == x->nfactors;
	for (int i = 0; i < x->nreads; i++)
		reads &= !x->reads[i]->open;
	if (!reads || x->conditional || x->reducer == RED_NONE)
		return NULL;
	if (x->nreads == 1)
		return pooling(op, x);
	if (x->nreads == 2 && x->reducer == RED_SUM)
		return contraction(op, x);
	return NULL;
}
