#include "config.h"

#include "runtime/exec/invent.h"

#include "kernel/eval.h"

enum { USUAL_LIMIT = 128 }; /* of integers that are not indices */

static bool reads(const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (reads(e->args[i], input))
			return true;
	return false;
}

/* The extent of the smallest dimension that input `of' of a kernel indexes, at
 * most `limit'. */
static int64_t indexed(const kernel *k, const kexpr *e, int of, int64_t limit)
{
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++) {
		int64_t n = k->inputs[e->input].dims[d];
		if (n < limit && reads(e->args[d], of))
			limit = n;
	}
	for (int i = 0; i < e->nargs; i++)
		limit = indexed(k, e->args[i], of, limit);
	return limit;
}

/* Sets limits[t], a bound for the integers of tensor t.  They have to be below
 * it because they index a dimension of that extent, directly or after other
 * nodes have computed integers from them. */
static void find_limits(const plan *p, int64_t *limits)
{
	for (int t = 0; t < p->ntensors; t++)
		limits[t] = INT64_MAX;
	for (int n = p->nnodes; n-- > 0;) {
		const plan_node *node = &p->nodes[n];
		const kernel *k = p->kernels[node->kernel].kernel;
		for (int i = 0; i < k->ninputs; i++) {
			int64_t *limit = &limits[node->inputs[i]];
			if (k->body)
				*limit = indexed(k, k->body, i, *limit);
			if (dtype_is_int(k->inputs[i].type) &&
			    dtype_is_int(k->type) &&
			    limits[node->output] < *limit)
				*limit = limits[node->output];
		}
	}
}

/* Fills an array with 0, 1, 2, .. modulo the limit; floats from 0 to 1. */
static void count_up(const array *x, int64_t limit)
{
	int64_t n = array_nelem(x);
	if (x->type == DT_BOOL)
		limit = 2;
	else if (limit == INT64_MAX)
		limit = USUAL_LIMIT;
	for (int64_t i = 0; i < n; i++)
		if (dtype_is_float(x->type))
			elem_set_f64(x->type, x->data, i,
				     (double)i / (double)n);
		else
			elem_set_i64(x->type, x->data, i,
				     limit > 0 ? i % limit : 0);
}

void invent_inputs(const plan *p, const array *inputs)
{
	arena *work = arena_new();
	int64_t *limits = ARENA_ARRAY(work, int64_t, p->ntensors);
	find_limits(p, limits);
	for (int i = 0; i < p->ninputs; i++)
		count_up(&inputs[i], limits[p->inputs[i]]);
	arena_free(work);
}
