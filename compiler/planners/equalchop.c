/* The EqualChop planner: Tofu's search with each tensor cut along one dimension
 * only (Tofu, EuroSys'19, section 7.3).  All axes cut the same dimension and
 * divide the same variable. */
#include "config.h"

#include "compiler/planners/planner.h"

/* The choices of c that all axes can make.  At the first axis these are the
 * ones with an element for every device, at later axes the choice of the first.
 * If there is no such choice, all of c. */
static choices repeat(const step *s, choices c, const cuts *before,
		      const int64_t *extents, int k)
{
	choices some = { 0 };
	int axis = step_axis(s), first = axis ? before->dim[0] : CUT_NONE;
	if (first != CUT_NONE && extents[first] >= k)
		return choices_have(&c, first) ? choices_one(first) : some;
	for (int i = 0; i < c.n; i++)
		if (c.at[i] != CUT_NONE && extents[(int)c.at[i]] >= k)
			some.at[some.n++] = c.at[i];
	return some.n ? some : c;
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	const int *k = state;
	return repeat(s, step_dims(s, t), &s->as->tensor_cuts[t],
		      s->g->tensors[t].type.dims, *k);
}

static choices vars(const void *state, const step *s, node_id n)
{
	const int *k = state;
	const kernel *of = s->g->nodes[n].kernel;
	int64_t extents[MAX_NVARS];
	for (int v = 0; v < of->nvars; v++)
		extents[v] = of->vars[v].extent;
	return repeat(s, step_vars(s, n), &s->as->node_cuts[n], extents, *k);
}

static void plan(search *s)
{
	const rules same = { .dims = dims, .vars = vars, .state = &s->k,
			     .uniform = true };
	search_jointly(s, &same);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result, 0);
}

const planner planner_equalchop = {
	.name = "equalchop",
	.about = "every tensor along one dimension only, the best one",
	.plan = plan,
	.effort = 8,
	.proves = SEARCH_PROVES_PLANS,
	.among = "that cut each tensor along one dimension",
};
