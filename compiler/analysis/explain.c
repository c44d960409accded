#include "config.h"

#include "compiler/analysis/explain.h"

#include "base/checked.h"
#include "compiler/analysis/strategy.h"

/* The number of elements that the parts need from outside their own blocks if
 * the input is cut along dimension `dim'. */
static int64_t fetched(const kernel *k, int input, int dim,
		       const explain_strategy *s, int nparts)
{
	const kinput *in = &k->inputs[input];
	box held = box_whole(in->dims, in->ndim);
	int64_t sum = 0;
	for (int p = 0; p < nparts; p++) {
		block(0, in->dims[dim], p, nparts, &held.lo[dim],
		      &held.hi[dim]);
		sum = saturated_add(sum,
				    box_volume_less(&s->parts[p].inputs[input],
						    &held));
	}
	return sum;
}

/* The least fetched() over all dimensions that can be cut.  An input without
 * such a dimension counts as replicated. */
static int64_t least_fetched(const kernel *k, int input,
			     const explain_strategy *s, int nparts)
{
	const kinput *in = &k->inputs[input];
	int64_t least = -1;
	for (int d = 0; d < in->ndim; d++) {
		if (in->dims[d] < nparts)
			continue;
		int64_t n = fetched(k, input, d, s, nparts);
		if (least < 0 || n < least)
			least = n;
	}
	return least < 0 ? 0 : least;
}

static int64_t bytes_of(const kernel *k, const explain_strategy *s, int nparts,
			const int64_t *element_bytes)
{
	int64_t sum = 0;
	for (int i = 0; i < k->ninputs; i++)
		sum = saturated_add(
			sum, saturated_mul(element_bytes[i],
					   least_fetched(k, i, s, nparts)));
	if (s->reducer == RED_NONE)
		return sum;
	int64_t partial = saturated_mul(element_bytes[k->ninputs],
					box_volume(&s->parts[0].output));
	return saturated_add(sum, saturated_mul(partial, nparts - 1));
}

static explain_strategy divide(arena *a, const kernel *k, int var, int nparts,
			       const int64_t *element_bytes)
{
	explain_strategy s = { .var = var,
			       .reducer = strategy_reducer(k, var),
			       .parts = ARENA_ARRAY(a, explain_part, nparts) };
	box space = kernel_space(k);
	for (int p = 0; p < nparts; p++) {
		block(0, k->vars[var].extent, p, nparts, &space.lo[var],
		      &space.hi[var]);
		s.parts[p].inputs = ARENA_ARRAY(a, box, k->ninputs);
		kernel_needs(k, &space, s.parts[p].inputs);
		s.parts[p].output = kernel_produces(k, &space);
	}
	s.bytes = bytes_of(k, &s, nparts, element_bytes);
	return s;
}

explanation explain_kernel(arena *a, const kernel *k, int nparts,
			   const int64_t *element_bytes)
{
	explanation e = { .k = nparts };
	e.strategies = ARENA_ARRAY(a, explain_strategy, k->nvars);
	e.why_not = ARENA_ARRAY(a, const char *, k->nvars);
	for (int v = 0; v < k->nvars; v++) {
		int64_t n = k->vars[v].extent;
		if (!strategy_offered(k, v, &e.why_not[v]))
			continue;
		if (n < nparts)
			e.why_not[v] = arena_printf(
				a, "it has %lld element%s, fewer than the %d "
				"parts", (long long)n, n == 1 ? "" : "s",
				nparts);
		else
			e.strategies[e.n++] = divide(a, k, v, nparts,
						     element_bytes);
	}
	return e;
}
