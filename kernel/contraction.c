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
