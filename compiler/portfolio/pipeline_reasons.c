#include "config.h"

#include "compiler/portfolio/pipeline_reasons.h"

#include "compiler/portfolio/pipeline_buckets.h"
#include "compiler/portfolio/pipeline_judge.h"

static double turn_seconds(const pipeline_stage *s)
{
	double all = 0;
	for (int i = 0; i <= PASS_WEIGHT; i++)
		all += s->seconds.pass[i];
	return all;
}

static const char *first_node(const pipeline_layers *l, int layer)
{
	return l->g->nodes[l->first[layer]].name;
}

/* Makes plans with cut q `by' layers later.  Returns false when errors were
 * added. */
static bool try_move(const plan_request *how, const pipeline_result *r, int q,
		     int by, pipeline_move *to)
{
	const pipeline_layers *l = r->layers;
	pipeline_cut cut = *r->cut;
	pipeline_result moved;
	int nparts = cut.nstages * cut.chunks;
	int *first = ARENA_COPY(how->arena, cut.first, nparts + 1);
	*to = (pipeline_move){ 0 };
	first[q] += by;
	if (first[q] <= first[q - 1] || first[q] >= first[q + 1])
		return true;
	cut.first = first;
	to->before = first_node(l, first[q]);
	if (!pipeline_plan(how, l, &cut, NULL, &moved))
		return false;
	pipeline_in_buckets(how, &moved);
	to->refused = moved.refused;
	to->seconds = moved.seconds;
	to->peak_bytes = moved.peak_bytes;
	to->fits = pipeline_fits(how, &moved);
	return true;
}

static void take_next(pipeline_reasons *to, int q, const pipeline_move *x)
{
	if (!x->before || x->refused || !x->fits ||
	    (to->next && to->next->seconds <= x->seconds))
		return;
	to->next = x;
	to->next_cut = q;
}

bool pipeline_reasons_of(const plan_request *how, const pipeline_result *r,
			 pipeline_reasons *to)
{
	const pipeline_cut *cut = r->cut;
	plan_request one = *how;
	one.graph = r->layers->g;
	one.algorithm = r->plan->algorithm;
	one.pins = (pin_texts){ 0 };
	*to = (pipeline_reasons){ .ncuts = cut->nstages * cut->chunks - 1 };
	to->cuts = ARENA_ARRAY(how->arena, pipeline_reason, to->ncuts + 1);
	for (int q = 1; q <= to->ncuts; q++) {
		pipeline_reason *x = &to->cuts[q - 1];
		x->before = first_node(r->layers, cut->first[q]);
		x->nbytes = r->layers->crossing[cut->first[q]];
		for (int i = 0; i < 2; i++) {
			int s = x->stage[i] = (q - 1 + i) % cut->nstages;
			x->seconds[i] = turn_seconds(&r->stages[s]);
			x->peak_bytes[i] = r->plan->stages[s].arena_bytes;
		}
		if (!try_move(&one, r, q, -1, &x->earlier) ||
		    !try_move(&one, r, q, 1, &x->later))
			return false;
		take_next(to, q - 1, &x->earlier);
		take_next(to, q - 1, &x->later);
	}
	return true;
}
