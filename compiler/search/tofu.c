/* The recursive search (Tofu, EuroSys'19, section 5.2): at each step every
 * tensor is cut along some dimension and every operator divided along some
 * variable, whichever are the best together. */
#include "config.h"

#include "compiler/search/planner.h"

static choices dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return step_dims(s, t);
}

static choices vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return step_vars(s, n);
}

enum { WORTH_A_NOTE = 1 }; /* percent that is not cut */

static void plan(search *s)
{
	const rules all = { .dims = dims, .vars = vars, .complete = true };
	search_by_step(s, &all);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result,
					     WORTH_A_NOTE);
}

const planner planner_tofu = {
	.name = "tofu",
	.about = "recursive search, every tensor cut over all devices",
	.plan = plan,
};
