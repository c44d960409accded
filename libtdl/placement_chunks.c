/* Placements by `mcap' for interleaved schedules, in chunks of layers. */
#include "config.h"

#include "libtdl/placement_stages.h"
#include "libtdl/placement_text.h"

#include <math.h>

#include "base/text.h"
#include "compiler/placement/placement_file.h"

typedef struct chunks {
	const stage_input *in;
	mcap_chunks found;
} chunks;

static const char *plural(int n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* ---- where nothing fits ------------------------------------------------- */

static void say_remedies(const chunks *c)
{
	const job *d = c->in->run->d;
	arena *a = d->arena;
	const remedies all = mcap_chunk_remedies(a, &c->in->r);
	for (int i = 0; i < all.n; i++) {
		const remedy *x = &all.at[i];
		const char *what =
			x->kind == REMEDY_DEVICES
				? arena_printf(a, "%d devices", x->number)
			: x->kind == REMEDY_RECOMPUTE
				? arena_printf(a, "with %s",
					       job_option(d, "recompute"))
				: arena_printf(a, "%d micro-batch%s", x->number,
					       plural(x->number, "", "es"));
		cli_failed(&d->program, "%s: %s are enough", what,
			   place_bytes_text(a, x->nbytes));
	}
}

static cli_status say_no_room(const chunks *c)
{
	arena *a = c->in->run->d->arena;
	const cli_program *program = &c->in->run->d->program;
	const chunk_split *best = &c->found.best;
	const chunk_problem *p = &c->found.p;
	cli_failed(program,
		   "no %d chunks on %d device%s %s: at best, device "
		   "%d needs %s",
		   chunk_stages(p), p->ndevices, plural(p->ndevices, "", "s"),
		   best->proven ? "fit" : "were found that fit",
		   chunk_exceeding_device(p, best->s.first),
		   place_bytes_text(a, best->s.peak));
	/* A rounded bound might exceed what is proven or needed. */
	if (!best->proven)
		cli_failed(program, "that is not proven: that all need more "
			   "than %.0f B is", floor(best->bound));
	say_remedies(c);
	return CLI_NO_PLAN;
}

static cli_status say_too_few(const stage_input *in)
{
	cli_failed(&in->run->d->program, "%d layer%s cannot make %lld chunks",
		   in->r.l->n, plural(in->r.l->n, "", "s"),
		   (long long)in->r.ndevices * in->r.model.chunks);
	return CLI_NO_PLAN;
}

/* ---- printing ----------------------------------------------------------- */

static json_t *chunk_list(const chunks *c)
{
	const mcap_chunks *f = &c->found;
	json_t *list = json_array();
	const intervals *t = f->p.of;
	const int *first = f->best.s.first;
	for (int q = 0; q < chunk_stages(&f->p); q++) {
		json_t *j = json_object();
		size_t x = interval_at(first[q], first[q + 1]);
		int n = chunk_in_flight(&f->p, q % f->p.ndevices,
					q / f->p.ndevices);
		json_object_set_new(j, "device",
				    json_integer(q % f->p.ndevices));
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
	const mcap_chunks *f = &c->found;
	json_t *list = json_array();
	for (int s = 0; s < f->p.ndevices; s++)
		json_array_append_new(
			list, place_bytes(chunk_memory(&f->p, f->best.s.first,
						       s, f->p.chunks)));
	return list;
}

static void set_search(json_t *j, const chunks *c)
{
	const mcap_chunks *f = &c->found;
	chunk_measure goal = mcap_chunk_goal(&c->in->r);
	double bound = f->best.bound;
	json_object_set_new(j, "makespan_seconds",
			    place_seconds((double)f->simulated->ns));
	json_object_set_new(j, "max_load_seconds",
			    place_seconds(f->best.s.bottleneck));
	json_object_set_new(j, "lower_bound_seconds",
			    goal == CHUNKS_BOTTLENECK ? place_seconds(bound)
						      : json_null());
	json_object_set_new(j, "objective_bound",
			    goal == CHUNKS_PEAK ? place_bytes(bound)
						: place_seconds(bound));
	json_object_set_new(j, "optimal", json_boolean(f->best.proven));
	json_object_set_new(j, "order", json_string("fixed"));
	json_object_set_new(j, "seconds", json_real(f->seconds));
	if (c->in->run->more->frontier)
		json_object_set_new(j, "frontier",
				    f->has_frontier
					    ? stages_frontier_list(&f->frontier)
					    : json_null());
}

static json_t *chunks_json(const void *of)
{
	const chunks *c = of;
	const mcap_chunks *f = &c->found;
	json_t *j = stages_object(c->in);
	json_object_set_new(j, "chunks", json_integer(f->p.chunks));
	json_object_set_new(j, "peak_bytes", peaks(c));
	json_object_set_new(j, "stages", chunk_list(c));
	stages_set_figures(j, &f->best.s);
	set_search(j, c);
	json_object_set_new(j, "placement",
			    placement_list(c->in->r.g, f->place));
	return j;
}

/* The proof, printed after the figure that is minimised; nothing after
 * others. */
static const char *proof(arena *a, const chunks *c, chunk_measure m,
			 double value)
{
	const mcap_chunks *f = &c->found;
	double bound = f->best.bound;
	if (m != mcap_chunk_goal(&c->in->r))
		return "";
	if (f->best.proven)
		return ", the least";
	return arena_printf(a, ", not proven: %.1f %% above the bound, %s",
			    bound > 0 ? 100 * (value / bound - 1) : 100.0,
			    m == CHUNKS_PEAK
				    ? place_bytes_text(a, bound)
				    : units_seconds(bound * 1e-9).text);
}

static void devices_text(FILE *to, arena *a, const chunks *c)
{
	const mcap_chunks *f = &c->found;
	const int *first = f->best.s.first;
	fprintf(to, "\n%6s  %9s  %12s  %15s  layers\n", "device", "in flight",
		"peak", "time");
	for (int s = 0; s < f->p.ndevices; s++) {
		fprintf(to, "%6d  %9d  %12s  %s  ", s,
			chunk_in_flight(&f->p, s, -1),
			place_bytes_text(
				a, chunk_memory(&f->p, first, s, f->p.chunks)),
			units_right(units_seconds(chunk_time(&f->p, first, s,
							     f->p.chunks) *
						  1e-9),
				    15)
				.text);
		for (int q = s; q < chunk_stages(&f->p); q += f->p.ndevices)
			fprintf(to, "%s%d", q > s ? "+" : "",
				first[q + 1] - first[q]);
		fprintf(to, "\n");
	}
}

static void chunks_text(FILE *to, arena *a, const void *of)
{
	const chunks *c = of;
	const mcap_chunks *f = &c->found;
	const stage_input *in = c->in;
	const split *s = &f->best.s;
	int S = in->r.ndevices, M = in->r.model.micro_batches;
	text_wrap(to,
		  arena_printf(a,
			       "%s in %d chunk%s on %d device%s, %s, %d "
			       "micro-batch%s%s: "
			       "%d layers in the order of the file",
			       in->r.g->name, chunk_stages(&f->p),
			       plural(chunk_stages(&f->p), "", "s"), S,
			       plural(S, "", "s"), in->run->more->schedule, M,
			       plural(M, "", "es"),
			       in->r.model.recompute ? ", recomputed" : "",
			       in->r.l->n),
		  0, 4);
	fprintf(to, "peak          %s%s\n", place_bytes_text(a, s->peak),
		proof(a, c, CHUNKS_PEAK, s->peak));
	fprintf(to, "busiest       %s%s\n",
		units_seconds(s->bottleneck * 1e-9).text,
		proof(a, c, CHUNKS_BOTTLENECK, s->bottleneck));
	fprintf(to, "step          %s%s; simulated %s\n",
		units_seconds(s->step * 1e-9).text,
		proof(a, c, CHUNKS_STEP, s->step),
		place_ns(f->simulated->ns).text);
	devices_text(to, a, c);
	if (f->has_frontier)
		stages_frontier_text(to, a, &f->frontier, "busiest device");
	else if (in->run->more->frontier)
		fprintf(to, "\nno frontier: not all of it can be proven\n");
}

/* ---- all of it ----------------------------------------------------------- */

/* Whether the options and the graph allow a plan.  If not, *status is set. */
static bool is_possible(const stage_input *in, cli_status *status)
{
	const place_run *r = in->run;
	int S = in->r.ndevices;
	const char *refused =
		chunks_refused(r->d->arena, in->r.l->n, S, in->r.model.chunks);
	*status = CLI_OK;
	if (r->more->predictor)
		*status = cli_usage(&r->d->program,
				    "%s goes with one stage on each device, "
				    "not with %s",
				    job_option(r->d, "predictor"),
				    r->more->schedule);
	else if ((int64_t)S * in->r.model.chunks > in->r.l->n)
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
	chunks *c = ARENA_NEW(r->d->arena, chunks);
	cli_status status;
	c->in = in;
	if (!is_possible(in, &status))
		return status;
	if (!mcap_search_chunks(r->d->arena, &in->r, &c->found))
		return say_no_room(c);
	if (!c->found.simulated) {
		diag_error_in(r->d->sink, DIAG_SCHEDULE_TOO_LARGE, r->path,
			      "%s", c->found.refused);
		return CLI_OK;
	}
	*to = (place_found){ c, chunks_json, chunks_text, in->r.g,
			     c->found.place, in->r.ndevices, NULL };
	return CLI_OK;
}
