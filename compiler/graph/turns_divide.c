/* The variables of a kernel by which time can divide it. */
#include "config.h"

#include "compiler/graph/turns.h"
#include "kernel/eval.h"
#include "kernel/monotone.h"

/* Whether an extent has equally many elements for each sample. */
static bool holds_batch(const graph_turns *t, int64_t extent)
{
	return extent > 0 && extent % t->batch == 0;
}

/* The part [*lo, *hi) of an extent in a turn. */
static void part_of(const graph_turns *t, int turn, int64_t extent, int64_t *lo,
		    int64_t *hi)
{
	int64_t each = extent / t->batch;
	turns_samples(t, turn, lo, hi);
	*lo *= each;
	*hi *= each;
}

/* Whether the index in dimension d of input i follows variable v. */
static bool follows(const kernel *k, int v, int i, int d)
{
	uint32_t vars[MAX_NDIM];
	kernel_need_vars(k, i, vars);
	return vars[d] >> v & 1;
}

/* A single sample, or none, would lie inside wherever it is read, so then the
 * index decides. */
bool turns_reads_own(const graph_turns *t, const kernel *k, int v, int i,
		     int d)
{
	bool tells = false, inside = holds_batch(t, k->inputs[i].dims[d]);
	for (int turn = 0; inside && turn < t->turns; turn++) {
		box space = kernel_space(k);
		int64_t lo, hi;
		part_of(t, turn, k->vars[v].extent, &space.lo[v], &space.hi[v]);
		box need = kernel_need(k, &space, i);
		bool any = !box_is_empty(&need);
		part_of(t, turn, k->inputs[i].dims[d], &lo, &hi);
		inside = !any || (need.lo[d] >= lo && need.hi[d] <= hi);
		tells |= any && t->batch > 1;
	}
	return inside && (tells || follows(k, v, i, d));
}

bool turns_combines(reducer r, dtype type)
{
	reducer_neutral n = reducer_table[r].neutral;
	bool bounded = n == NEUTRAL_LEAST || n == NEUTRAL_GREATEST;
	return !reducer_is_where(r) && (!bounded || elem_has_infinity(type)) &&
	       (n != NEUTRAL_ZERO || elem_has_zero(type));
}

bool turns_may_divide(const graph_turns *t, const kernel *k, int v)
{
	const kvar *x = &k->vars[v];
	if (x->indivisible_reason || x->kind == KVAR_DERIVED ||
	    !holds_batch(t, x->extent))
		return false;
	return x->kind == KVAR_OUTPUT || turns_combines(k->reducer, k->type);
}
