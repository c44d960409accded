/* Exact splits as placements of whole operators, for comparison: least load,
 * and least peak of stages. */
#include "config.h"

#include <math.h>

#include "compiler/placement/load.h"
#include "compiler/placement/stages.h"
#include "compiler/placement/task.h"

bool place_takes_loads(const machine *m)
{
	return m->alike && m->nlevels == 1 &&
	       m->g->ncolours <= LOAD_MAX_GROUPS;
}

/* The least load of contiguous splits, without processor cores. */
int *place_least_load(arena *a, const place_task *t)
{
	const machine *m = t->m->loads;
	const load_options o = { .accelerators = t->m->ndevices,
				 .memory_nbytes = m->most_limit,
				 .transfer_ns = m->move[0],
				 .nbytes = m->resident,
				 .deadline = t->deadline };
	const load_result *r = load_contiguous(a, m->g, &o);
	return r ? r->device : NULL;
}

bool place_takes_stages(const machine *m)
{
	return m->alike && m->g->format == COST_FORMAT_PIPEDREAM &&
	       m->g->nops / 2 <= SPLIT_MAX_LAYERS;
}

static bool keeps_limits(const machine *m, const int *place)
{
	arena *work = arena_new();
	int64_t *resident = ARENA_ARRAY(work, int64_t, m->ndevices);
	bool keeps = true;
	for (int v = 0; v < m->g->nops; v++) {
		int d = place[v];
		resident[d] += m->resident[v];
		keeps = keeps && resident[d] <= m->limit[d];
	}
	arena_free(work);
	return keeps;
}

/* The least peak of as many stages as there are devices, under 1F1B with four
 * micro-batches per device.  The memory limit is not considered. */
int *place_least_peak(arena *a, const place_task *t)
{
	const machine *m = t->m;
	arena *work = arena_new();
	const layer_chain *l = layer_chain_new(work, m->g);
	const stage_model x = {
		.schedule = SCHEDULE_1F1B, .micro_batches = 4 * m->ndevices,
		.factor = m->factor,
		.bandwidth = m->bandwidth > 0 ? m->bandwidth : INFINITY,
		.chunks = 1 };
	const split_problem p = { layer_intervals(work, l, &x), m->ndevices,
				  stage_in_flight(work, &x, m->ndevices),
				  x.micro_batches, INFINITY };
	int *place = NULL;
	split best;
	if (m->ndevices <= l->n && split_least_peak(work, &p, &best))
		place = stages_placement(a, m->g, l, &best, m->ndevices);
	arena_free(work);
	return place && keeps_limits(m, place) ? place : NULL;
}
