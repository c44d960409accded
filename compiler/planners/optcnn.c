/* The layer-wise search for convolutional networks (OptCNN: Jia, Lin, Qi,
 * Aiken, ICML'18), in the form that Tofu compares itself with (EuroSys'19,
 * section 7.3).  Tensors are cut in any number of dimensions, for all devices
 * at once.  No operator is divided along a dimension that it reduces. */
#include "config.h"

#include "compiler/planners/planner.h"

static choices dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return step_dims(s, t);
}

/* The strategies that leave no partial results, as choices. */
static choices vars(const void *state, const step *s, node_id n)
{
	(void)state;
	choices all = step_vars(s, n), some = { 0 };
	for (int i = 0; i < all.n; i++)
		if (all.at[i] < s->g->nodes[n].kernel->nout)
			some.at[some.n++] = all.at[i];
	return some.n ? some : choices_one(CUT_NONE);
}

static void plan(search *s)
{
	const rules some = { .dims = dims, .vars = vars, .uniform = true };
	search_jointly(s, &some);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result, 0);
}

const planner planner_optcnn = {
	.name = "optcnn",
	.about = "all axes in one problem, nothing divided along a reduction",
	.plan = plan,
	.effort = 50,
	.proves = SEARCH_PROVES_PLANS,
	.among = "that divide nothing along a sum",
};
