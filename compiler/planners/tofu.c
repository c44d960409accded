/* The recursive search (Tofu, EuroSys'19, section 5.2).  At each step every
 * tensor is cut along one dimension and every operator is divided along one
 * variable, with the least total cost. */
#include "config.h"

#include "compiler/planners/planner.h"

enum { WORTH_A_NOTE = 1 }; /* percent that is not cut */

static void plan(search *s)
{
	const rules all = { .dims = rules_all_dims, .vars = rules_all_vars,
			    .complete = true };
	search_by_step(s, &all);
	s->result->note = planner_note_whole(s->arena, s->graph, s->result,
					     WORTH_A_NOTE);
}

const planner planner_tofu = {
	.name = "tofu",
	.about = "recursive search, every tensor cut over all devices",
	.plan = plan,
	.effort = 3,
	.proves = SEARCH_PROVES_STEPS,
};
