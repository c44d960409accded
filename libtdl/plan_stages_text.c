/* Plans of several stages as JSON and as text. */
#include "config.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/portfolio/pipeline_plan.h"
#include "libtdl/plan_diff.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_speed.h"
#include "libtdl/plan_stages.h"
#include "libtdl/stages_view.h"

static double seconds_of(const pipeline_stage *s)
{
	double all = 0;
	for (int i = 0; i <= PASS_WEIGHT; i++)
		all += s->seconds.pass[i];
	return all;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *stage_json(const pipeline_stage *s, const plan *p)
{
	return json_pack(
		"{s:i,s:i,s:o,s:i,s:s,s:s,s:s,s:I,s:f,s:f,s:f,s:I,s:i}",
		"devices", s->way.devices, "replicas", s->way.replicas, "mesh",
		plan_mesh_json(&p->mesh), "layers", s->nlayers,
		"first", s->first_node, "last", s->last_node, "algorithm",
		s->way.algorithm, "peak_bytes", (json_int_t)p->arena_bytes,
		"seconds", seconds_of(s), "forward_seconds",
		s->seconds.pass[PASS_FORWARD], "once_seconds", s->seconds.once,
		"communication_bytes", (json_int_t)p->communication_bytes,
		"recomputed", stages_recomputed(p));
}

static json_t *stages_json(const pipeline_result *r)
{
	json_t *all = json_array();
	for (int s = 0; s < r->plan->nstages; s++)
		json_array_append_new(all, stage_json(&r->stages[s],
						      &r->plan->stages[s]));
	return all;
}

static int64_t between_stages(const plan_pipeline *p)
{
	int64_t bytes = p->communication_bytes;
	for (int s = 0; s < p->nstages; s++)
		bytes -= p->stages[s].communication_bytes;
	return bytes;
}

json_t *plan_stages_json(const plan_result *r)
{
	const plan_pipeline *p = r->pipeline->plan;
	json_t *micro = plan_loop_json(&p->stages[0].loop);
	json_t *j = json_pack(
		"{s:s,s:b,s:s,s:s,s:i,s:o,s:s,s:o,s:I,s:I,s:I,s:f,s:s}",
		"model", p->model, "train", r->graph->training, "algorithm",
		p->algorithm, "objective", r->objective, "devices",
		pipeline_first(p, p->nstages), "micro_batches", micro,
		"schedule", p->schedule, "stages", stages_json(r->pipeline),
		"communication_bytes", (json_int_t)p->communication_bytes,
		"between_stages_bytes", (json_int_t)between_stages(p),
		"peak_bytes_per_device", (json_int_t)r->pipeline->peak_bytes,
		"predicted_seconds", r->seconds, "predicted_for", r->machine);
	int reductions, buckets = plan_all_buckets(p, &reductions);
	json_object_set_new(j, "buckets", json_integer(buckets));
	json_object_set_new(j, "bucketed_reductions",
			    json_integer(reductions));
	json_object_set_new(j, "operators", json_integer(r->graph->nnodes));
	json_object_set_new(j, "tensors", json_integer(r->graph->ntensors));
	json_object_set_new(j, "parameters_bytes", json_integer(
		graph_parameter_bytes(r->graph)));
	json_object_set_new(j, "flops", json_integer(graph_flops(r->graph)));
	json_object_set_new(j, "machine_memory", r->machine_memory > 0 ?
		json_integer(r->machine_memory) : json_null());
	json_object_set_new(j, "micro_batches_tried", plan_tried_json(r));
	json_object_set_new(j, "division_sampled",
			    json_boolean(r->pipeline->sampled));
	json_object_set_new(j, "note", r->note ? json_string(r->note)
					       : json_null());
	plan_speed_json(j, r);
	return j;
}

/* ---- text -------------------------------------------------------------- */

enum { ITEM_COLUMN = 17 };

static void print_item(FILE *to, const char *label, const char *text)
{
	fprintf(to, "  %-14s ", label);
	text_wrap(to, text, ITEM_COLUMN, ITEM_COLUMN);
}

static void print_buckets(FILE *to, arena *a, const plan_pipeline *p)
{
	int reductions, n = plan_all_buckets(p, &reductions);
	if (n > 0)
		print_item(to, "buckets", arena_printf(
			a, "%d, of %d small reductions", n, reductions));
}

static void print_figures(FILE *to, arena *a, const plan_result *r)
{
	const plan_pipeline *p = r->pipeline->plan;
	const plan_loop *l = &p->stages[0].loop;
	const graph *g = r->graph;
	print_item(to, "model", arena_printf(
		a, "%d operators, %d tensors, %s parameters (%s), %s",
		g->nnodes, g->ntensors,
		units_scaled((double)graph_parameter_nelem(g), "").text,
		plan_bytes_text(a, graph_parameter_bytes(g)),
		units_scaled((double)graph_flops(g), "FLOP").text));
	print_item(to, "micro-batches", arena_printf(
		a, "%d, of %" PRId64 " samples in all, by %s%s", l->turns,
		l->batch, p->schedule, plan_tried_text(a, r)));
	if (stages_recomputed_text(a, p))
		print_item(to, "recomputed", stages_recomputed_text(a, p));
	print_item(to, "communication", arena_printf(
		a, "%s a run, received by all devices; %s of it between "
		"stages", plan_bytes_text(a, p->communication_bytes),
		plan_bytes_text(a, between_stages(p))));
	print_buckets(to, a, p);
	if (r->pipeline->sampled)
		print_item(to, "division", "not proven: of the times that the "
			   "longest stage may take some were tried");
	print_item(to, "memory", arena_printf(
		a, "%s at most per device",
		plan_bytes_text(a, r->pipeline->peak_bytes)));
	print_item(to, "predicted", arena_printf(
		a, "%s a run, for '%s'", units_seconds(r->seconds).text,
		r->machine));
	if (r->topology->profiled)
		print_item(to, "of it", plan_speed_share_text(a, r));
	if (*plan_speed_text(a, r))
		print_item(to, "speed", plan_speed_text(a, r));
	if (r->note)
		print_item(to, "note", r->note);
}

static void print_stages(FILE *to, arena *a, const pipeline_result *r)
{
	fprintf(to, "\n%5s  %7s  %8s  %6s  %8s  %13s  %s\n", "stage", "devices",
		"replicas", "layers", "peak", "a micro-batch", "from");
	for (int s = 0; s < r->plan->nstages; s++) {
		const pipeline_stage *x = &r->stages[s];
		fprintf(to, "%5d  %7d  %8d  %6d  %8s  %s  %s\n", s,
			x->way.devices, x->way.replicas, x->nlayers,
			plan_bytes_text(a, r->plan->stages[s].arena_bytes),
			units_right(units_seconds(seconds_of(x)), 13).text,
			x->first_node);
	}
}

void plan_stages_text(FILE *to, arena *a, const plan_result *r)
{
	const plan_pipeline *p = r->pipeline->plan;
	int n = pipeline_first(p, p->nstages);
	text_wrap(to, arena_printf(
		a, "%s on %d device%s in %d stage%s, planned by %s", p->model,
		n, n == 1 ? "" : "s", p->nstages, p->nstages == 1 ? "" : "s",
		p->algorithm), 0, 2);
	print_figures(to, a, r);
	print_stages(to, a, r->pipeline);
}
