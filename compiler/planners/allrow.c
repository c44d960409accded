/* The AllRow-Greedy planner (Tofu, EuroSys'19, section 7.3).  Every tensor is
 * cut along its first dimension that is long enough.  Every operator is divided
 * by the best strategy for these cuts. */
#include "config.h"

#include "compiler/planners/planner.h"

static choices dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return choices_one(step_dims(s, t).at[0]);
}

static choices vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return step_vars(s, n);
}

static void plan(search *s)
{
	const rules rows = { .dims = dims, .vars = vars };
	search_by_step(s, &rows);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result, 0);
}

const planner planner_allrow = {
	.name = "allrow",
	.about = "every tensor along its first dimension that is long enough",
	.plan = plan,
	.proves = SEARCH_PROVES_STEPS,
	.among = "that cut tensors by rows",
};
