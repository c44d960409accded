#include "config.h"

#include "compiler/driver/plan_bounded.h"

#include <string.h>
#include <time.h>

#include "compiler/search/bounded.h"

/* The best so far; lowering is in an arena of its own each time. */
typedef struct keeper {
	driver *d;
	const graph *g;
	const plan_search *how;
	bool found;
	bounded_value value;
	assignment best;
} keeper;

static assignment copy_of(arena *a, const graph *g, const assignment *as)
{
	return (assignment){ as->mesh,
			     ARENA_COPY(a, as->tensor_cuts, g->ntensors),
			     ARENA_COPY(a, as->node_cuts, g->nnodes) };
}

static bool is_better(const keeper *k, const bounded_value *v)
{
	bool memory = k->how->objective == OBJECTIVE_MEMORY;
	if (memory)
		return v->bytes < k->value.bytes;
	if (k->how->memory > 0 && v->bytes > k->how->memory)
		return false;
	return v->seconds < k->value.seconds ||
	       (k->how->memory > 0 && k->value.bytes > k->how->memory);
}

static bool lower(void *to, const assignment *as, bounded_value *v)
{
	keeper *k = to;
	driver one = *k->d;
	const lower_options options = { .algorithm = PLAN_BOUNDED,
					.separate = true,
					.memory = k->how->room };
	one.arena = arena_new();
	const plan *p = plan_lower(&one, k->g, as, &options,
				   k->how->topology);
	if (p) {
		v->seconds = lower_seconds(p, k->how->topology);
		v->bytes = p->arena_bytes;
	}
	if (p && is_better(k, v)) {
		k->found = true;
		k->value = *v;
		k->best = copy_of(k->d->arena, k->g, as);
	}
	arena_free(one.arena);
	return p != NULL;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool plan_bounded(driver *d, const graph *g, const plan_search *how,
		  plan_report *best, plan_proof *proof)
{
	double begin = now();
	keeper k = { .d = d, .g = g, .how = how,
		     .value = { best->seconds, best->plan->arena_bytes } };
	search_request wanted;
	if (!plan_request(d, g, how, &wanted))
		return false;
	const bounded_request q = {
		.graph = g,
		.mesh = wanted.mesh,
		.pins = wanted.pins,
		.topology = how->topology,
		.limit = how->memory,
		.memory = how->objective == OBJECTIVE_MEMORY,
		.start = &best->search->assignment,
		.known = k.value,
		.most_plans = how->most_plans,
		.seconds = how->seconds,
		.lower = lower,
		.to = &k,
	};
	bounded_result r;
	if (!bounded_search(&q, &r))
		return false;
	*proof = (plan_proof){ r.tried, r.proven, r.nplans, now() - begin };
	if (!k.found)
		return true;
	search_result *s = search_given(d->arena, g, &k.best, PLAN_BOUNDED);
	return plan_make_of(d, g, how, s, best);
}
