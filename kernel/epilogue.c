#include "config.h"

#include "kernel/epilogue.h"

/* e without intermediate rounding, which a library does not do. */
static const kexpr *uncast(const kernel *k, const kexpr *e)
{
	while (e->kind == KX_CAST && e->type == k->type &&
	       e->args[0]->type == k->type)
		e = e->args[0];
	return e;
}

/* Whether e is input `of' at the result's own index. */
static bool is_own(const kernel *k, const kexpr *e, int of)
{
	e = uncast(k, e);
	if (e->kind != KX_READ || e->input != of ||
	    k->inputs[of].type != k->type || kx_ndim(e) != k->nout)
		return false;
	for (int d = 0; d < k->nout; d++)
		if (e->args[d]->kind != KX_VAR || e->args[d]->var != d ||
		    k->inputs[of].dims[d] != k->vars[d].extent)
			return false;
	return true;
}

/* Whether e is a vector along one dimension of the result. */
static bool is_bias(const kernel *k, const kexpr *e, epilogue *to)
{
	e = uncast(k, e);
	if (e->kind != KX_READ || kx_ndim(e) != 1 ||
	    e->args[0]->kind != KX_VAR ||
	    k->inputs[e->input].type != k->type ||
	    k->inputs[e->input].dims[0] != k->vars[e->args[0]->var].extent)
		return false;
	to->bias = e->input;
	to->dim = e->args[0]->var;
	return true;
}

bool epilogue_of(const kernel *k, int of, epilogue *e)
{
	*e = (epilogue){ .bias = -1, .dim = -1 };
	if (!k->body || k->reducer != RED_NONE || k->nderived ||
	    !dtype_is_float(k->type))
		return false;
	const kexpr *x = uncast(k, k->body);
	if (x->kind != KX_FN || x->fn != FN_ADD)
		return false;
	const kexpr *a = x->args[0], *b = x->args[1];
	return ((is_own(k, a, of) && is_bias(k, b, e)) ||
		(is_own(k, b, of) && is_bias(k, a, e))) && e->bias != of;
}
