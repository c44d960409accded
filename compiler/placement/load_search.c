#include "config.h"

#include "compiler/placement/load_search.h"

#include "base/clock.h"
#include "compiler/placement/judge.h"

/* Moves tried for arbitrary splits; ten million take about a second. */
enum { MOVES = 40000000 };

/* Counts the bytes of each device.  Returns whether a device is a processor
 * core. */
static bool count_bytes(const load_request *r, load_found *to)
{
	bool cores = false;
	for (int v = 0; v < r->g->nops; v++) {
		int d = to->best->device[v];
		cores |= d >= r->o.accelerators;
		to->peak[d] += r->o.nbytes[v];
	}
	return cores;
}

bool load_search(arena *a, const load_request *r, load_found *to)
{
	double begun = clock_seconds();
	*to = (load_found){ .makespan = -1 };
	to->best = load_contiguous(a, r->g, &r->o);
	if (r->any_split)
		to->best = load_any(a, r->g, &r->o, to->best, MOVES);
	to->seconds = clock_seconds() - begun;
	if (!to->best)
		return false;
	to->loads = load_of(a, r->g, &r->o, to->best->device);
	to->peak = ARENA_ARRAY(a, int64_t, r->o.accelerators + r->o.cores);
	if (!count_bytes(r, to))
		to->makespan = judge_run(judge_new(a, r->m), to->best->device,
					 INT64_MAX).makespan;
	return true;
}

load_need load_needs(const cost_graph *g, const load_options *o)
{
	arena *own = arena_new();
	load_need need = { 0 };
	int64_t *of = ARENA_ARRAY(own, int64_t, g->ncolours);
	for (int v = 0; v < g->nops; v++) {
		int64_t *c = &of[g->ops[v].colour];
		*c += o->nbytes[v];
		need.all += o->nbytes[v];
		need.most = *c > need.most ? *c : need.most;
	}
	arena_free(own);
	return need;
}
