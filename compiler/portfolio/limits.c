#include "config.h"

#include "compiler/portfolio/limits.h"

#include <string.h>

#include "compiler/portfolio/candidates.h"
#include "compiler/portfolio/complete_search.h"
#include "compiler/portfolio/one_planner.h"

/* Whether the model fits on k devices.  For `auto': whether the recursive
 * search finds a plan that fits or, on a small graph, whether any plan does. */
static bool fits_on(const plan_request *how, int k)
{
	enum { MOST_PLANS = 64 };
	bool best = !strcmp(how->algorithm, PLAN_AUTO);
	plan_request more = plan_roomy(how);
	plan_candidates one = { 0 };
	plan_candidate *c;
	plan_proof proof = { 0 };
	mesh m;
	more.k = k;
	more.most_plans = MOST_PLANS;
	if (!topology_mesh(how->topology, k, &m) ||
	    !plan_is_countable(how->sink, how->graph, k) ||
	    !plan_add(&more, best ? "tofu" : how->algorithm, &one) ||
	    one.n == 0 || !plan_best(&more, &one, &c))
		return false;
	more.objective = OBJECTIVE_MEMORY;
	if (best && !program_fits(&c->program, how->memory) &&
	    !plan_bounded(&more, false, c, &proof))
		return false;
	return program_fits(&c->program, how->memory);
}

int plan_enough_devices(const plan_request *how)
{
	enum { MOST_TRIED = 16, MOST_DEVICES = 1024 };
	int first = how->k, stride = (first + MOST_TRIED - 1) / MOST_TRIED;
	for (int k = first + stride; k < 2 * first; k += stride)
		if (fits_on(how, k))
			return k;
	for (int k = 2 * first; k <= MOST_DEVICES; k *= 2)
		if (fits_on(how, k))
			return k;
	return 0;
}
