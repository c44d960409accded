#include "config.h"

#include "libtdl/plan_diff.h"

#include <string.h>

#include "base/intern.h"
#include "layout/layout_text.h"
#include "libtdl/plan_report.h"

static const char *layouts_text(arena *a, const plan *p, const plan_tensor *t)
{
	const char *text = p->mesh.naxes ? "" : "whole";
	for (int i = 0; i < p->mesh.naxes; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    layout_axis_text(a, t->cuts.dim[i]));
	if (p->loop.turns == 0 || t->time == CUT_NONE)
		return text;
	return arena_printf(a, "%s; over time %s", text,
			    layout_axis_text(a, t->time));
}

static const char *strategy_text(arena *a, const plan *p, const plan_node *n)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	const char *text = p->mesh.naxes ? "" : "whole";
	for (int i = 0; i < p->mesh.naxes; i++) {
		int v = n->cuts.dim[i];
		const char *what = layout_division_text(a, k, v);
		text = arena_printf(a, "%s%s%s%s", text, i ? ", " : "",
				    v >= 0 ? "by " : "", what ? what : "whole");
	}
	if (p->loop.turns == 0 || n->time == CUT_NONE)
		return text;
	return arena_printf(a, "%s; over time by %s", text,
			    layout_division_text(a, k, n->time));
}

/* Adds what a name means in stage s. */
static void add_text(arena *a, strmap *all, const plan_pipeline *p, int s,
		     const char *name, const char *text)
{
	const char *before = strmap_get(all, name);
	if (!pipeline_is_plan(p))
		text = arena_printf(a, "%s%sstage %d: %s", before ? before : "",
				    before ? "; " : "", s, text);
	strmap_put(all, name, (void *)text);
}

/* Describes all tensors, or all operators, of a plan, by name. */
static strmap *texts_of(arena *a, const plan_pipeline *p, bool operators)
{
	strmap *all = strmap_new(a);
	for (int s = 0; s < p->nstages; s++) {
		const plan *q = &p->stages[s];
		for (int i = 0; !operators && i < q->ntensors; i++)
			add_text(a, all, p, s, q->tensors[i].name,
				 layouts_text(a, q, &q->tensors[i]));
		for (int i = 0; operators && i < q->nnodes; i++)
			add_text(a, all, p, s, q->nodes[i].name,
				 strategy_text(a, q, &q->nodes[i]));
	}
	return all;
}

/* The differences in the order of the first plan, then names that only the
 * second plan has. */
plan_differences plan_compare(const plan_pair *d, bool operators)
{
	strmap *was = texts_of(d->arena, d->plan[0], operators);
	strmap *is = texts_of(d->arena, d->plan[1], operators);
	plan_differences all = { 0 };
	for (int i = 0; i < strmap_count(was); i++) {
		plan_difference x = { strmap_key(was, i), strmap_value(was, i),
				 strmap_get(is, strmap_key(was, i)) };
		if (!x.is || strcmp(x.was, x.is))
			vec_push(d->arena, &all, x);
	}
	for (int i = 0; i < strmap_count(is); i++) {
		plan_difference x = { strmap_key(is, i), NULL,
				      strmap_value(is, i) };
		if (!strmap_get(was, x.name))
			vec_push(d->arena, &all, x);
	}
	return all;
}

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *differences_json(const plan_differences *all)
{
	json_t *list = json_array();
	for (int i = 0; i < all->n; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:o,s:o}", "name",
					all->at[i].name, "from",
					text_json(all->at[i].was), "to",
					text_json(all->at[i].is)));
	return list;
}

int plan_micro_batches(const plan_pipeline *p)
{
	return p->stages[0].loop.turns > 0 ? p->stages[0].loop.turns : 1;
}

int64_t plan_most_memory(const plan_pipeline *p)
{
	int64_t most = 0;
	for (int s = 0; s < p->nstages; s++)
		if (p->stages[s].arena_bytes > most)
			most = p->stages[s].arena_bytes;
	return most;
}

int plan_all_buckets(const plan_pipeline *p, int *reductions)
{
	int n = 0, own;
	*reductions = 0;
	for (int s = 0; s < p->nstages; s++) {
		n += plan_buckets(&p->stages[s], &own);
		*reductions += own;
	}
	return n;
}

/* [{"devices", "mesh", "operators", "peak_bytes"}], of several stages. */
static json_t *stages_json(const plan_pipeline *p)
{
	json_t *all = json_array();
	for (int s = 0; s < p->nstages; s++) {
		const plan *q = &p->stages[s];
		json_array_append_new(
			all, json_pack("{s:i,s:o,s:i,s:I}", "devices",
				       mesh_workers(&q->mesh), "mesh",
				       plan_mesh_json(&q->mesh), "operators",
				       q->nnodes, "peak_bytes",
				       (json_int_t)q->arena_bytes));
	}
	return all;
}

static json_t *plan_json(const plan_pair *d, int i)
{
	const plan_pipeline *p = d->plan[i];
	bool one = pipeline_is_plan(p);
	int reductions, buckets = plan_all_buckets(p, &reductions);
	return json_pack(
		"{s:s,s:s,s:i,s:i,s:i,s:i,s:o,s:s?,s:o,s:I,s:I,s:f,s:s}",
		"model", p->model, "algorithm", p->algorithm, "devices",
		pipeline_first(p, p->nstages), "micro_batches",
		plan_micro_batches(p), "buckets", buckets,
		"bucketed_reductions", reductions, "mesh",
		one ? plan_mesh_json(&p->stages[0].mesh) : json_null(),
		"schedule", p->schedule, "stages",
		one ? json_null() : stages_json(p),
		"communication_bytes", (json_int_t)p->communication_bytes,
		"peak_bytes_per_device", (json_int_t)plan_most_memory(p),
		"predicted_seconds", d->seconds[i], "predicted_for",
		d->machine->name);
}

json_t *plan_diff_json(const plan_pair *d, const plan_differences *tensors,
			 const plan_differences *operators)
{
	json_t *plans = json_array();
	for (int i = 0; i < 2; i++)
		json_array_append_new(plans, plan_json(d, i));
	return json_pack("{s:o,s:o,s:o}", "plans", plans, "tensors",
			 differences_json(tensors), "operators",
			 differences_json(operators));
}
