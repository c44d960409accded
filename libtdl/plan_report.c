#include "config.h"

#include "libtdl/plan_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "layout/layout_text.h"
#include "libtdl/plan_speed.h"
#include "libtdl/plan_stages.h"

json_t *plan_mesh_json(const mesh *m)
{
	json_t *all = json_array();
	for (int a = 0; a < m->naxes; a++)
		json_array_append_new(all, json_integer(m->size[a]));
	return all;
}

static json_t *bytes_json(const int64_t *bytes, int n)
{
	json_t *all = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(all, json_integer(bytes[i]));
	return all;
}

static json_t *layout_json(arena *a, const mesh *m, const cuts *c)
{
	json_t *all = json_array();
	for (int i = 0; i < m->naxes; i++)
		json_array_append_new(
			all, json_string(layout_axis_text(a, c->dim[i])));
	return all;
}

/* The role of a tensor in the model, as one word. */
static const char *kind_of(const graph *g, const tensor *t)
{
	tensor_id of = t->gradient_of;
	if (t->parameter)
		return "parameter";
	if (t->kind == TENSOR_STATE)
		return "state";
	if (t->kind == TENSOR_INPUT)
		return "input";
	if (t->kind == TENSOR_CONSTANT)
		return "constant";
	return of != NONE && g->tensors[of].parameter ? "gradient" : "result";
}

static json_t *tensors_json(arena *a, const plan_result *r)
{
	const assignment *as = &r->search->assignment;
	json_t *all = json_array();
	for (int i = 0; i < r->graph->ntensors; i++) {
		const tensor *t = &r->graph->tensors[i];
		json_t *shape = bytes_json(t->type.dims, t->type.ndim);
		json_array_append_new(
			all,
			json_pack("{s:s,s:s,s:o,s:I,s:o}", "name", t->name,
				  "kind", kind_of(r->graph, t),
				  "shape", shape, "bytes",
				  (json_int_t)tensor_nbytes(&t->type),
				  "layout",
				  layout_json(a, &as->mesh,
					      &as->tensor_cuts[i])));
	}
	return all;
}

static json_t *operators_json(arena *tmp, const plan_result *r)
{
	const assignment *as = &r->search->assignment;
	json_t *all = json_array();
	for (int i = 0; i < r->graph->nnodes; i++) {
		const node *n = &r->graph->nodes[i];
		json_t *strategy = json_array();
		for (int a = 0; a < as->mesh.naxes; a++) {
			const char *by = layout_division_text(
				tmp, n->kernel, as->node_cuts[i].dim[a]);
			json_array_append_new(strategy, by ? json_string(by)
							   : json_null());
		}
		json_t *bytes = bytes_json(r->search->node_bytes[i],
					   as->mesh.naxes);
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:o,s:o}", "name", n->name,
				       "op", n->op, "strategy", strategy,
				       "bytes", bytes));
	}
	return all;
}

static json_t *optimal_json(const search_result *s)
{
	json_t *all = json_array();
	for (int a = 0; a < s->assignment.mesh.naxes; a++)
		json_array_append_new(all,
				      json_boolean(s->optimal_by_step[a]));
	return all;
}

static json_t *least_json(const search_result *s)
{
	json_t *all = json_array();
	for (int a = 0; a < s->assignment.mesh.naxes; a++)
		json_array_append_new(all,
				      s->least_by_step[a] < 0 ? json_null() :
				      json_integer(s->least_by_step[a]));
	return all;
}

/* Counts the program's transfers of each kind. */
void plan_count_transfers(const plan *p, int *counts)
{
	for (int c = 0; c < COLL_COUNT; c++)
		counts[c] = 0;
	for (int i = 0; i < p->ninstrs; i++)
		if (plan_moves(&p->program[i]))
			counts[p->program[i].collective]++;
}

static json_t *transfers_json(const plan *p)
{
	int counts[COLL_COUNT];
	json_t *j = json_object();
	plan_count_transfers(p, counts);
	for (int c = 0; c < COLL_COUNT; c++)
		json_object_set_new(j, collective_name((collective)c),
				    json_integer(counts[c]));
	return j;
}

static json_t *own_costs_json(const search_costs *c)
{
	if (!c->unit)
		return json_null();
	return json_pack("{s:s,s:I,s:o,s:I,s:I}", "unit", c->unit, "total",
			 (json_int_t)c->total, "any_counts",
			 c->relaxed_bound < 0
				 ? json_null()
				 : json_integer(c->relaxed_bound),
			 "data_parallel", (json_int_t)c->data_parallel,
			 "one_device", (json_int_t)c->one_device);
}

static void set_int(json_t *j, const char *key, int64_t v)
{
	json_object_set_new(j, key, json_integer(v));
}

json_t *plan_loop_json(const plan_loop *o)
{
	if (o->turns == 0)
		return json_null();
	return json_pack("{s:i,s:I,s:b}", "turns", o->turns, "batch",
			 (json_int_t)o->batch, "statistics", o->statistics);
}

/* NULL if no number was left open. */
json_t *plan_tried_json(const plan_result *r)
{
	json_t *all = r->tried.n > 0 ? json_array() : json_null();
	for (int i = 0; i < r->tried.n; i++) {
		const plan_try *x = &r->tried.at[i];
		json_array_append_new(all, json_pack(
			"{s:i,s:f,s:I,s:I}", "turns", x->turns,
			"predicted_seconds", x->seconds, "communication_bytes",
			(json_int_t)x->bytes, "peak_bytes_per_device",
			(json_int_t)x->memory));
	}
	return all;
}

json_t *plan_report_search(const plan_result *r)
{
	const search_result *s = r->search;
	const mesh *m = &s->assignment.mesh;
	json_t *j = json_object(), *model = json_object();
	json_t *bound = s->lower_bound < 0 ? json_null()
					   : json_integer(s->lower_bound);
	set_int(model, "total", s->total);
	json_object_set_new(model, "by_step", bytes_json(s->by_step, m->naxes));
	json_object_set_new(j, "model", json_string(r->graph->name));
	json_object_set_new(j, "train",
			    json_boolean(r->graph->training));
	json_object_set_new(j, "algorithm", json_string(s->algorithm));
	json_object_set_new(j, "objective", json_string(r->objective));
	set_int(j, "devices", mesh_workers(m));
	json_object_set_new(j, "mesh", plan_mesh_json(m));
	json_object_set_new(j, "micro_batches",
			    plan_loop_json(&r->plan->loop));
	json_object_set_new(j, "micro_batches_tried", plan_tried_json(r));
	set_int(j, "operators", r->graph->nnodes);
	set_int(j, "tensors", r->graph->ntensors);
	set_int(j, "parameters_bytes", graph_parameter_bytes(r->graph));
	set_int(j, "flops", graph_flops(r->graph));
	json_object_set_new(j, "byte_model", model);
	set_int(j, "communication_bytes", r->plan->communication_bytes);
	json_object_set_new(j, "transfers", transfers_json(r->plan));
	int reductions, buckets = plan_buckets(r->plan, &reductions);
	set_int(j, "buckets", buckets);
	set_int(j, "bucketed_reductions", reductions);
	set_int(j, "peak_bytes_per_device", r->plan->arena_bytes);
	set_int(j, "peak_bytes_one_device", r->one_device_bytes);
	set_int(j, "copies_bytes_per_gpu", r->plan->copies_bytes);
	if (r->plan->kept_bytes > 0)
		set_int(j, "kept_bytes_per_worker", r->plan->kept_bytes);
	json_object_set_new(j, "predicted_seconds", json_real(r->seconds));
	json_object_set_new(j, "predicted_seconds_one_device",
			    json_real(r->one_device_seconds));
	json_object_set_new(j, "predicted_parts",
			    json_pack("{s:f,s:f}", "computation",
				      r->computation, "communication",
				      r->communication));
	json_object_set_new(j, "predicted_for", json_string(r->machine));
	plan_speed_json(j, r);
	json_object_set_new(j, "machine_memory",
			    r->machine_memory > 0
				    ? json_integer(r->machine_memory)
				    : json_null());
	json_object_set_new(j, "search_seconds", json_real(s->seconds));
	json_object_set_new(j, "optimal_by_step", optimal_json(s));
	json_object_set_new(j, "least_by_step", least_json(s));
	json_object_set_new(j, "lower_bound", bound);
	json_object_set_new(j, "proven", json_boolean(r->proven));
	json_object_set_new(j, "proof", r->proof ? json_string(r->proof)
						 : json_null());
	json_object_set_new(j, "own_costs", own_costs_json(&s->own));
	json_object_set_new(j, "note",
			    s->note ? json_string(s->note) : json_null());
	return j;
}

json_t *plan_report_json(const plan_result *r)
{
	if (r->pipeline)
		return plan_stages_json(r);
	arena *tmp = arena_new();
	json_t *j = plan_report_search(r);
	json_object_set_new(j, "tensor_layouts", tensors_json(tmp, r));
	json_object_set_new(j, "operator_strategies", operators_json(tmp, r));
	arena_free(tmp);
	return j;
}

const char *plan_bytes_text(arena *a, int64_t n)
{
	return arena_printf(a, "%s", units_bytes((double)n).text);
}
