#include "config.h"

#include "libtdl/plan_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/portfolio/pipeline_plan.h"
#include "libtdl/placement_more.h"
#include "libtdl/plan_report.h"

/* ---- options ----------------------------------------------------------- */

/* Whether an option that goes with stages alone is given. */
static const char *without_stages(const plan_options *o)
{
	return o->pipeline_schedule ? "schedule" : o->inside ? "inside" : NULL;
}

static bool read_schedule(job *d, plan_options *o)
{
	if (place_schedule(o->pipeline_schedule, &o->order, &o->chunks))
		return true;
	cli_usage(&d->program, "%s takes one of 1f1b, gpipe, zb, "
		  "interleaved:V with V from 1 to %d, not '%s'",
		  job_option(d, "schedule"), PLACE_MAX_CHUNKS,
		  o->pipeline_schedule);
	return false;
}

static bool read_number(job *d, plan_options *o)
{
	char *end;
	long n = strtol(o->stages, &end, 10);
	if (end == o->stages || *end || n < 1 || n > PLAN_MAX_STAGES) {
		cli_usage(&d->program, "%s takes a number from 1 to %d, not "
			  "'%s'", job_option(d, "stages"), PLAN_MAX_STAGES,
			  o->stages);
		return false;
	}
	o->nstages = (int)n;
	return true;
}

/* The option that --stages does not go with, of those that are given; NULL. */
static const char *beside_stages(const plan_options *o)
{
	return o->frontier			? "frontier" :
	       pins_are_given(&o->request.pins) ? "pin" :
	       o->bucket			? "bucket-bytes" :
						  NULL;
}

bool plan_stages_agree(job *d, plan_options *o)
{
	const char *alone = without_stages(o), *beside = beside_stages(o);
	const char *name = job_option(d, "stages");
	if (!o->stages && !alone)
		return true;
	if (!o->inside)
		o->inside = "tofu";
	if (!o->stages)
		cli_usage(&d->program, "%s goes with %s", job_option(d, alone),
			  name);
	else if (!o->micro_batches)
		cli_usage(&d->program, "%s needs %s", name,
			  job_option(d, "micro-batches"));
	else if (beside)
		cli_usage(&d->program, "%s does not go with %s", name,
			  job_option(d, beside));
	else
		return read_number(d, o) && read_schedule(d, o) &&
		       plan_is_algorithm(d, o->inside);
	return false;
}

/* ---- the search -------------------------------------------------------- */

typedef struct stages_search {
	job *job;
	const plan_request *how;
	const plan_options *options;
	const pipeline_layers *layers; /* of .. */
	plan_request one;	       /* .. the graph in so many turns */
} stages_search;

/* Whether there is a plan, within the limit. */
static bool fits(const stages_search *x, const pipeline_result *r)
{
	return !r->refused && (x->how->memory == 0 ||
			       r->peak_bytes <= x->how->memory);
}

/* Makes *r of a graph in turns, with stages of as many layers as take equally
 * long.  False when errors were added. */
static bool try_stages(stages_search *x, const graph *g, int nstages,
		       pipeline_schedule kind, int chunks, pipeline_result *r)
{
	if (!x->layers || x->layers->g != g)
		x->layers = pipeline_layers_new(x->job->arena, g,
						x->how->topology);
	x->one = *x->how;
	x->one.graph = g;
	return pipeline_balanced(&x->one, x->layers, nstages, kind, chunks,
				 x->options->inside, r);
}

/* Whether x is better than y, which is not refused. */
static bool is_better(const stages_search *s, const pipeline_result *x,
		      const pipeline_result *y)
{
	if (x->refused || fits(s, x) != fits(s, y))
		return fits(s, x);
	return fits(s, x) ? x->seconds < y->seconds
			  : x->peak_bytes < y->peak_bytes;
}

/* Adds a number of micro-batches that was tried; the best becomes *best. */
static void take(stages_search *x, int turns, const pipeline_result *r,
		 pipeline_result *best, plan_result *to)
{
	if (!r->refused)
		vec_push(x->job->arena, &to->tried,
			 ((plan_try){ turns, r->seconds,
				      r->plan->communication_bytes,
				      r->peak_bytes }));
	if ((best->refused || !best->plan) && (!r->refused || !best->refused))
		*best = *r;
	else if (best->plan && is_better(x, r, best))
		*best = *r;
}

/* All divisors of the batch.  False when errors were added. */
static bool try_all_turns(stages_search *x, const graph *g,
			  pipeline_result *best, plan_result *to)
{
	turns_options t = plan_turns_options(x->options, 1);
	job *d = x->job;
	int64_t n = to->batch = graph_batch(g, &t, d->sink);
	int most = n < PLAN_MAX_TURNS ? (int)n : PLAN_MAX_TURNS;
	for (t.turns = 1; t.turns <= most; t.turns++) {
		pipeline_result r;
		if (n % t.turns != 0)
			continue;
		int before = diag_errors(d->sink);
		const graph *one = graph_in_turns(d->arena, g, &t, d->sink);
		if (!one && t.turns > 1) {
			diag_forgive(d->sink, before);
			break;
		}
		if (!one || !try_stages(x, one, x->options->nstages,
					x->options->order, x->options->chunks,
					&r))
			return false;
		take(x, t.turns, &r, best, to);
	}
	return n > 0;
}

/* ---- where nothing fits ------------------------------------------------ */

static void say_if_fits(stages_search *x, const graph *g, int nstages,
			pipeline_schedule kind, const char *what)
{
	pipeline_result r;
	int before = diag_errors(x->job->sink);
	if (!try_stages(x, g, nstages, kind, 1, &r))
		diag_forgive(x->job->sink, before);
	else if (fits(x, &r))
		cli_failed(&x->job->program, "%s: a device needs %s", what,
			   plan_bytes_text(x->job->arena, r.peak_bytes));
}

/* The changes of options that would fit, each by itself. */
static void say_remedies(stages_search *x, const graph *g)
{
	const plan_options *o = x->options;
	const job *d = x->job;
	arena *a = d->arena;
	const graph *one = x->one.graph;
	turns_options t = plan_turns_options(o, 2 * (int)o->turns);
	int before = diag_errors(d->sink);
	pipeline_schedule kind = o->chunks > 1 ? SCHEDULE_1F1B : o->order;
	if (o->order != SCHEDULE_1F1B)
		say_if_fits(x, one, o->nstages, SCHEDULE_1F1B,
			    arena_printf(a, "with %s %s",
					 job_option(d, "schedule"),
					 schedule_name(SCHEDULE_1F1B)));
	if (2 * o->nstages <= x->how->k)
		say_if_fits(x, one, 2 * o->nstages, kind,
			    arena_printf(a, "with %s %d",
					 job_option(d, "stages"),
					 2 * o->nstages));
	const graph *more = !o->any_turns && t.turns <= PLAN_MAX_TURNS ?
		graph_in_turns(a, g, &t, d->sink) : NULL;
	diag_forgive(d->sink, before);
	if (more)
		say_if_fits(x, more, o->nstages, kind,
			    arena_printf(a, "with %s %d",
					 job_option(d, "micro-batches"),
					 t.turns));
}

static void say_excess(stages_search *x, const graph *g,
		       const pipeline_result *r)
{
	int at = 0;
	while (r->plan->stages[at].arena_bytes < r->peak_bytes)
		at++;
	const pipeline_stage *s = &r->stages[at];
	cli_failed(&x->job->program, "stage %d (%d layer%s, '%s' to '%s') "
		   "needs %lld bytes on each of its devices, %lld more than "
		   "%s allows", at, s->nlayers, s->nlayers == 1 ? "" : "s",
		   s->first_node, s->last_node, (long long)r->peak_bytes,
		   (long long)(r->peak_bytes - x->how->memory),
		   job_option(x->job, "memory"));
	say_remedies(x, g);
}

/* ---- all --------------------------------------------------------------- */

cli_status plan_stages_search(job *d, const plan_request *how,
			      const plan_options *o, plan_result *r,
			      bool *made)
{
	stages_search x = { .job = d, .how = how, .options = o };
	pipeline_result *best = ARENA_NEW(d->arena, pipeline_result);
	const graph *g = how->graph;
	*r = (plan_result){ .machine = how->topology->name,
			    .machine_memory = how->topology->memory,
			    .objective = "time",
			    .pipeline = best };
	if (o->any_turns) {
		*made = try_all_turns(&x, g, best, r);
	} else {
		r->batch = g->turns->batch;
		*made = try_stages(&x, g, o->nstages, o->order, o->chunks,
				   best);
	}
	if (!*made)
		return CLI_OK;
	if (!best->refused && !fits(&x, best))
		say_excess(&x, how->graph, best);
	else if (best->refused)
		cli_failed(&d->program, "%s", best->refused);
	if (!fits(&x, best))
		return best->absent ? CLI_MACHINE : CLI_NO_PLAN;
	r->graph = g->whole ? g->whole : g;
	r->seconds = best->seconds;
	return CLI_OK;
}
