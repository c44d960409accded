/* What tofu chooses from, for all axes of the mesh together: the best plan that
 * cuts every tensor once per axis, however many bytes the first axis takes. */
#include "config.h"

#include <inttypes.h>

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
	search_at_once(s, &all);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result,
					     WORTH_A_NOTE);
}

const planner planner_joint = {
	.name = "joint",
	.about = "all axes in one problem, from the plan of tofu on",
	.plan = plan,
};
