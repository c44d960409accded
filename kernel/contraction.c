#include "config.h"

#include "kernel/contraction.h"

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

/* Finds the indices of a read.  Returns false if one is not an affine sum, or
 * may be outside of the input, so that a guard would matter. */
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

static bool is_several(uint32_t vars)
{
	return (vars & (vars - 1)) != 0;
}

/* Finds the variables of a read's indices; adds those of an index that is not
 * affine to *odd.  Returns false if such an index has several. */
static bool vars_of_factor(const factor *f, const kexpr *read, uint32_t moving,
			   uint32_t *vars, uint32_t *odd)
{
	*vars = 0;
	for (int d = 0; d < f->ndim; d++) {
		uint32_t here = vars_of(read->args[d]) & moving;
		*vars |= here;
		if (f->at[d].affine)
			continue;
		*odd |= here;
		if (is_several(here))
			return false;
	}
	return true;
}

bool kernel_sums_products(const kernel *k)
{
	return k->reducer == RED_SUM && k->ninputs >= 2;
}

bool contraction_of(arena *a, const kernel *k, contraction *c)
{
	const kexpr *e = k->body;
	uint32_t outputs = 0, reduced = 0;
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
	return vars_of_factor(&c->left, left, outputs | reduced,
			      &c->of_left, &c->odd) &&
	       vars_of_factor(&c->right, right, outputs | reduced,
			      &c->of_right, &c->odd) &&
	       !(outputs & ~(c->of_left | c->of_right)) &&
	       !(reduced & ~(c->of_left & c->of_right)) &&
	       !(reduced & c->odd) && reduced;
}

bool kernel_multiplies_matrices(const kernel *k)
{
	arena *a = arena_new();
	contraction c;
	bool found = contraction_of(a, k, &c);
	uint32_t out = (UINT32_C(1) << k->nout) - 1;
	uint32_t left = found ? c.of_left & ~c.of_right & out : 0;
	uint32_t right = found ? c.of_right & ~c.of_left & out : 0;
	arena_free(a);
	return left && right;
}

/* ---- copies of factors --------------------------------------------------- */

/* Whether a read is at sums of variables inside its input. */
static bool is_affine(arena *a, const kernel *k, const kexpr *read, factor *f)
{
	if (!factor_of(a, k, read, f))
		return false;
	for (int d = 0; d < f->ndim; d++)
		if (!f->at[d].affine)
			return false;
	return true;
}

static bool reorders(arena *a, const kernel *k, factor *f)
{
	const kexpr *e = k->body;
	int64_t there = 1, here = 1;
	uint32_t vars = 0;
	if (!e || k->nderived || k->reducer != RED_NONE ||
	    e->kind != KX_READ || e->guarded || k->ninputs != 1 ||
	    e->type != k->type || !is_affine(a, k, e, f))
		return false;
	for (int d = 0; d < f->ndim; d++) {
		vars |= vars_of(e->args[d]);
		there *= k->inputs[0].dims[d];
	}
	for (int v = 0; v < k->nvars; v++) {
		if (k->vars[v].extent > 1 && !(vars >> v & 1))
			return false;
		here *= k->vars[v].extent;
	}
	return there == here;
}

bool kernel_is_reordering(const kernel *k)
{
	arena *a = arena_new();
	factor f;
	bool found = reorders(a, k, &f);
	arena_free(a);
	return found;
}

/* The variable that alone is an index, with step 1; -1. */
static int var_of(const lin *x)
{
	return x->affine && x->c == 0 && x->n == 1 && x->t[0].coef == 1
		       ? x->t[0].var
		       : -1;
}

/* The variable along which memory runs; -1. */
static int var_along(const kernel *k, const factor *f)
{
	int d = f->ndim - 1;
	while (d >= 0 && k->inputs[f->input].dims[d] == 1)
		d--;
	for (int i = 0; d >= 0 && i < f->at[d].n; i++)
		if (f->at[d].t[i].coef == 1 &&
		    k->vars[f->at[d].t[i].var].extent > 1)
			return f->at[d].t[i].var;
	return -1;
}

/* Whether the indices of a factor are different variables, over their whole
 * extents. */
static bool is_plain(const kernel *k, const factor *f)
{
	uint32_t seen = 0;
	for (int d = 0; d < f->ndim; d++) {
		int v = var_of(&f->at[d]);
		if (v < 0 || seen >> v & 1 ||
		    k->vars[v].extent != k->inputs[f->input].dims[d])
			return false;
		seen |= UINT32_C(1) << v;
	}
	return true;
}

static bool has_points(const kernel *k, uint32_t vars, int64_t least)
{
	int64_t n = 1;
	for (int v = 0; v < k->nvars && n < least; v++)
		if (vars >> v & 1)
			n *= k->vars[v].extent;
	return n >= least;
}

/* Of the variables `own' and of those summed over, v is the last of its
 * kind. */
static bool is_last(uint32_t own, uint32_t summed, int v)
{
	uint32_t after = ~UINT32_C(0) << v << 1;
	uint32_t kind = own >> v & 1 ? own : summed;
	return kind >> v & 1 && !(kind & after);
}

bool contraction_reads_through(const kernel *k, int slot, const kernel *copy)
{
	arena *a = arena_new();
	contraction c;
	factor from;
	bool good = contraction_of(a, k, &c) && reorders(a, copy, &from) &&
		    (c.left.input == slot) != (c.right.input == slot);
	if (good) {
		bool left = c.left.input == slot;
		const factor *f = left ? &c.left : &c.right;
		uint32_t outputs = (UINT32_C(1) << k->nout) - 1;
		uint32_t rows = c.of_left & ~c.of_right & outputs;
		uint32_t cols = c.of_right & ~c.of_left & outputs;
		uint32_t summed = c.of_left & ~outputs;
		int w = var_along(copy, &from);
		int v = w >= 0 ? var_of(&f->at[w]) : -1;
		good = v >= 0 && is_plain(k, f) &&
		       has_points(k, rows, PACKED_LEAST) &&
		       has_points(k, cols, PACKED_LEAST) &&
		       has_points(k, summed, PACKED_LEAST) &&
		       is_last(left ? rows : cols, summed, v);
	}
	arena_free(a);
	return good;
}
