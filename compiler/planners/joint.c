/* The planner `joint'.  It makes the same choices as `tofu', but for all axes
 * of the mesh together.  The result is the best plan that cuts every tensor
 * once per axis, or leaves it partial where that is possible.  Unlike in
 * `tofu', the first axis may move more bytes if the later ones save them. */
#include "config.h"

#include <inttypes.h>

#include "compiler/planners/planner.h"

enum { WORTH_A_NOTE = 1 }; /* percent that is not cut */

static void plan(search *s)
{
	arena *tmp = arena_new();
	const rules all = {
		.dims = rules_all_dims, .vars = rules_all_vars,
		.complete = true,
		.uniform = true,
		.partial = partial_values_of(tmp, s->graph, PARTIAL_CHEAP),
	};
	search_jointly(s, &all);
	arena_free(tmp);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result,
					     WORTH_A_NOTE);
}

const planner planner_joint = {
	.name = "joint",
	.about = "all axes in one problem, starting from the plan of tofu",
	.plan = plan,
	.effort = 50,
	.proves = SEARCH_PROVES_PLANS,
};
