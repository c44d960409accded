/* Placements by `mcap' for interleaved schedules: chunks of layers. */
#include "config.h"

#include "libtdl/placement_stages.h"
#include "libtdl/placement_text.h"

#include <math.h>

#include "base/clock.h"
#include "base/text.h"
#include "compiler/placement/chunks.h"
#include "compiler/placement/placement_file.h"

typedef struct chunks {
	const stage_input *in;
	chunk_problem p;
	chunk_split best;
	split_list frontier;
	bool has_frontier; /* proven */
	const pipeline_run *simulated;
	const int *place;
	double seconds; /* of the search */
} chunks;

static const char *plural(int n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* ---- where nothing fits ------------------------------------------------- */

/* Says a remedy, if a split for it is found that fits. */
static bool try_remedy(const chunks *c, stage_model m, int ndevices,
		       const char *what)
{
	arena *own = arena_new();
	const stage_input *in = c->in;
	bool fits = false;
	if ((int64_t)ndevices * m.chunks <= in->l->n &&
	    !chunks_refused(own, in->l->n, ndevices, m.chunks)) {
		chunk_problem p = chunk_problem_new(
			own, layer_intervals(own, in->l, &m), ndevices,
			m.chunks, m.micro_batches, in->cap);
		chunk_split best;
		fits = chunks_fit(own, &p, &best);
		if (fits)
			cli_failed(&in->run->d->program, "%s: %s are enough",
				   what, place_bytes_text(own, best.s.peak));
	}
	arena_free(own);
	return fits;
}

static void say_remedies(const chunks *c)
{
	arena *a = c->in->run->d->arena;
	stage_model m = c->in->model;
	int S = c->in->ndevices;
	for (int k = 2 * S; (int64_t)k * m.chunks <= c->in->l->n; k *= 2)
		if (m.micro_batches % k == 0 &&
		    try_remedy(c, m, k, arena_printf(a, "%d devices", k)))
			break;
	m.recompute = true;
	if (!c->in->model.recompute)
		try_remedy(
			c, m, S,
			arena_printf(a, "with %s",
				     job_option(c->in->run->d, "recompute")));
	m = c->in->model;
	while (m.micro_batches % (2 * S) == 0) {
		m.micro_batches /= 2;
		if (try_remedy(c, m, S,
			       arena_printf(a, "%d micro-batch%s",
					    m.micro_batches,
					    plural(m.micro_batches, "", "es"))))
			break;
	}
}

static cli_status say_no_room(const chunks *c)
{
	const cli_program *program = &c->in->run->d->program;
	const split *s = &c->best.s;
	int most = 0;
	for (int d = 1; d < c->p.ndevices; d++)
		if (chunk_memory(&c->p, s->first, d, c->p.chunks) >
		    chunk_memory(&c->p, s->first, most, c->p.chunks))
			most = d;
	cli_failed(program,
		   "no %d chunks on %d device%s %s: at best, device "
		   "%d needs %.0f bytes",
		   chunk_stages(&c->p), c->p.ndevices,
		   plural(c->p.ndevices, "", "s"),
		   c->best.proven ? "fit" : "were found that fit", most,
		   ceil(s->peak));
	if (!c->best.proven)
		cli_failed(program,
			   "that is not proven: that all need more "
			   "than %.0f bytes is",
			   floor(c->best.bound));
	say_remedies(c);
	return CLI_NO_PLAN;
}

static cli_status say_too_few(const stage_input *in)
{
	cli_failed(&in->run->d->program, "%d layer%s cannot make %lld chunks",
		   in->l->n, plural(in->l->n, "", "s"),
		   (long long)in->ndevices * in->model.chunks);
	return CLI_NO_PLAN;
}

/* ---- searching ---------------------------------------------------------- */

static chunk_measure goal_of(const stage_input *in)
{
	return in->objective == PLACE_PEAK   ? CHUNKS_PEAK
	       : in->objective == PLACE_LOAD ? CHUNKS_BOTTLENECK
					     : CHUNKS_STEP;
}

static bool search(chunks *c)
{
	const stage_input *in = c->in;
	arena *a = in->run->d->arena;
	const stage_model *m = &in->model;
	double begun = clock_seconds();
	chunk_measure goal = goal_of(in);
	c->p = chunk_problem_new(a, layer_intervals(a, in->l, m), in->ndevices,
				 m->chunks, m->micro_batches, in->cap);
	if (!chunks_best(a, &c->p, goal, &c->best))
		return false;
	if (in->run->more->frontier)
		c->has_frontier =
			c->best.all_proven &&
			chunks_frontier(a, &c->p,
					goal == CHUNKS_STEP ? CHUNKS_STEP
							    : CHUNKS_BOTTLENECK,
					&c->frontier);
	c->seconds = clock_seconds() - begun;
	return true;
}

/* ---- printing ----------------------------------------------------------- */

/* The greatest number of micro-batches of a chunk, or of all of a device, with
 * chunk -1. */
static int in_flight(const chunks *c, int s, int chunk)
{
	const chunk_counts *counts = &c->p.counts[s];
	int V = c->p.chunks, most = 0;
	for (int k = 0; k < counts->n; k++) {
		int sum = 0;
		for (int v = 0; v < V; v++)
			if (chunk < 0 || v == chunk)
				sum += counts->in_flight[k * V + v];
		most = sum > most ? sum : most;
	}
	return most;
}

static json_t *chunk_list(const chunks *c)
{
	json_t *list = json_array();
	const intervals *t = c->p.of;
	const int *first = c->best.s.first;
	for (int q = 0; q < chunk_stages(&c->p); q++) {
		json_t *j = json_object();
		size_t x = interval_at(first[q], first[q + 1]);
		int n = in_flight(c, q % c->p.ndevices, q / c->p.ndevices);
		json_object_set_new(j, "device",
				    json_integer(q % c->p.ndevices));
		json_object_set_new(j, "nodes",
				    json_integer(first[q + 1] - first[q]));
		json_object_set_new(j, "peak_bytes",
				    place_bytes(t->fixed[x] + n * t->kept[x]));
		json_object_set_new(j, "seconds", place_seconds(t->time[x]));
		json_object_set_new(j, "in_flight", json_integer(n));
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *peaks(const chunks *c)
{
	json_t *list = json_array();
	for (int s = 0; s < c->p.ndevices; s++)
		json_array_append_new(
			list, place_bytes(chunk_memory(&c->p, c->best.s.first,
						       s, c->p.chunks)));
	return list;
}

static void set_search(json_t *j, const chunks *c)
{
	chunk_measure goal = goal_of(c->in);
	double bound = c->best.bound;
	json_object_set_new(j, "makespan_seconds",
			    place_seconds((double)c->simulated->ns));
	json_object_set_new(j, "max_load_seconds",
			    place_seconds(c->best.s.bottleneck));
	json_object_set_new(j, "lower_bound_seconds",
			    goal == CHUNKS_BOTTLENECK ? place_seconds(bound)
						      : json_null());
	json_object_set_new(j, "objective_bound",
			    goal == CHUNKS_PEAK ? place_bytes(bound)
						: place_seconds(bound));
	json_object_set_new(j, "optimal", json_boolean(c->best.proven));
	json_object_set_new(j, "order", json_string("fixed"));
	json_object_set_new(j, "seconds", json_real(c->seconds));
	if (c->in->run->more->frontier)
		json_object_set_new(j, "frontier",
				    c->has_frontier
					    ? stages_frontier_list(&c->frontier)
					    : json_null());
}

static json_t *chunks_json(const void *of)
{
	const chunks *c = of;
	json_t *j = stages_object(c->in);
	json_object_set_new(j, "chunks", json_integer(c->p.chunks));
	json_object_set_new(j, "peak_bytes", peaks(c));
	json_object_set_new(j, "stages", chunk_list(c));
	stages_set_figures(j, &c->best.s);
	set_search(j, c);
	json_object_set_new(j, "placement", placement_list(c->in->g, c->place));
	return j;
}

/* Said behind the figure that is sought; nothing behind others. */
static const char *proof(arena *a, const chunks *c, chunk_measure m,
			 double value)
{
	double bound = c->best.bound;
	if (m != goal_of(c->in))
		return "";
	if (c->best.proven)
		return ", the least";
	return arena_printf(a, ", not proven: %.1f %% above the bound, %s",
			    bound > 0 ? 100 * (value / bound - 1) : 100.0,
			    m == CHUNKS_PEAK
				    ? place_bytes_text(a, bound)
				    : units_seconds(bound * 1e-9).text);
}

static void devices_text(FILE *to, arena *a, const chunks *c)
{
	const int *first = c->best.s.first;
	fprintf(to, "\n%6s  %9s  %12s  %15s  layers\n", "device", "in flight",
		"peak", "time");
	for (int s = 0; s < c->p.ndevices; s++) {
		fprintf(to, "%6d  %9d  %12s  %s  ", s, in_flight(c, s, -1),
			place_bytes_text(
				a, chunk_memory(&c->p, first, s, c->p.chunks)),
			units_right(units_seconds(chunk_time(&c->p, first, s,
							     c->p.chunks) *
						  1e-9),
				    15)
				.text);
		for (int q = s; q < chunk_stages(&c->p); q += c->p.ndevices)
			fprintf(to, "%s%d", q > s ? "+" : "",
				first[q + 1] - first[q]);
		fprintf(to, "\n");
	}
}

static void chunks_text(FILE *to, arena *a, const void *of)
{
	const chunks *c = of;
	const stage_input *in = c->in;
	const split *s = &c->best.s;
	int S = in->ndevices, M = in->model.micro_batches;
	text_wrap(to,
		  arena_printf(a,
			       "%s in %d chunk%s on %d device%s, %s, %d "
			       "micro-batch%s%s: "
			       "%d layers in the order of the file",
			       in->g->name, chunk_stages(&c->p),
			       plural(chunk_stages(&c->p), "", "s"), S,
			       plural(S, "", "s"), in->run->more->schedule, M,
			       plural(M, "", "es"),
			       in->model.recompute ? ", recomputed" : "",
			       in->l->n),
		  0, 4);
	fprintf(to, "peak          %s%s\n", place_bytes_text(a, s->peak),
		proof(a, c, CHUNKS_PEAK, s->peak));
	fprintf(to, "busiest       %s%s\n",
		units_seconds(s->bottleneck * 1e-9).text,
		proof(a, c, CHUNKS_BOTTLENECK, s->bottleneck));
	fprintf(to, "step          %s%s; simulated %s\n",
		units_seconds(s->step * 1e-9).text,
		proof(a, c, CHUNKS_STEP, s->step),
		place_ns(c->simulated->ns).text);
	devices_text(to, a, c);
	if (c->has_frontier)
		stages_frontier_text(to, a, &c->frontier, "busiest device");
	else if (in->run->more->frontier)
		fprintf(to, "\nno frontier: not all of it can be proven\n");
}

/* ---- all of it ----------------------------------------------------------- */

/* Whether the options and the graph can be planned; otherwise *status is what
 * to end with. */
static bool is_possible(const stage_input *in, cli_status *status)
{
	const place_run *r = in->run;
	int S = in->ndevices, M = in->model.micro_batches;
	const char *refused =
		chunks_refused(r->d->arena, in->l->n, S, in->model.chunks);
	*status = CLI_OK;
	if (r->more->predictor)
		*status = cli_usage(&r->d->program,
				    "%s goes with one stage on each device, "
				    "not with %s",
				    job_option(r->d, "predictor"),
				    r->more->schedule);
	else if (M % S)
		*status = cli_usage(&r->d->program,
				    "%s takes a multiple of %d "
				    "micro-batches, as many as devices, not %d",
				    r->more->schedule, S, M);
	else if ((int64_t)S * in->model.chunks > in->l->n)
		*status = say_too_few(in);
	else if (refused)
		diag_error_in(r->d->sink, DIAG_SCHEDULE_TOO_LARGE, r->path,
			      "%s", refused);
	else
		return true;
	return false;
}

cli_status place_chunks(const stage_input *in, place_found *to)
{
	const place_run *r = in->run;
	arena *a = r->d->arena;
	chunks *c = ARENA_NEW(a, chunks);
	cli_status status;
	const char *refused;
	c->in = in;
	if (!is_possible(in, &status))
		return status;
	if (!search(c))
		return say_no_room(c);
	c->simulated = stages_simulate(a, in->l, &in->model, &c->best.s,
				       chunk_stages(&c->p), &refused);
	if (!c->simulated) {
		diag_error_in(r->d->sink, DIAG_SCHEDULE_TOO_LARGE, r->path,
			      "%s", refused);
		return CLI_OK;
	}
	int *place = stages_placement(a, in->g, in->l, &c->best.s,
				      chunk_stages(&c->p));
	for (int v = 0; v < in->g->nops; v++)
		place[v] %= in->ndevices;
	c->place = place;
	*to = (place_found){ c, chunks_json, chunks_text, in->g, place,
			     in->ndevices, NULL };
	return CLI_OK;
}
