#include "config.h"

#include "libtdl/plan_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "compiler/portfolio/one_planner.h"
#include "compiler/portfolio/pipeline_judge.h"
#include "compiler/portfolio/pipeline_plan.h"
#include "compiler/portfolio/pipeline_sums.h"
#include "compiler/portfolio/stage_pins.h"
#include "compiler/train/train.h"
#include "libtdl/placement_more.h"
#include "libtdl/plan_published.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_turns.h"
#include "libtdl/stages_excess.h"

/* ---- options ----------------------------------------------------------- */

/* An option that requires stages; NULL if none is given. */
static const char *without_stages(const plan_options *o)
{
	return o->pipeline_schedule ? "schedule" :
	       o->inside	    ? "inside" :
	       o->replicas	    ? "replicas" :
				      NULL;
}

static bool read_schedule(job *d, plan_options *o)
{
	pipeline_aims *to = &o->aims;
	const char *text = o->pipeline_schedule;
	to->any_schedule = text && !strcmp(text, PLAN_AUTO);
	to->kind = SCHEDULE_1F1B;
	to->chunks = 1;
	if (to->any_schedule || place_schedule(text, &to->kind, &to->chunks))
		return true;
	cli_usage(&d->program, "%s takes one of 1f1b, gpipe, zb, "
		  "interleaved:V with V from 1 to %d, " PLAN_AUTO ", not '%s'",
		  job_option(d, "schedule"), PLACE_MAX_CHUNKS, text);
	return false;
}

/* Reads a number, or "auto" or NULL, which give 0. */
static bool read_number(job *d, const char *option, const char *text,
			int most, int *to)
{
	char *end = NULL;
	*to = 0;
	if (!text || !strcmp(text, PLAN_AUTO))
		return true;
	long n = strtol(text, &end, 10);
	if (end == text || *end || n < 1 || n > most) {
		cli_usage(&d->program, "%s takes a number from 1 to %d, or '"
			  PLAN_AUTO "', not '%s'", job_option(d, option),
			  most, text);
		return false;
	}
	*to = (int)n;
	return true;
}

/* The given option that conflicts with --stages; NULL if there is none. */
static const char *beside_stages(arena *a, const plan_options *o)
{
	const pin_texts *pins = &o->request.pins;
	bool of_layouts = pins_are_given(pins) &&
			  !stage_pins_are_given(a, pins);
	return o->frontier			? "frontier" :
	       o->objective >= 0		? "objective" :
	       of_layouts			? "pin" :
	       o->warn_replicate		? "warn-replicate" :
						  NULL;
}

/* Whether the options suit a published planner, if one is named. */
static bool suits_published(job *d, const plan_options *o)
{
	bool is = o->named && plan_is_published(o->named);
	const char *why = !is ? NULL :
		plan_published_misfit(d, o->named, (int)o->devices, &o->aims);
	if (why)
		cli_usage(&d->program, "%s", why);
	return !why;
}

/* Whether the options suit pins of stages, if there are any. */
static bool suits_pins(job *d, const plan_options *o)
{
	bool published = o->named && plan_is_published(o->named);
	if (!pins_are_given(&o->request.pins))
		return true;
	if (published)
		cli_usage(&d->program, "%s does not go with %s %s",
			  job_option(d, "pin"), job_option(d, "algorithm"),
			  o->named);
	else if (o->aims.any_schedule || o->aims.chunks > 1)
		cli_usage(&d->program, "%s goes with schedules without chunks",
			  job_option(d, "pin"));
	else
		return true;
	return false;
}

/* Whether automatic choice should not try stages; the option then counts as not
 * given. */
static bool read_none(plan_options *o)
{
	o->no_stages = o->stages && !strcmp(o->stages, "none");
	if (o->no_stages)
		o->stages = NULL;
	return o->no_stages;
}

bool plan_stages_agree(job *d, plan_options *o)
{
	bool none = read_none(o);
	const char *alone = without_stages(o);
	const char *beside = beside_stages(d->arena, o);
	const char *name = job_option(d, "stages");
	if (!o->stages && !alone)
		return true;
	o->aims.inside = o->inside;
	if (!o->stages)
		cli_usage(&d->program, "%s goes with %s%s",
			  job_option(d, alone), name, none ? ", not none" : "");
	else if (!o->micro_batches)
		cli_usage(&d->program, "%s needs %s", name,
			  job_option(d, "micro-batches"));
	else if (beside)
		cli_usage(&d->program, "%s does not go with %s", name,
			  job_option(d, beside));
	else if (o->named && strcmp(o->named, PLAN_AUTO) != 0 &&
		 !plan_is_published(o->named))
		cli_usage(&d->program, "%s does not go with %s %s; %s names "
			  "the planner of the stages' layouts", name,
			  job_option(d, "algorithm"), o->named,
			  job_option(d, "inside"));
	else
		return read_number(d, "stages", o->stages, PLAN_MAX_STAGES,
				   &o->aims.nstages) &&
		       read_number(d, "replicas", o->replicas,
				   MESH_MAX_WORKERS, &o->aims.replicas) &&
		       read_schedule(d, o) && suits_published(d, o) &&
		       suits_pins(d, o) &&
		       (!o->inside || plan_is_algorithm(d, o->inside));
	return false;
}

/* ---- the search -------------------------------------------------------- */

typedef struct stages_search {
	job *job;
	const plan_request *how;
	const plan_options *options;
	pipeline_aims aims;
	const graph *best; /* for the best number of turns */
} stages_search;

static bool plan_pinned(const plan_request *how, const pipeline_aims *aims,
			pipeline_result *r)
{
	stage_pins p;
	plan_request one = *how;
	one.algorithm = "pins";
	*r = (pipeline_result){ 0 };
	if (!stage_pins_read(how, &p))
		return false;
	if (aims->nstages && aims->nstages != p.nstages) {
		r->refused = arena_printf(how->arena, "pins are for %d stages, "
					  "not %d", p.nstages, aims->nstages);
		return true;
	}
	return stage_pins_plan(&one, aims, &p, r);
}

bool plan_stages_make(const plan_request *how, const graph *g,
		      const pipeline_aims *aims, pipeline_result *r)
{
	plan_request one = *how;
	one.graph = g;
	if (pins_are_given(&one.pins))
		return plan_pinned(&one, aims, r);
	return plan_is_published(one.algorithm)
		       ? plan_published_find(&one, aims, r)
		       : pipeline_search(&one, aims, r);
}

/* Adds the result for a number of micro-batches.  If it is the best, stores it
 * in *best. */
static void take(stages_search *x, const graph *g, const pipeline_result *r,
		 pipeline_result *best, plan_result *to)
{
	if (r->plan)
		vec_push(x->job->arena, &to->tried,
			 ((plan_try){ g->turns->turns, r->seconds,
				      r->plan->communication_bytes,
				      r->peak_bytes }));
	if (x->best && pipeline_is_better(x->how, best, r))
		return;
	*best = *r;
	x->best = g;
}

/* Tries a number of micro-batches for a plan faster than the best one that
 * fits.  Returns false when errors were added. */
static bool try_turns(stages_search *x, const graph *g, int turns,
		      pipeline_result *best, plan_result *to)
{
	turns_options t = plan_turns_options(x->options, turns);
	pipeline_aims aims = x->aims;
	pipeline_result r;
	job *d = x->job;
	int before = diag_errors(d->sink);
	const graph *one = graph_in_turns(d->arena, g, &t, d->sink);
	if (!one && (turns > 1 || aims.several)) {
		diag_forgive(d->sink, before);
		return true;
	}
	if (best->plan && pipeline_is_within(x->how, best) &&
	    (aims.beat <= 0 || best->seconds < aims.beat))
		aims.beat = best->seconds;
	if (!one || !plan_stages_make(x->how, one, &aims, &r))
		return false;
	take(x, one, &r, best, to);
	return true;
}

static int by_turns(const void *x, const void *y)
{
	const plan_try *a = x, *b = y;
	return a->turns - b->turns;
}

/* Tries all divisors of the batch, the greatest first, as it needs least
 * memory: the sooner a plan fits, the fewer others are planned.  Returns false
 * when errors were added. */
static bool try_all_turns(stages_search *x, const graph *g,
			  pipeline_result *best, plan_result *to)
{
	const turns_options t = plan_turns_options(x->options, 1);
	int64_t n = to->batch = graph_batch(g, &t, x->job->sink);
	int turns = n < PLAN_MAX_TURNS ? (int)n : PLAN_MAX_TURNS;
	for (; turns > 0; turns--)
		if (n % turns == 0 && !try_turns(x, g, turns, best, to))
			return false;
	if (to->tried.n > 0)
		qsort(to->tried.at, (size_t)to->tried.n, sizeof(plan_try),
		      by_turns);
	return n > 0;
}

/* ---- one stage ---------------------------------------------------------- */

/* Whether a plan without stages fits in the devices' memory. */
static bool has_room(const plan_request *how, const plan_result *r)
{
	int64_t most = how->memory > 0 ? how->memory : how->topology->memory;
	return !r->search->error &&
	       (most == 0 || r->plan->arena_bytes <= most);
}

/* Whether x is better than y: a try within the limit is better than one beyond,
 * and of two tries within it the faster one. */
static bool is_better_try(const plan_try *x, const plan_try *y, double most)
{
	bool fits = (double)x->memory <= most;
	if (fits != ((double)y->memory <= most))
		return fits;
	return x->seconds < y->seconds;
}

/* Joins the figures of both searches; for each number of micro-batches the
 * better one is kept. */
static void join_tried(const plan_request *how, const plan_result *with,
		       plan_result *to)
{
	double most = pipeline_limit(how, 0, how->k);
	for (int i = 0; i < with->tried.n; i++) {
		const plan_try *x = &with->tried.at[i];
		int j = 0;
		while (j < to->tried.n && to->tried.at[j].turns != x->turns)
			j++;
		if (j == to->tried.n)
			vec_push(how->arena, &to->tried, *x);
		else if (is_better_try(x, &to->tried.at[j], most))
			to->tried.at[j] = *x;
	}
	if (to->tried.n > 0)
		qsort(to->tried.at, (size_t)to->tried.n, sizeof(plan_try),
		      by_turns);
}

/* Whether a plan without stages is allowed and may be better.  The number of
 * stages has to be open.  Also one stage has to be the best number so far, or
 * the best run has one micro-batch, for which stages wait.  For small graphs it
 * is enough that a run may have one. */
static bool may_be_whole(const stages_search *x, const pipeline_result *best)
{
	enum { SMALL_GRAPH = 1024 };
	const plan_options *o = x->options;
	return x->best && !o->aims.nstages && !without_stages(o) &&
	       !o->aims.recompute &&
	       !plan_is_published(x->how->algorithm) &&
	       !pins_are_given(&x->how->pins) &&
	       x->how->topology->nkinds == 0 &&
	       (x->best->turns->turns == 1 ||
		(best->plan && best->plan->nstages == 1) ||
		(o->any_turns && x->best->nnodes <= SMALL_GRAPH));
}

/* Replaces *r by the best plan without stages unless it is slower.  Returns
 * false when errors were added. */
static bool try_whole(const stages_search *x, const lower_options *lower,
		      const pipeline_result *best, plan_result *r)
{
	plan_request one = *x->how;
	const plan_options *o = x->options;
	const graph *g = one.graph;
	plan_result whole;
	int before = diag_errors(x->job->sink);
	one.algorithm = PLAN_AUTO;
	if (g->turns && g->turns->turns == 1)
		one.graph = o->model;
	if (!plan_is_countable(x->job->sink, one.graph, one.k)) {
		diag_forgive(x->job->sink, before);
		return true;
	}
	if (o->any_turns ? !plan_any_turns(x->job, &one, o, lower, &whole)
			 : !plan_search_once(&one, lower, &whole))
		return false;
	if (!has_room(&one, &whole) ||
	    (pipeline_fits(x->how, best) && best->seconds <= whole.seconds))
		return true;
	join_tried(x->how, r, &whole);
	*r = whole;
	return true;
}

/* ---- all --------------------------------------------------------------- */

cli_status plan_stages_search(job *d, const plan_request *how,
			      const plan_options *o,
			      const lower_options *lower, plan_result *r,
			      bool *made)
{
	stages_search x = { .job = d, .how = how, .options = o,
			    .aims = o->aims };
	pipeline_result *best = ARENA_NEW(d->arena, pipeline_result);
	const graph *g = how->graph;
	*r = (plan_result){ .machine = how->topology->name,
			    .topology = how->topology,
			    .machine_memory = how->topology->memory,
			    .objective = "time",
			    .pipeline = best };
	if (o->any_turns) {
		*made = try_all_turns(&x, g, best, r);
	} else {
		x.best = g;
		r->batch = g->turns->batch;
		*made = plan_stages_make(how, g, &x.aims, best);
	}
	if (*made && may_be_whole(&x, best))
		*made = try_whole(&x, lower, best, r);
	if (!*made || !r->pipeline)
		return CLI_OK;
	if (!best->plan)
		cli_failed(&d->program, "%s", best->refused);
	else if (!pipeline_fits(how, best))
		stages_excess_say(d, how, o, x.best, best);
	if (!pipeline_fits(how, best))
		return best->absent ? CLI_MACHINE : CLI_NO_PLAN;
	r->graph = x.best->whole ? x.best->whole : x.best;
	r->seconds = best->seconds;
	return CLI_OK;
}

/* ---- beside plans without stages --------------------------------------- */

/* Whether the request allows stages: automatic choice, by time, and no option
 * for a plan of one stage. */
static bool may_have_stages(const plan_request *how, const plan_options *o)
{
	return o->micro_batches && !o->no_stages && how->k > 1 &&
	       !strcmp(how->algorithm, PLAN_AUTO) &&
	       how->objective == OBJECTIVE_TIME && !o->warn_replicate &&
	       !pins_are_given(&how->pins);
}

/* Replaces a plan without stages.  ahead: the pipeline was found before the
 * search for that plan. */
static void take_place(const stages_search *x, const pipeline_result *best,
		       bool ahead, const plan_result *tried, plan_result *r)
{
	arena *a = x->job->arena;
	const graph *g = x->best;
	const char *note = r->search->error ? r->search->error :
		arena_printf(a, "found by 'stages'; without these the best "
			     "%stakes %s, and %s of a device",
			     ahead ? "of those that might have been faster "
				   : "",
			     units_seconds(r->seconds).text,
			     plan_bytes_text(a, r->plan->arena_bytes));
	plan_result all = { .graph = g->whole ? g->whole : g,
			    .machine = r->machine,
			    .topology = x->how->topology,
			    .machine_memory = x->how->topology->memory,
			    .objective = "time",
			    .pipeline = best,
			    .seconds = best->seconds,
			    .note = note,
			    .batch = g->turns->batch,
			    .tried = r->tried };
	join_tried(x->how, tried, &all);
	*r = all;
}

/* The graph of one micro-batch for the requested number; NULL if there is
 * none. */
static const graph *asked_turns(const stages_search *x)
{
	const plan_options *o = x->options;
	turns_options t = plan_turns_options(o, (int)o->turns);
	int before = diag_errors(x->job->sink);
	if (x->how->graph->turns)
		return x->how->graph;
	const graph *g = graph_in_turns(x->job->arena, x->how->graph, &t,
					x->job->sink);
	if (!g)
		diag_forgive(x->job->sink, before);
	return g;
}

/* Makes pipelines with the requested numbers of micro-batches. */
static bool try_asked(stages_search *x, pipeline_result *best,
		      plan_result *tried)
{
	const plan_options *o = x->options;
	if (o->any_turns)
		return try_all_turns(x, x->how->graph, best, tried);
	return !(x->best = asked_turns(x)) ||
	       plan_stages_make(x->how, x->best, &x->aims, best);
}

static bool fits_stages(const plan_request *how, const pipeline_result *r)
{
	return r->plan && r->plan->nstages > 1 && pipeline_is_within(how, r);
}

static const pipeline_aims beside = { .several = true, .any_schedule = true,
				      .kind = SCHEDULE_1F1B, .chunks = 1 };

/* Whether to search stages first.  Prices of memory are tried if there is a
 * limit, and then take most of the search. */
static bool is_ahead(const plan_request *how, const plan_options *o)
{
	enum { LARGE_GRAPH = 4096 };
	return may_have_stages(how, o) && !o->any_turns && o->turns > 1 &&
	       how->memory > 0 && how->graph->nnodes >= LARGE_GRAPH;
}

bool plan_stages_ahead(job *d, const plan_request *how, const plan_options *o,
		       stages_ahead *to)
{
	stages_search x = { .job = d, .how = how, .options = o,
			    .aims = beside };
	pipeline_result *best = ARENA_NEW(d->arena, pipeline_result);
	plan_result tried = { 0 };
	*to = (stages_ahead){ .searched = is_ahead(how, o) };
	if (!to->searched)
		return true;
	if (!try_asked(&x, best, &tried))
		return false;
	if (fits_stages(how, best))
		to->found = best;
	else if (best->plan)
		to->least = best;
	return true;
}

/* Searches again, for pipelines that recompute, where nothing fits.  *best: the
 * better of both. */
static bool try_recomputing(stages_search *x, pipeline_result *best,
			    plan_result *tried)
{
	stages_search again = *x;
	pipeline_result r = { 0 };
	again.aims.recompute = true;
	again.best = NULL;
	if (!try_asked(&again, &r, tried))
		return false;
	if (!pipeline_is_better(x->how, &r, best))
		return true;
	*best = r;
	x->best = again.best;
	return true;
}

bool plan_stages_beside(job *d, const plan_request *how, const plan_options *o,
			const stages_ahead *ahead, plan_result *r,
			const pipeline_result **least)
{
	stages_search x = { .job = d, .how = how, .options = o,
			    .aims = beside };
	pipeline_result *best = ARENA_NEW(d->arena, pipeline_result);
	plan_result tried = { 0 };
	bool room = has_room(how, r);
	*least = NULL;
	if (!may_have_stages(how, o))
		return true;
	if (ahead->found) {
		x.best = asked_turns(&x);
		if (!room || ahead->found->seconds < r->seconds)
			take_place(&x, ahead->found, true, &tried, r);
		return true;
	}
	if (room)
		x.aims.beat = r->seconds;
	if (!ahead->searched && !try_asked(&x, best, &tried))
		return false;
	if (ahead->least)
		*best = *ahead->least;
	if (!room && how->graph->training && !fits_stages(how, best) &&
	    !try_recomputing(&x, best, &tried))
		return false;
	if (fits_stages(how, best) && (!room || best->seconds < r->seconds))
		take_place(&x, best, false, &tried, r);
	else if (!room && best->plan)
		*least = best;
	return true;
}
