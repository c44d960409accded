/* Placements by `capture': replicas, tensor degrees, stages and micro-batches
 * for a layer table. */
#include "config.h"

#include "libtdl/placement_more.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "compiler/placement/capture_find.h"
#include "compiler/placement/degrees.h"

typedef struct capture {
	const place_run *run;
	const layer_table *t;
	capture_request r;
	capture_found found;
} capture;

/* ---- reading ------------------------------------------------------------ */

static bool usage(const place_run *r, int64_t *memory, cli_status *status)
{
	const place_more *m = r->more;
	const place_options *o = r->o;
	if (!place_takes_only(r, "capture", "memory factor objective schedule "
			      "micro-batches recompute no-recompute zero "
			      "uneven frontier", status))
		return false;
	if (m->schedule && strchr(m->schedule, ':'))
		return place_refuse(r, status, "interleaved schedules are "
				    "planned by mcap");
	if (m->objective == PLACE_LOAD)
		return place_refuse(r, status, "the objectives of capture are "
				    "makespan, peak, cost");
	if (m->recompute && m->no_recompute)
		return place_refuse(r, status, "%s and %s exclude each other",
				    job_option(r->d, "recompute"),
				    job_option(r->d, "no-recompute"));
	if (o->factor >= 0 && o->factor < 2)
		return place_refuse(r, status,
				    "%s of capture is at least 2, "
				    "for weights and gradients; the rest is "
				    "the optimizer's states",
				    job_option(r->d, "factor"));
	if (o->memory && (!units_read_size(o->memory, memory) || *memory == 0))
		return place_refuse(r, status, "%s is a number of bytes",
				    job_option(r->d, "memory"));
	return true;
}

static bool read_capture(capture *c, const json_t *table, cli_status *status)
{
	const place_run *r = c->run;
	static const capture_objective of[] = {
		[PLACE_UNSAID] = CAPTURE_TIME, [PLACE_MAKESPAN] = CAPTURE_TIME,
		[PLACE_PEAK] = CAPTURE_PEAK, [PLACE_COST] = CAPTURE_COST,
	};
	int64_t memory = 0;
	pipeline_schedule schedule;
	int chunks;
	if (!usage(r, &memory, status))
		return false;
	place_schedule(r->more->schedule, &schedule, &chunks);
	c->t = layers_read(r->d->arena, r->d->sink, r->path, table);
	if (!c->t)
		return false;
	c->r = (capture_request){
		.objective = of[r->more->objective],
		.schedule = schedule,
		.devices = r->o->devices ? (int)r->o->devices : c->t->devices,
		.cap = memory > 0 ? (double)memory : c->t->memory,
		.optimizer = r->o->factor < 0 ? 6 : r->o->factor - 2,
		.zero = r->more->zero,
		.plain = !r->more->recompute,
		.recompute = !r->more->no_recompute,
		.micro_batches = (int)r->more->micro_batches,
		.uneven = r->more->uneven,
	};
	if (capture_most_bytes(c->t, &c->r) >= PLACE_MAX_BYTES) {
		diag_error_in(r->d->sink, DIAG_LAYERS_INVALID, r->path,
			      "the bytes of the layers add up to more than can "
			      "be counted");
		return false;
	}
	if (capture_fits(c->t, &c->r))
		return true;
	diag_error_in(r->d->sink, DIAG_LAYERS_TOO_LARGE, r->path,
		      "%d layers on %d devices, with %s, are too many to be "
		      "planned", c->t->n, c->r.devices,
		      c->r.uneven ? "uneven stages" : "skips");
	return false;
}

/* ---- where nothing fits ------------------------------------------------- */

/* The change of options, beginning with "with" or "without". */
static const char *change_of(const job *d, const remedy *x)
{
	switch (x->kind) {
	case REMEDY_RECOMPUTE:
		return arena_printf(d->arena, "without %s",
				    job_option(d, "no-recompute"));
	case REMEDY_UNEVEN:
		return arena_printf(d->arena, "with %s",
				    job_option(d, "uneven"));
	case REMEDY_MICRO_BATCHES:
		return arena_printf(d->arena, "without %s",
				    job_option(d, "micro-batches"));
	default:
		return arena_printf(d->arena, "with %d devices", x->number);
	}
}

static void say_remedies(const capture *c)
{
	const job *d = c->run->d;
	const remedies all = capture_remedies(d->arena, c->t, &c->r);
	for (int i = 0; i < all.n; i++)
		cli_failed(&d->program, "%s, %s %.0f would do",
			   change_of(d, &all.at[i]), job_option(d, "memory"),
			   ceil(all.at[i].nbytes));
}

/* Reports that these options allow no plan, whatever the memory. */
static void say_no_plan(const capture *c)
{
	const cli_program *program = &c->run->d->program;
	if (c->r.micro_batches != 0 && c->t->batch % c->r.micro_batches != 0)
		cli_failed(program, "a batch of %d is not made of %d equal "
			   "micro-batches", c->t->batch, c->r.micro_batches);
	else
		cli_failed(program, "%d device%s, a batch of %d and %d layer%s "
			   "do not allow equal stages", c->r.devices,
			   c->r.devices == 1 ? "" : "s", c->t->batch, c->t->n,
			   c->t->n == 1 ? "" : "s");
	say_remedies(c);
}

static cli_status say_no_room(const capture *c)
{
	const cli_program *program = &c->run->d->program;
	capture_plan p;
	int worst = capture_exceeding_stage(c->run->d->arena, c->t, &c->r, &p);
	if (worst < 0) {
		say_no_plan(c);
		return CLI_NO_PLAN;
	}
	quantity q[2];
	units_bytes_apart(2, (double[]){ ceil(c->r.cap), ceil(p.peak) }, q);
	cli_failed(program, "no plan %s into %s: at best, stage %d of %d "
		   "needs %s",
		   c->found.best.proven ? "fits" : "was found that fits",
		   q[0].text, worst, p.nstages, q[1].text);
	if (!p.proven)
		cli_failed(program, "the skips allow more plans than were "
			   "looked at");
	say_remedies(c);
	return CLI_NO_PLAN;
}

/* ---- printing ----------------------------------------------------------- */

/* Numbers that describe how a plan's stage works. */
typedef enum number { REPLICAS, TENSOR, SAMPLES, RECOMPUTE } number;

static int number_of(const capture_plan *p, int s, number what)
{
	const stage_way *w = &p->at[s].way;
	return what == REPLICAS ? w->replicas :
		what == TENSOR ? w->tensor :
		what == SAMPLES ? p->samples / w->replicas : w->recompute;
}

/* The least of a number over all stages; most() gives the greatest. */
static int least(const capture_plan *p, number what)
{
	int x = number_of(p, 0, what);
	for (int s = 1; s < p->nstages; s++)
		if (number_of(p, s, what) < x)
			x = number_of(p, s, what);
	return x;
}

static int most(const capture_plan *p, number what)
{
	int x = number_of(p, 0, what);
	for (int s = 1; s < p->nstages; s++)
		if (number_of(p, s, what) > x)
			x = number_of(p, s, what);
	return x;
}

/* Sets a number of the plan; null if stages differ in it. */
static void set_common(json_t *j, const char *key, const capture_plan *p,
		       number what)
{
	int x = least(p, what);
	json_object_set_new(j, key, x != most(p, what) ? json_null() :
			    what == RECOMPUTE ? json_boolean(x) :
						json_integer(x));
}

static void set_plan(json_t *j, const capture_plan *p)
{
	json_object_set_new(j, "devices", json_integer(p->devices));
	set_common(j, "replicas", p, REPLICAS);
	set_common(j, "tensor_degree", p, TENSOR);
	json_object_set_new(j, "nstages", json_integer(p->nstages));
	set_common(j, "micro_batch", p, SAMPLES);
	json_object_set_new(j, "micro_batches",
			    json_integer(p->micro_batches));
	set_common(j, "recompute", p, RECOMPUTE);
	json_object_set_new(j, "peak_bytes_max", place_bytes(p->peak));
	json_object_set_new(j, "bottleneck_seconds", json_real(p->bottleneck));
	json_object_set_new(j, "step_seconds", json_real(p->step));
	json_object_set_new(j, "device_seconds",
			    json_real(p->step * p->devices));
}

/* Lists the stages.  Adds each device's peak to peaks, unless that is NULL. */
static json_t *stages_list(const capture_plan *p, json_t *peaks)
{
	json_t *list = json_array();
	for (int s = 0; s < p->nstages; s++) {
		const capture_stage *x = &p->at[s];
		int each = x->way.replicas * x->way.tensor;
		json_t *j = json_object();
		json_object_set_new(j, "nodes", json_integer(x->nlayers));
		json_object_set_new(j, "devices", json_integer(each));
		json_object_set_new(j, "replicas",
				    json_integer(x->way.replicas));
		json_object_set_new(j, "tensor_degree",
				    json_integer(x->way.tensor));
		json_object_set_new(j, "recompute",
				    json_boolean(x->way.recompute));
		json_object_set_new(j, "peak_bytes", place_bytes(x->peak));
		json_object_set_new(j, "seconds", json_real(x->seconds));
		json_array_append_new(list, j);
		for (int d = 0; peaks && d < each; d++)
			json_array_append_new(peaks, place_bytes(x->peak));
	}
	return list;
}

/* Sets the comparison with the fastest plan without recomputation that fits in
 * the memory. */
static void set_comparison(json_t *j, const capture *c)
{
	double f_peak = c->found.fastest.peak, f_step = c->found.fastest.step;
	json_t *f;
	if (!c->found.has_fastest)
		return;
	f = json_object();
	set_plan(f, &c->found.fastest);
	json_object_set_new(j, "fastest", f);
	json_object_set_new(j, "memory_reduction", f_peak > 0 ?
			    json_real(1 - c->found.best.peak / f_peak) :
			    json_null());
	json_object_set_new(j, "step_ratio", f_step > 0 ?
			    json_real(c->found.best.step / f_step) :
			    json_null());
}

static json_t *capture_json(const void *of)
{
	const capture *c = of;
	json_t *j = json_object(), *peaks = json_array();
	json_t *stages = stages_list(&c->found.best, peaks);
	static const char *const names[] = { "makespan", "peak", "cost" };
	json_object_set_new(j, "graph", json_string(c->t->name));
	json_object_set_new(j, "algorithm", json_string("capture"));
	json_object_set_new(j, "objective",
			    json_string(names[c->r.objective]));
	json_object_set_new(j, "schedule",
			    json_string(schedule_name(c->r.schedule)));
	set_plan(j, &c->found.best);
	json_object_set_new(j, "peak_bytes", peaks);
	json_object_set_new(j, "stages", stages);
	json_object_set_new(j, "optimal", json_boolean(c->found.best.proven));
	json_object_set_new(j, "seconds", json_real(c->found.seconds));
	set_comparison(j, c);
	if (c->run->more->frontier) {
		json_t *list = json_array();
		for (int i = 0; i < c->found.frontier.n; i++) {
			json_t *f = json_object();
			set_plan(f, &c->found.frontier.at[i]);
			json_object_set_new(f, "stages", stages_list(
				&c->found.frontier.at[i], NULL));
			json_array_append_new(list, f);
		}
		json_object_set_new(j, "frontier", list);
	}
	return j;
}

/* The range of a number over all stages: "2" or "1..4". */
static const char *span_of(arena *a, const capture_plan *p, number what)
{
	int x = least(p, what), y = most(p, what);
	return x == y ? arena_printf(a, "%d", x) :
			arena_printf(a, "%d..%d", x, y);
}

static void plan_row(FILE *to, arena *a, const capture *c,
		     const capture_plan *p)
{
	static const char *const often[] = { "no", "some", "yes" };
	const capture_plan *f = &c->found.fastest;
	const char *batches = arena_printf(a, "%d x %s", p->micro_batches,
					   span_of(a, p, SAMPLES));
	fprintf(to, "%7d %8s %6s %6d %9s %7s %8s %s", p->devices,
		span_of(a, p, REPLICAS), span_of(a, p, TENSOR), p->nstages,
		batches, often[least(p, RECOMPUTE) + most(p, RECOMPUTE)],
		place_bytes_text(a, p->peak),
		units_right(units_seconds(p->step), 8).text);
	if (c->found.has_fastest && f->peak > 0)
		fprintf(to, " %5.1f %%", 100 * (p->peak / f->peak - 1));
	else if (c->found.has_fastest)
		fprintf(to, " %7s", "-");
	if (c->found.has_fastest && f->step > 0)
		fprintf(to, " %5.3f", p->step / f->step);
	else if (c->found.has_fastest)
		fprintf(to, " %5s", "-");
	fprintf(to, "\n");
}

static void stages_text(FILE *to, arena *a, const capture_plan *p)
{
	fprintf(to,
		"\n  stage   layers devices replicas tensor recomp.     peak"
		"     time\n");
	for (int s = 0; s < p->nstages; s++) {
		const capture_stage *x = &p->at[s];
		fprintf(to, "%7d %8d %7d %8d %6d %7s %8s %s\n", s, x->nlayers,
			x->way.replicas * x->way.tensor, x->way.replicas,
			x->way.tensor, x->way.recompute ? "yes" : "no",
			place_bytes_text(a, x->peak),
			units_right(units_seconds(x->seconds), 8).text);
	}
}

static void capture_text(FILE *to, arena *a, const void *of)
{
	const capture *c = of;
	fprintf(to, "%s, capture: %d layer%s, batch %d, %s\n", c->t->name,
		c->t->n, c->t->n == 1 ? "" : "s", c->t->batch,
		schedule_name(c->r.schedule));
	if (c->found.has_fastest)
		fprintf(to,
			"memory and step are compared with the fastest %splan "
			"without recomputation\n",
			c->r.uneven ? "even " : "");
	if (!c->found.best.proven)
		fprintf(to,
			"the skips allow more plans than were looked at: this "
			"may not be the best\n");
	fprintf(to,
		"\ndevices replicas tensor stages   batches recomp.     peak"
		"     step%s\n",
		c->found.has_fastest ? "  memory  step" : "");
	if (!c->run->more->frontier)
		plan_row(to, a, c, &c->found.best);
	for (int i = 0; i < c->found.frontier.n; i++)
		plan_row(to, a, c, &c->found.frontier.at[i]);
	if (c->r.uneven && !c->run->more->frontier)
		stages_text(to, a, &c->found.best);
}

static cli_status plan_layers(const place_run *r, const json_t *table,
			      place_found *to)
{
	cli_status status = CLI_OK;
	capture *c = ARENA_NEW(r->d->arena, capture);
	c->run = r;
	if (!read_capture(c, table, &status))
		return status;
	if (!capture_find(r->d->arena, c->t, &c->r, r->more->frontier,
			  &c->found))
		return say_no_room(c);
	*to = (place_found){ .of = c, .json = capture_json,
			     .text = capture_text };
	return CLI_OK;
}

cli_status place_capture(const place_run *r, place_found *to)
{
	json_t *table = layers_load(r->d->arena, r->d->sink, r->path);
	if (!table)
		return CLI_OK;
	cli_status status = degrees_are_meant(table) ?
		place_piper(r, table, to) : plan_layers(r, table, to);
	json_decref(table);
	return status;
}
