#include "config.h"

#include "compiler/placement/capture_find.h"

#include <math.h>

#include "base/clock.h"

bool capture_find(arena *a, const layer_table *t, const capture_request *r,
		    bool frontier, capture_found *to)
{
	double begun = clock_seconds();
	capture_request plain = *r;
	*to = (capture_found){ 0 };
	if (!capture_best(a, t, r, &to->best))
		return false;
	if (frontier)
		to->frontier = capture_frontier(a, t, r);
	plain.objective = CAPTURE_TIME;
	plain.plain = true;
	plain.recompute = plain.uneven = false;
	to->has_fastest = capture_best(a, t, &plain, &to->fastest);
	to->seconds = clock_seconds() - begun;
	return true;
}

/* ---- where nothing fits ------------------------------------------------- */

int capture_exceeding_stage(arena *a, const layer_table *t,
			    const capture_request *r, capture_plan *least)
{
	capture_request any = *r;
	int worst = 0;
	any.objective = CAPTURE_PEAK;
	any.cap = INFINITY;
	if (!capture_best(a, t, &any, least))
		return -1;
	for (int s = 1; s < least->nstages; s++)
		if (least->at[s].peak > least->at[worst].peak)
			worst = s;
	return worst;
}

/* Adds a remedy if plans fit with the changed request.  A request that is too
 * large is not tried. */
static bool add_if_fits(arena *a, const layer_table *t,
			const capture_request *changed, remedy x, remedies *to)
{
	arena *own = arena_new();
	capture_request r = *changed;
	capture_plan p;
	r.objective = CAPTURE_PEAK;
	bool fits = capture_fits(t, &r) && capture_best(own, t, &r, &p);
	arena_free(own);
	if (!fits)
		return false;
	x.nbytes = p.peak;
	vec_push(a, to, x);
	return true;
}

static void try_devices(arena *a, const layer_table *t,
			const capture_request *of, remedies *to)
{
	capture_request r = *of;
	for (r.devices = 2 * of->devices; r.devices <= LAYERS_MAX_DEVICES &&
	     r.devices <= 8 * of->devices; r.devices *= 2)
		if (add_if_fits(a, t, &r,
				(remedy){ REMEDY_DEVICES, .number = r.devices },
				to))
			break;
}

remedies capture_remedies(arena *a, const layer_table *t,
			  const capture_request *r)
{
	remedies all = { 0 };
	capture_request recomputed = *r, uneven = *r, any = *r;
	recomputed.recompute = uneven.uneven = true;
	any.micro_batches = 0;
	if (!r->recompute)
		add_if_fits(a, t, &recomputed,
			    (remedy){ .kind = REMEDY_RECOMPUTE }, &all);
	if (!r->uneven)
		add_if_fits(a, t, &uneven, (remedy){ .kind = REMEDY_UNEVEN },
			    &all);
	if (r->micro_batches != 0)
		add_if_fits(a, t, &any,
			    (remedy){ .kind = REMEDY_MICRO_BATCHES }, &all);
	try_devices(a, t, r, &all);
	return all;
}
