/* Placements by `pipedream': PipeDream's own plan of a profile, with its
 * planner's figures and ours. */
#include "config.h"

#include "libtdl/placement_more.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "compiler/placement/pipedream.h"

typedef struct pipedream {
	const place_run *run;
	const cost_graph *g;
	const layer_chain *l;
	stage_model model;
	int ndevices;
	double limit;	   /* bytes of a device; INFINITY */
	pipedream_plan best;
	double seconds; /* duration of the search */
} pipedream;

/* ---- reading ------------------------------------------------------------- */

static bool usage(const place_run *r, cli_status *status)
{
	const place_more *m = r->more;
	if (!place_takes_only(r, "pipedream", "link memory factor schedule "
			      "micro-batches objective", status))
		return false;
	if (m->schedule && strcmp(m->schedule, "1f1b"))
		return place_refuse(r, status, "the only schedule of pipedream "
				    "is 1f1b");
	if (m->objective > PLACE_MAKESPAN)
		return place_refuse(r, status, "the only objective of "
				    "pipedream is its time per minibatch");
	if (!r->o->link && r->o->devices > 1)
		return place_refuse(r, status,
				    "pipedream needs %s: replicas "
				    "exchange parameters",
				    job_option(r->d, "link"));
	return true;
}

static bool read_pipedream(pipedream *p, cli_status *status)
{
	const place_run *r = p->run;
	machine_request q = { 0 };
	if (!usage(r, status) || !place_read_machine(r->d, r->o, &q, status))
		return false;
	if (q.latency > 0)
		return place_refuse(r, status, "links of pipedream have no "
				    "latency");
	p->g = place_read_profile(r);
	if (!p->g)
		return false;
	p->l = layer_chain_new(r->d->arena, p->g);
	p->ndevices = q.ndevices;
	p->limit = q.memory > 0 ? (double)q.memory : INFINITY;
	p->model = (stage_model){
		.schedule = SCHEDULE_1F1B,
		.micro_batches = r->more->micro_batches ?
			(int)r->more->micro_batches : 4 * q.ndevices,
		.factor = q.factor,
		.bandwidth = q.bandwidth > 0 ? q.bandwidth : INFINITY,
		.chunks = 1,
	};
	if ((int64_t)p->l->n * p->ndevices > PIPEDREAM_MAX_STATES) {
		diag_error_in(r->d->sink, DIAG_STAGES_PROFILE, r->path,
			      "pipedream plans layers times devices up to %d, "
			      "not %d times %d", PIPEDREAM_MAX_STATES, p->l->n,
			      p->ndevices);
		return false;
	}
	if (stages_most_bytes(p->l, &p->model) < PLACE_MAX_BYTES)
		return true;
	diag_error_in(r->d->sink, DIAG_COST_GRAPH_INVALID, r->path,
		      "the bytes of %d micro-batches add up to more than can "
		      "be counted", p->model.micro_batches);
	return false;
}

/* ---- printing ------------------------------------------------------------ */

static json_t *stage_json(const pipedream *p, const pipedream_stage *s)
{
	json_t *j = json_object(), *layers = json_array();
	for (int i = 0; i < s->n; i++)
		json_array_append_new(layers, json_string(
			p->g->ops[p->l->op[s->layers[i]]].id));
	json_object_set_new(j, "nodes", json_integer(s->n));
	json_object_set_new(j, "devices", json_integer(s->replicas));
	json_object_set_new(j, "predicted_seconds", json_real(s->predicted));
	json_object_set_new(j, "in_flight", json_integer(s->in_flight));
	json_object_set_new(j, "peak_bytes", place_bytes(s->nbytes));
	json_object_set_new(j, "seconds", json_real(s->seconds));
	json_object_set_new(j, "layers", layers);
	return j;
}

static json_t *pipedream_json(const void *of)
{
	const pipedream *p = of;
	json_t *j = json_object(), *stages = json_array();
	json_t *peaks = json_array();
	const pipedream_plan *b = &p->best;
	for (int s = 0; s < b->nstages; s++) {
		const pipedream_stage *x = &b->stages[s];
		json_array_append_new(stages, stage_json(p, x));
		for (int d = 0; d < x->replicas; d++)
			json_array_append_new(peaks, place_bytes(x->nbytes));
	}
	json_object_set_new(j, "graph", json_string(p->g->name));
	json_object_set_new(j, "algorithm", json_string("pipedream"));
	json_object_set_new(j, "objective", json_string("makespan"));
	json_object_set_new(j, "devices", json_integer(p->ndevices));
	json_object_set_new(j, "micro_batches",
			    json_integer(p->model.micro_batches));
	json_object_set_new(j, "predicted_seconds", json_real(b->predicted));
	json_object_set_new(j, "peak_bytes_max", place_bytes(b->peak));
	json_object_set_new(j, "bottleneck_seconds",
			    json_real(b->bottleneck));
	json_object_set_new(j, "step_seconds", json_real(b->step));
	json_object_set_new(j, "order", json_string(b->fixed_order ? "fixed" :
								     "any"));
	json_object_set_new(j, "optimal", json_false());
	json_object_set_new(j, "peak_bytes", peaks);
	json_object_set_new(j, "stages", stages);
	json_object_set_new(j, "seconds", json_real(p->seconds));
	return j;
}

static void pipedream_text(FILE *to, arena *a, const void *of)
{
	const pipedream *p = of;
	const pipedream_plan *b = &p->best;
	fprintf(to,
		"%s, pipedream: %d layers on %d device%s, %d micro-batch%s%s\n",
		p->g->name, p->l->n, p->ndevices, p->ndevices == 1 ? "" : "s",
		p->model.micro_batches, p->model.micro_batches == 1 ? "" : "es",
		b->fixed_order ? ", splits of one order" : "");
	fprintf(to, "predicted     %s per micro-batch, by its planner\n",
		units_seconds(b->predicted).text);
	fprintf(to, "longest stage %s per micro-batch, transfers counted\n",
		units_seconds(b->bottleneck).text);
	fprintf(to, "step          %s\npeak          %s\n",
		units_seconds(b->step).text, place_bytes_text(a, b->peak));
	fprintf(to, "\n%5s  %6s  %8s  %9s  %10s  %15s  %15s\n", "stage",
		"layers", "replicas", "in flight", "peak", "time", "predicted");
	for (int s = 0; s < b->nstages; s++) {
		const pipedream_stage *x = &b->stages[s];
		fprintf(to, "%5d  %6d  %8d  %9d  %10s  %s  %s\n", s, x->n,
			x->replicas, x->in_flight,
			place_bytes_text(a, x->nbytes),
			units_right(units_seconds(x->seconds), 15).text,
			units_right(units_seconds(x->predicted), 15).text);
	}
}

cli_status place_pipedream(const place_run *r, place_found *to)
{
	cli_status status = CLI_OK;
	pipedream *p = ARENA_NEW(r->d->arena, pipedream);
	p->run = r;
	if (!read_pipedream(p, &status))
		return status;
	double begun = clock_seconds();
	pipedream_best(r->d->arena, p->l, &p->model, p->ndevices, &p->best);
	p->seconds = clock_seconds() - begun;
	if (p->best.peak > p->limit) {
		cli_failed(&r->d->program,
			   "pipedream's plan needs %s of a device; its "
			   "planner ignores memory",
			   place_bytes_text(r->d->arena, p->best.peak));
		return CLI_NO_PLAN;
	}
	*to = (place_found){ .of = p, .json = pipedream_json,
			     .text = pipedream_text };
	return CLI_OK;
}
