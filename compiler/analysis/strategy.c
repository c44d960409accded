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

typedef bool read_test(const kernel *k, const kexpr *read);

/* Whether every read of the input, of all where input < 0, passes. */
static bool every_read(const kernel *k, const kexpr *e, int input,
		       read_test *test)
{
	if (e->kind == KX_READ && (input < 0 || e->input == input) &&
	    !test(k, e))
		return false;
	for (int i = 0; i < e->nargs; i++)
		if (!every_read(k, e->args[i], input, test))
			return false;
	return true;
}

/* x[i, j], or a tensor broadcast into it: dimensions left out, or of size 1. */
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

/* x[i, j] with all of the result's variables. */
static bool reads_own_element(const kernel *k, const kexpr *read)
{
	return kx_ndim(read) == k->nout && reads_broadcast(k, read);
}

/* The same: a dimension of size 1 may be indexed by 0. */
static bool has_result_shape(const kernel *k, int input)
{
	const kinput *in = &k->inputs[input];
	bool same = in->ndim == k->nout && in->type == k->type;
	for (int d = 0; same && d < in->ndim; d++)
		same = in->dims[d] == k->vars[d].extent;
	return same;
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
	bool maps = k->reducer == RED_NONE;
	f.elementwise = maps && every_read(k, k->body, -1, reads_broadcast);
	for (int i = 0; i < k->ninputs; i++) {
		uint32_t bit = (uint32_t)1 << i;
		if (adds && kernel_body_linear(k, bit))
			f.linear |= bit;
		if (maps && is_read(k->body, i) && has_result_shape(k, i) &&
		    every_read(k, k->body, i, reads_own_element))
			f.in_place |= bit;
	}
	return f;
}
