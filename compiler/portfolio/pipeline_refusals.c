#include "config.h"

#include "compiler/portfolio/pipeline_refusals.h"

static void add_reason(arena *a, const char **to, int n, const char *what,
		       const char *last)
{
	if (n > 0)
		*to = arena_printf(a, "%s%s %d %s%s%s%s", *to,
				   **to ? "," : "; refused were", n, what,
				   last ? " (" : "", last ? last : "",
				   last ? ")" : "");
}

/* The reasons why each try gave no plan. */
static const char *reasons(arena *a, const pipeline_refusals *r,
			   const graph_turns *t)
{
	const char *all = "";
	add_reason(a, &all, r->full, "for memory", NULL);
	add_reason(a, &all, r->wayless, "for want of layouts", NULL);
	add_reason(a, &all, r->batches, "for the batch",
		   arena_printf(a, "a micro-batch has %lld samples",
				(long long)(t->batch / t->turns)));
	add_reason(a, &all, r->meshes, "for the machine",
		   "a stage would lie across a level that it does not fill");
	add_reason(a, &all, r->ways, "by planners of layouts", r->way);
	add_reason(a, &all, r->plans, "when planned", r->plan);
	return all;
}

const char *pipeline_refusals_text(const plan_request *how,
				   const pipeline_refusals *r,
				   const pipeline_layers *l)
{
	return arena_printf(how->arena, "no division of %d layers among %d "
			    "devices of '%s' was found%s", l->n, how->k,
			    how->topology->name,
			    reasons(how->arena, r, l->g->turns));
}

const char *pipeline_impossible(const plan_request *how,
				const pipeline_aims *aims,
				const pipeline_layers *l)
{
	int n = aims->nstages, k = how->k, layers = l->n, d = aims->replicas;
	arena *a = how->arena;
	if (layers == 0)
		return "the model has no layers: nothing reads a weight";
	if (n > k)
		return arena_printf(a, "%d device%s cannot make %d stages", k,
				    k == 1 ? "" : "s", n);
	if (n * aims->chunks > layers)
		return arena_printf(a, "%d layer%s cannot make %d %s", layers,
				    layers == 1 ? "" : "s", n * aims->chunks,
				    aims->chunks > 1 ? "chunks" : "stages");
	if (d && (k % d || (int64_t)n * d > k))
		return arena_printf(a, "%d device%s cannot make %s of %d "
				    "replicas each", k, k == 1 ? "" : "s",
				    n ? arena_printf(a, "%d stage%s", n,
						     n == 1 ? "" : "s")
				      : "stages", d);
	return NULL;
}
