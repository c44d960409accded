#include "config.h"

#include "compiler/analysis/strategy.h"

#include "base/checked.h"
#include "kernel/eval.h"
#include "kernel/linearity.h"

bool strategy_offered(const kernel *k, int v, const char **why)
{
	const char *reason = k->vars[v].indivisible_reason;
	bool arg = reducer_is_where(k->reducer);
	if (!reason && k->opaque && v >= k->nout - k->nhidden && v < k->nout)
		reason = "an opaque function computes it whole";
	if (!reason && k->vars[v].kind == KVAR_REDUCE && arg)
		reason = "the index of an extreme in a part does not tell its "
			 "value, so that the parts' results cannot be compared";
	if (!reason && k->vars[v].kind == KVAR_REDUCE &&
	    k->reducer == RED_SUM && !elem_has_zero(k->type))
		reason = "an empty part has the sum 0, which its type does not "
			 "have";
	if (why)
		*why = reason;
	return !reason;
}

reducer strategy_reducer(const kernel *k, int v)
{
	switch (k->vars[v].kind) {
	case KVAR_OUTPUT:
		return RED_NONE;
	case KVAR_DERIVED:
		return RED_SUM;
	case KVAR_REDUCE:
		break;
	}
	return k->reducer;
}

/* ---- facts ------------------------------------------------------------- */

/* Whether a read is an element of a broadcast tensor: dimensions may be left
 * out, or have size 1. */
static bool reads_broadcast(const kernel *k, const kexpr *read)
{
	const kinput *in = &k->inputs[read->input];
	int next = 0;
	for (int d = 0; d < in->ndim; d++) {
		const kexpr *index = read->args[d];
		if (in->dims[d] == 1 && index->kind == KX_INT && index->i == 0)
			continue;
		if (index->kind != KX_VAR || index->var < next ||
		    index->var >= k->nout ||
		    k->vars[index->var].extent != in->dims[d])
			return false;
		next = index->var + 1;
	}
	return true;
}

static bool is_elementwise(const kernel *k, const kexpr *e)
{
	if (e->kind == KX_READ && !reads_broadcast(k, e))
		return false;
	for (int i = 0; i < e->nargs; i++)
		if (!is_elementwise(k, e->args[i]))
			return false;
	return true;
}

static int64_t total_flops(const kernel *k)
{
	int64_t points = kernel_points(k), flops;
	if (points < 0 || !ck_mul(points, kernel_flops_per_point(k), &flops))
		return -1;
	return flops;
}

kernel_facts kernel_facts_of(const kernel *k)
{
	kernel_facts f = { .flops = total_flops(k) };
	if (!k->body)
		return f;
	bool adds = k->reducer == RED_NONE || k->reducer == RED_SUM;
	f.elementwise = k->reducer == RED_NONE && is_elementwise(k, k->body);
	for (int i = 0; i < k->ninputs; i++) {
		uint32_t bit = (uint32_t)1 << i;
		if (adds && kernel_body_linear(k, bit))
			f.linear |= bit;
	}
	return f;
}
