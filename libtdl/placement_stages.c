/* Placements by `mcap': layers of a profile in contiguous stages. */
#include "config.h"

#include "libtdl/placement_stages.h"
#include "libtdl/placement_text.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "compiler/placement/placement_file.h"

typedef struct stages {
	stage_input in;
	split_problem p;
	split best; /* measured by the formula */
	double predicted; /* the predictor's peak of best */
	split_list frontier;
	const pipeline_run *simulated; /* NULL: refused */
	const char *refused;
	const int *place;
	double seconds; /* of the search */
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

/* Of the links between a model's stages: the one that is given, or the least
 * of the levels that the devices fill. */
static double bandwidth_of(const machine_request *r)
{
	const topology *t = r->topology ? r->topology : topology_preset(0);
	double least = INFINITY;
	int64_t span = 1;
	if (r->bandwidth > 0)
		return r->bandwidth;
	for (int i = t->nlevels; i-- > 0 && span <= r->ndevices;) {
		const topology_level *l = &t->levels[i];
		least = fmin(least, l->bandwidth);
		span *= l->size ? l->size : r->ndevices;
		if (span >= r->ndevices)
			break;
	}
	return least;
}

static stage_model model_of(const place_run *r, const cost_graph *g,
			    const machine_request *q)
{
	stage_model m = {
		.micro_batches = r->more->micro_batches ?
			(int)r->more->micro_batches : 4 * q->ndevices,
		.recompute = r->more->recompute,
		.factor = g->resident_is_weights ? q->factor : 1,
		.bandwidth = place_is_model(r->path) ? bandwidth_of(q) :
			     q->bandwidth > 0	     ? q->bandwidth :
						       INFINITY,
	};
	place_schedule(r->more, &m.schedule, &m.chunks);
	if (m.schedule == SCHEDULE_INTERLEAVED && q->ndevices == 1)
		m.bandwidth = INFINITY;
	return m;
}

/* The profile and the model; false when *status is what to end with. */
static bool read_stages(stage_input *in, cli_status *status)
{
	const place_run *r = in->run;
	machine_request q = { 0 };
	if (!usage(r, status) ||
	    !place_read_machine(r->d, r->o, &q, status))
		return false;
	if (q.latency > 0)
		return place_refuse(r, status, "links of stages have no "
				    "latency");
	in->g = place_read_layers(r, &q, status);
	if (!in->g)
		return false;
	in->l = layer_chain_new(r->d->arena, in->g);
	in->model = model_of(r, in->g, &q);
	in->ndevices = q.ndevices;
	in->cap = q.memory > 0 ? (double)q.memory : INFINITY;
	in->objective = r->more->objective != PLACE_UNSAID ?
		(place_objective)r->more->objective :
		in->cap < INFINITY ? PLACE_MAKESPAN : PLACE_PEAK;
	return true;
}

/* ---- where nothing fits ------------------------------------------------- */

/* The least peak with other numbers of stages or micro-batches, for which the
 * costs of intervals are the same; INFINITY if none is within the memory. */
static double peak_of(const stages *s, const intervals *of,
		      const stage_model *m, int nstages)
{
	arena *own = arena_new();
	split_problem p = { of, nstages, stage_in_flight(own, m, nstages),
			    m->micro_batches, s->p.cap };
	double peak = split_peak(&p);
	arena_free(own);
	return peak;
}

static double peak_of_recomputed(const stages *s)
{
	arena *own = arena_new();
	stage_model m = s->in.model;
	m.recompute = true;
	double peak = peak_of(s, layer_intervals(own, s->in.l, &m), &m,
			      s->p.nstages);
	arena_free(own);
	return peak;
}

/* Says the changes of options that would fit, each by itself. */
static void say_remedies(const stages *s)
{
	const cli_program *program = &s->in.run->d->program;
	arena *a = s->in.run->d->arena;
	stage_model m = s->in.model;
	double peak;
	for (int k = 2 * s->p.nstages; k <= s->in.l->n; k *= 2)
		if ((peak = peak_of(s, s->p.of, &m, k)) <= s->p.cap) {
			cli_failed(program, "%d stages need %s", k,
				   place_bytes_text(a, peak));
			break;
		}
	peak = s->in.model.recompute ? INFINITY : peak_of_recomputed(s);
	if (peak <= s->p.cap)
		cli_failed(program, "with %s they need %s",
			   job_option(s->in.run->d, "recompute"),
			   place_bytes_text(a, peak));
	while (m.micro_batches > 1) {
		m.micro_batches /= 2;
		peak = peak_of(s, s->p.of, &m, s->p.nstages);
		if (peak > s->p.cap)
			continue;
		cli_failed(program, "%d micro-batch%s need%s %s",
			   m.micro_batches, m.micro_batches > 1 ? "es" : "",
			   m.micro_batches > 1 ? "" : "s",
			   place_bytes_text(a, peak));
		break;
	}
}

static cli_status say_no_room(const stages *s)
{
	split least;
	if (s->p.nstages > s->in.l->n) {
		cli_failed(&s->in.run->d->program,
			   "%d layer%s cannot make %d stages", s->in.l->n,
			   s->in.l->n == 1 ? "" : "s", s->p.nstages);
		return CLI_NO_PLAN;
	}
	int at = split_exceeding_stage(s->in.run->d->arena, &s->p, &least);
	cli_failed(&s->in.run->d->program,
		   "no %d stage%s: at best, stage %d (layers %d to %d) "
		   "needs %.0f bytes", s->p.nstages,
		   s->p.nstages == 1 ? " fits" : "s fit", at, least.first[at],
		   least.first[at + 1] - 1, ceil(least.peak));
	say_remedies(s);
	return CLI_NO_PLAN;
}

/* ---- searching ---------------------------------------------------------- */

static bool search(stages *s)
{
	arena *a = s->in.run->d->arena;
	double begun = clock_seconds();
	split_problem q;
	bool found;
	if (s->p.nstages > s->in.l->n)
		return false;
	s->p.of = layer_intervals(a, s->in.l, &s->in.model);
	s->p.in_flight = stage_in_flight(a, &s->in.model, s->p.nstages);
	q = s->p;
	if (s->in.run->more->predictor)
		q.of = intervals_predicted(a, s->p.of);
	if (s->in.objective == PLACE_PEAK)
		found = split_least_peak(a, &q, &s->best);
	else if (s->in.objective == PLACE_LOAD)
		found = split_least_bottleneck(a, &q, &s->best);
	else
		found = split_least_step(a, &q, INFINITY, &s->best);
	if (!found)
		return false;
	s->predicted = s->best.peak;
	split_measure(&s->p, &s->best);
	if (s->in.run->more->frontier)
		s->frontier = split_frontier(a, &q, s->in.objective ==
					     PLACE_MAKESPAN);
	for (int i = 0; i < s->frontier.n; i++)
		split_measure(&s->p, &s->frontier.at[i]);
	s->simulated = stages_simulate(a, s->in.l, &s->in.model, &s->best,
				       s->p.nstages, &s->refused);
	s->seconds = clock_seconds() - begun;
	return true;
}

/* ---- printing ----------------------------------------------------------- */

static size_t stage_at(const stages *s, int i)
{
	return interval_at(s->best.first[i], s->best.first[i + 1]);
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
	json_t *list = json_array();
	for (int i = 0; i < s->p.nstages; i++) {
		json_t *j = json_object();
		double bytes = split_memory(&s->p, i, stage_at(s, i));
		json_object_set_new(j, "nodes", json_integer(
			s->best.first[i + 1] - s->best.first[i]));
		json_object_set_new(j, "peak_bytes", place_bytes(bytes));
		json_object_set_new(j, "seconds", place_seconds(
			s->p.of->time[stage_at(s, i)]));
		json_object_set_new(j, "in_flight",
				    json_integer(s->p.in_flight[i]));
		json_array_append_new(list, j);
		json_array_append_new(peaks, place_bytes(bytes));
	}
	return list;
}

/* A longest stage that no split of the order is below.  Of the makespan, which
 * is simulated, nothing is known: the formula's step can be above it. */
static json_t *bound_of(const stages *s)
{
	if (s->in.objective != PLACE_LOAD || s->in.run->more->predictor)
		return json_null();
	return place_seconds(s->best.bottleneck);
}

static void set_search(json_t *j, const stages *s)
{
	const place_more *m = s->in.run->more;
	json_object_set_new(j, "makespan_seconds",
			    place_seconds((double)s->simulated->ns));
	json_object_set_new(j, "max_load_seconds",
			    place_seconds(s->best.bottleneck));
	json_object_set_new(j, "lower_bound_seconds", bound_of(s));
	json_object_set_new(j, "optimal", json_boolean(!m->predictor));
	json_object_set_new(j, "order", json_string("fixed"));
	json_object_set_new(j, "seconds", json_real(s->seconds));
	if (m->predictor) {
		json_object_set_new(j, "predicted_peak_bytes",
				    place_bytes(s->predicted));
		json_object_set_new(j, "prediction_error",
				    s->best.peak > 0 ? json_real(
			s->predicted / s->best.peak - 1) : json_null());
	}
	if (m->frontier)
		json_object_set_new(j, "frontier",
				    stages_frontier_list(&s->frontier));
}

json_t *stages_object(const stage_input *in)
{
	json_t *j = json_object();
	const char *name = schedule_name(in->model.schedule);
	if (in->model.schedule == SCHEDULE_INTERLEAVED)
		name = in->run->more->schedule;
	json_object_set_new(j, "graph", json_string(in->g->name));
	json_object_set_new(j, "algorithm", json_string(in->run->algorithm));
	json_object_set_new(j, "objective", json_string(
		place_objectives[in->objective]));
	json_object_set_new(j, "network", json_string(
		place_network(in->run->o)));
	json_object_set_new(j, "devices", json_integer(in->ndevices));
	json_object_set_new(j, "schedule", json_string(name));
	json_object_set_new(j, "micro_batches",
			    json_integer(in->model.micro_batches));
	json_object_set_new(j, "recompute", json_boolean(in->model.recompute));
	return j;
}

static json_t *stages_json(const void *of)
{
	const stages *s = of;
	json_t *j = stages_object(&s->in), *peaks = json_array();
	json_t *list = stages_list(s, peaks);
	json_object_set_new(j, "peak_bytes", peaks);
	json_object_set_new(j, "stages", list);
	stages_set_figures(j, &s->best);
	set_search(j, s);
	json_object_set_new(j, "placement", placement_list(s->in.g, s->place));
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
	text_wrap(to,
		  arena_printf(a,
			       "%s in %d stage%s, %s, %d micro-batch%s%s: %d "
			       "layer%s in "
			       "the order of the file",
			       s->in.g->name, s->p.nstages,
			       s->p.nstages == 1 ? "" : "s",
			       schedule_name(s->in.model.schedule),
			       s->in.model.micro_batches,
			       s->in.model.micro_batches == 1 ? "" : "es",
			       s->in.model.recompute ? ", recomputed" : "",
			       s->in.l->n, s->in.l->n == 1 ? "" : "s"),
		  0, 4);
	fprintf(to, "peak          %s%s\n", place_bytes_text(a, s->best.peak),
		s->in.run->more->predictor	? ""
		: s->in.objective == PLACE_PEAK ? ", the least"
						: "");
	if (s->in.run->more->predictor)
		fprintf(to, "predicted     %s (error %+.1f %%)\n",
			place_bytes_text(a, s->predicted),
			s->best.peak > 0
				? 100 * (s->predicted / s->best.peak - 1)
				: 0.0);
	fprintf(to, "longest stage %s\n",
		units_seconds(s->best.bottleneck * 1e-9).text);
	fprintf(to, "step          %s; simulated %s\n",
		units_seconds(s->best.step * 1e-9).text,
		place_ns(s->simulated->ns).text);
	fprintf(to, "\n%6s  %7s  %9s  %12s  %15s\n", "stage", "layers",
		"in flight", "peak", "time");
	for (int i = 0; i < s->p.nstages; i++)
		fprintf(to, "%6d  %7d  %9d  %12s  %s\n", i,
			s->best.first[i + 1] - s->best.first[i],
			s->p.in_flight[i],
			place_bytes_text(
				a, split_memory(&s->p, i, stage_at(s, i))),
			units_right(
				units_seconds(s->p.of->time[stage_at(s, i)] *
					      1e-9),
				15)
				.text);
	if (s->in.run->more->frontier)
		stages_frontier_text(to, a, &s->frontier, "longest stage");
}

/* Whether the stages can be counted; otherwise an error is added. */
static bool is_countable(const stage_input *in)
{
	const place_run *r = in->run;
	if (in->l->n > SPLIT_MAX_LAYERS)
		diag_error_in(r->d->sink, DIAG_STAGES_PROFILE, r->path,
			      "stages are cut from at most %d layers, not %d",
			      SPLIT_MAX_LAYERS, in->l->n);
	else if (stages_most_bytes(in->l, &in->model) >= PLACE_MAX_BYTES)
		diag_error_in(r->d->sink, DIAG_COST_GRAPH_INVALID, r->path,
			      "the bytes of %d micro-batches add up to more "
			      "than can be counted", in->model.micro_batches);
	else
		return true;
	return false;
}

static cli_status place_splits(stages *s, place_found *to)
{
	const place_run *r = s->in.run;
	s->p.nstages = s->in.ndevices;
	s->p.micro_batches = s->in.model.micro_batches;
	s->p.cap = s->in.cap;
	if (!search(s))
		return say_no_room(s);
	if (!s->simulated) {
		diag_error_in(r->d->sink, DIAG_SCHEDULE_TOO_LARGE, r->path,
			      "%s", s->refused);
		return CLI_OK;
	}
	s->place = stages_placement(r->d->arena, s->in.g, s->in.l, &s->best,
				    s->p.nstages);
	*to = (place_found){ s, stages_json, stages_text, s->in.g, s->place,
			     s->in.ndevices, NULL };
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
	return s->in.model.schedule == SCHEDULE_INTERLEAVED ?
		place_chunks(&s->in, to) : place_splits(s, to);
}
