/* Placements by `mcap': contiguous stages of a profile's layers. */
#include "config.h"

#include "libtdl/placement_stages.h"
#include "libtdl/placement_text.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "compiler/placement/placement_file.h"

typedef struct stages {
	stage_input in;
	mcap_stages found;
} stages;

/* ---- reading ------------------------------------------------------------ */

static bool usage(const place_run *r, cli_status *status)
{
	if (r->o->topology && !place_is_model(r->path))
		return place_refuse(r, status, "stages take %s, not %s",
				    job_option(r->d, "link"),
				    job_option(r->d, "topology"));
	if (r->more->objective == PLACE_COST)
		return place_refuse(r, status, "the objectives of mcap are "
				    "peak, load, makespan");
	return place_takes_only(r, "mcap", "topology link memory factor "
				"objective schedule micro-batches recompute "
				"frontier predictor", status);
}

static stage_model model_of(const place_run *r, const cost_graph *g,
			    const machine_request *q)
{
	stage_model m = {
		.micro_batches = r->more->micro_batches ?
			(int)r->more->micro_batches : 4 * q->ndevices,
		.recompute = r->more->recompute,
		.factor = g->resident_is_weights ? q->factor : 1,
		.bandwidth = place_is_model(r->path) ?
				     machine_link_bandwidth(q) :
			     q->bandwidth > 0	     ? q->bandwidth :
						       INFINITY,
	};
	place_schedule(r->more->schedule, &m.schedule, &m.chunks);
	if (m.schedule == SCHEDULE_INTERLEAVED && q->ndevices == 1)
		m.bandwidth = INFINITY;
	return m;
}

/* Reads the profile and the model.  Returns false with *status set on
 * failure. */
static bool read_stages(stage_input *in, cli_status *status)
{
	static const mcap_objective goals[] = {
		[PLACE_MAKESPAN] = MCAP_STEP, [PLACE_LOAD] = MCAP_LOAD,
		[PLACE_PEAK] = MCAP_PEAK,
	};
	const place_run *r = in->run;
	machine_request q = { 0 };
	if (!usage(r, status) ||
	    !place_read_machine(r->d, r->o, &q, status))
		return false;
	if (q.latency > 0)
		return place_refuse(r, status, "links of stages have no "
				    "latency");
	const cost_graph *g = place_read_layers(r, &q, status);
	if (!g)
		return false;
	in->objective = r->more->objective != PLACE_UNSAID ?
		(place_objective)r->more->objective :
		q.memory > 0 ? PLACE_MAKESPAN : PLACE_PEAK;
	in->r = (mcap_request){
		.g = g,
		.l = layer_chain_new(r->d->arena, g),
		.model = model_of(r, g, &q),
		.ndevices = q.ndevices,
		.cap = q.memory > 0 ? (double)q.memory : INFINITY,
		.objective = goals[in->objective],
		.frontier = r->more->frontier,
		.predictor = r->more->predictor,
	};
	return true;
}

/* ---- where nothing fits ------------------------------------------------- */

/* Prints the changes of options that would make a plan fit, each by itself. */
static void say_remedies(const stages *s)
{
	const job *d = s->in.run->d;
	const remedies all = mcap_remedies(d->arena, &s->in.r);
	for (int i = 0; i < all.n; i++) {
		const remedy *x = &all.at[i];
		const char *bytes = place_bytes_text(d->arena, x->nbytes);
		if (x->kind == REMEDY_DEVICES)
			cli_failed(&d->program, "%d stages need %s", x->number,
				   bytes);
		else if (x->kind == REMEDY_RECOMPUTE)
			cli_failed(&d->program, "with %s they need %s",
				   job_option(d, "recompute"), bytes);
		else
			cli_failed(&d->program, "%d micro-batch%s need%s %s",
				   x->number, x->number > 1 ? "es" : "",
				   x->number > 1 ? "" : "s", bytes);
	}
}

static cli_status say_no_room(const stages *s)
{
	const cli_program *program = &s->in.run->d->program;
	int n = s->in.r.l->n, nstages = s->in.r.ndevices;
	split least;
	if (nstages > n) {
		cli_failed(program, "%d layer%s cannot make %d stages", n,
			   n == 1 ? "" : "s", nstages);
		return CLI_NO_PLAN;
	}
	int at = split_exceeding_stage(s->in.run->d->arena, &s->found.p,
				       &least);
	cli_failed(program, "no %d stage%s: at best, stage %d (layers %d to "
		   "%d) needs %s", nstages,
		   nstages == 1 ? " fits" : "s fit", at, least.first[at],
		   least.first[at + 1] - 1,
		   place_bytes_text(s->in.run->d->arena, least.peak));
	say_remedies(s);
	return CLI_NO_PLAN;
}

/* ---- printing ----------------------------------------------------------- */

static size_t stage_at(const stages *s, int i)
{
	const int *first = s->found.best.first;
	return interval_at(first[i], first[i + 1]);
}

void stages_set_figures(json_t *j, const split *s)
{
	json_object_set_new(j, "peak_bytes_max", place_bytes(s->peak));
	json_object_set_new(j, "bottleneck_seconds",
			    place_seconds(s->bottleneck));
	json_object_set_new(j, "step_seconds", place_seconds(s->step));
}

json_t *stages_frontier_list(const split_list *frontier)
{
	json_t *list = json_array();
	for (int i = 0; i < frontier->n; i++) {
		json_t *f = json_object();
		stages_set_figures(f, &frontier->at[i]);
		json_array_append_new(list, f);
	}
	return list;
}

static json_t *stages_list(const stages *s, json_t *peaks)
{
	const mcap_stages *f = &s->found;
	json_t *list = json_array();
	for (int i = 0; i < f->p.nstages; i++) {
		json_t *j = json_object();
		double bytes = split_memory(&f->p, i, stage_at(s, i));
		json_object_set_new(j, "nodes", json_integer(
			f->best.first[i + 1] - f->best.first[i]));
		json_object_set_new(j, "peak_bytes", place_bytes(bytes));
		json_object_set_new(j, "seconds", place_seconds(
			f->p.of->time[stage_at(s, i)]));
		json_object_set_new(j, "in_flight",
				    json_integer(f->p.in_flight[i]));
		json_array_append_new(list, j);
		json_array_append_new(peaks, place_bytes(bytes));
	}
	return list;
}

/* The time of the longest stage that no split of the order is below.  This is
 * no bound of the makespan, which is simulated: the step by the formula may be
 * longer. */
static json_t *bound_of(const stages *s)
{
	if (s->in.objective != PLACE_LOAD || s->in.run->more->predictor)
		return json_null();
	return place_seconds(s->found.best.bottleneck);
}

static void set_search(json_t *j, const stages *s)
{
	const mcap_stages *f = &s->found;
	const place_more *m = s->in.run->more;
	json_object_set_new(j, "makespan_seconds",
			    place_seconds((double)f->simulated->ns));
	json_object_set_new(j, "max_load_seconds",
			    place_seconds(f->best.bottleneck));
	json_object_set_new(j, "lower_bound_seconds", bound_of(s));
	json_object_set_new(j, "optimal", json_boolean(!m->predictor));
	json_object_set_new(j, "order", json_string("fixed"));
	json_object_set_new(j, "seconds", json_real(f->seconds));
	if (m->predictor) {
		json_object_set_new(j, "predicted_peak_bytes",
				    place_bytes(f->predicted));
		json_object_set_new(j, "prediction_error",
				    f->best.peak > 0 ? json_real(
			f->predicted / f->best.peak - 1) : json_null());
	}
	if (m->frontier)
		json_object_set_new(j, "frontier",
				    stages_frontier_list(&f->frontier));
}

json_t *stages_object(const stage_input *in)
{
	json_t *j = json_object();
	const char *name = schedule_name(in->r.model.schedule);
	if (in->r.model.schedule == SCHEDULE_INTERLEAVED)
		name = in->run->more->schedule;
	json_object_set_new(j, "graph", json_string(in->r.g->name));
	json_object_set_new(j, "algorithm", json_string(in->run->algorithm));
	json_object_set_new(j, "objective", json_string(
		place_objectives[in->objective]));
	json_object_set_new(j, "network", json_string(
		place_network(in->run->o)));
	json_object_set_new(j, "devices", json_integer(in->r.ndevices));
	json_object_set_new(j, "schedule", json_string(name));
	json_object_set_new(j, "micro_batches",
			    json_integer(in->r.model.micro_batches));
	json_object_set_new(j, "recompute",
			    json_boolean(in->r.model.recompute));
	return j;
}

static json_t *stages_json(const void *of)
{
	const stages *s = of;
	const mcap_stages *f = &s->found;
	json_t *j = stages_object(&s->in), *peaks = json_array();
	json_t *list = stages_list(s, peaks);
	json_object_set_new(j, "peak_bytes", peaks);
	json_object_set_new(j, "stages", list);
	stages_set_figures(j, &f->best);
	set_search(j, s);
	json_object_set_new(j, "placement",
			    placement_list(s->in.r.g, f->place));
	return j;
}

void stages_frontier_text(FILE *to, arena *a, const split_list *frontier,
			  const char *longest)
{
	fprintf(to, "\n%12s  %15s  %15s\n", "peak", longest, "step");
	for (int i = 0; i < frontier->n; i++) {
		const split *f = &frontier->at[i];
		fprintf(to, "%12s  %s  %s\n", place_bytes_text(a, f->peak),
			units_right(units_seconds(f->bottleneck * 1e-9), 15)
				.text,
			units_right(units_seconds(f->step * 1e-9), 15).text);
	}
}

static void stages_text(FILE *to, arena *a, const void *of)
{
	const stages *s = of;
	const mcap_stages *f = &s->found;
	text_wrap(to,
		  arena_printf(a,
			       "%s in %d stage%s, %s, %d micro-batch%s%s: %d "
			       "layer%s in "
			       "the order of the file",
			       s->in.r.g->name, f->p.nstages,
			       f->p.nstages == 1 ? "" : "s",
			       schedule_name(s->in.r.model.schedule),
			       s->in.r.model.micro_batches,
			       s->in.r.model.micro_batches == 1 ? "" : "es",
			       s->in.r.model.recompute ? ", recomputed" : "",
			       s->in.r.l->n, s->in.r.l->n == 1 ? "" : "s"),
		  0, 4);
	fprintf(to, "peak          %s%s\n", place_bytes_text(a, f->best.peak),
		s->in.run->more->predictor	? ""
		: s->in.objective == PLACE_PEAK ? ", the least"
						: "");
	if (s->in.run->more->predictor)
		fprintf(to, "predicted     %s (error %+.1f %%)\n",
			place_bytes_text(a, f->predicted),
			f->best.peak > 0
				? 100 * (f->predicted / f->best.peak - 1)
				: 0.0);
	fprintf(to, "longest stage %s\n",
		units_seconds(f->best.bottleneck * 1e-9).text);
	fprintf(to, "step          %s; simulated %s\n",
		units_seconds(f->best.step * 1e-9).text,
		place_ns(f->simulated->ns).text);
	fprintf(to, "\n%6s  %7s  %9s  %12s  %15s\n", "stage", "layers",
		"in flight", "peak", "time");
	for (int i = 0; i < f->p.nstages; i++)
		fprintf(to, "%6d  %7d  %9d  %12s  %s\n", i,
			f->best.first[i + 1] - f->best.first[i],
			f->p.in_flight[i],
			place_bytes_text(
				a, split_memory(&f->p, i, stage_at(s, i))),
			units_right(
				units_seconds(f->p.of->time[stage_at(s, i)] *
					      1e-9),
				15)
				.text);
	if (s->in.run->more->frontier)
		stages_frontier_text(to, a, &f->frontier, "longest stage");
}

/* Whether the stages can be counted.  Adds an error if not. */
static bool is_countable(const stage_input *in)
{
	const place_run *r = in->run;
	if (in->r.l->n > SPLIT_MAX_LAYERS)
		diag_error_in(r->d->sink, DIAG_STAGES_PROFILE, r->path,
			      "stages are cut from at most %d layers, not %d",
			      SPLIT_MAX_LAYERS, in->r.l->n);
	else if (stages_most_bytes(in->r.l, &in->r.model) >= PLACE_MAX_BYTES)
		diag_error_in(r->d->sink, DIAG_COST_GRAPH_INVALID, r->path,
			      "the bytes of %d micro-batches add up to more "
			      "than can be counted", in->r.model.micro_batches);
	else
		return true;
	return false;
}

static cli_status place_splits(stages *s, place_found *to)
{
	const place_run *r = s->in.run;
	if (!mcap_search(r->d->arena, &s->in.r, &s->found))
		return say_no_room(s);
	if (!s->found.simulated) {
		diag_error_in(r->d->sink, DIAG_SCHEDULE_TOO_LARGE, r->path,
			      "%s", s->found.refused);
		return CLI_OK;
	}
	*to = (place_found){ s, stages_json, stages_text, s->in.r.g,
			     s->found.place, s->in.r.ndevices, NULL };
	return CLI_OK;
}

cli_status place_mcap(const place_run *r, place_found *to)
{
	cli_status status = CLI_OK;
	stages *s = ARENA_NEW(r->d->arena, stages);
	s->in.run = r;
	if (!read_stages(&s->in, &status))
		return status;
	if (!is_countable(&s->in))
		return CLI_OK;
	return s->in.r.model.schedule == SCHEDULE_INTERLEAVED ?
		place_chunks(&s->in, to) : place_splits(s, to);
}
