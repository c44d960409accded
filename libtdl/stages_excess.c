#include "config.h"

#include "libtdl/stages_excess.h"

#include <inttypes.h>

#include "compiler/graph/turns.h"
#include "compiler/portfolio/pipeline_judge.h"
#include "compiler/train/train.h"
#include "libtdl/plan_published.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_stages.h"

/* ---- the excess --------------------------------------------------------- */

/* The devices of a stage, in words. */
static const char *devices_of(arena *a, const pipeline_result *r, int at)
{
	int begin = 0, n = r->stages[at].way.devices;
	for (int s = 0; s < at; s++)
		begin += r->stages[s].way.devices;
	return n == 1 ? arena_printf(a, "device %d", begin)
		      : arena_printf(a, "each of devices %d to %d", begin,
				     begin + n - 1);
}

/* Whether the pipeline fits if each device may use what one of them needs at
 * most: devices may have less. */
static bool may_be_enough(const plan_request *how, const pipeline_result *r)
{
	plan_request more = *how;
	more.memory = r->peak_bytes;
	return pipeline_is_within(&more, r);
}

void stages_excess_of(job *d, const plan_request *how, const pipeline_result *r)
{
	double limit;
	arena *a = d->arena;
	int at = pipeline_fullest(how, r, &limit);
	const pipeline_stage *s = &r->stages[at];
	int64_t bytes = r->plan->stages[at].arena_bytes;
	bool asked = limit >= (double)how->memory && how->memory > 0;
	const char *memory = job_option(d, "memory");
	bool searched = !pins_are_given(&how->pins) &&
			!plan_is_published(how->algorithm);
	cli_failed(&d->program, "stage %d (%d layer%s, '%s' to '%s') needs %s "
		   "on %s, %s more than %s%s%s",
		   at, s->nlayers, s->nlayers == 1 ? "" : "s", s->first_node,
		   s->last_node, plan_bytes_text(a, bytes),
		   devices_of(a, r, at),
		   plan_bytes_text(a, bytes - (int64_t)limit),
		   asked ? arena_printf(a, "%s allows", memory)
		   : s->way.devices == 1 ? "it has" : "one of them has",
		   searched ? "; no plan was found that needs less" : "",
		   asked && may_be_enough(how, r)
			   ? arena_printf(a, "; enough would be %s %" PRId64,
					  memory, r->peak_bytes)
			   : "");
}

/* ---- remedies ------------------------------------------------------------ */

typedef struct remedies_search {
	job *job;
	const plan_request *how;
	const plan_options *options;
} remedies_search;

static void say_if_fits(const remedies_search *x, const graph *g,
			const pipeline_aims *aims, const char *option,
			const char *value)
{
	pipeline_result r;
	job *d = x->job;
	int before = diag_errors(d->sink);
	if (!plan_stages_make(x->how, g, aims, &r))
		diag_forgive(d->sink, before);
	else if (pipeline_fits(x->how, &r))
		cli_failed(&d->program, "with %s %s: a device needs %s",
			   job_option(d, option), value,
			   plan_bytes_text(d->arena, r.peak_bytes));
}

static void try_schedule(const remedies_search *x, const graph *one)
{
	pipeline_aims aims = x->options->aims;
	if (aims.kind == SCHEDULE_1F1B || aims.any_schedule)
		return;
	aims.kind = SCHEDULE_1F1B;
	aims.chunks = 1;
	say_if_fits(x, one, &aims, "schedule", schedule_name(SCHEDULE_1F1B));
}

static void try_recompute(const remedies_search *x, const graph *one)
{
	pipeline_aims aims = x->options->aims;
	if (!one->training || aims.recompute)
		return;
	aims.recompute = true;
	say_if_fits(x, one, &aims, "recompute", TRAIN_BY_STAGE);
}

static void try_more_stages(const remedies_search *x, const graph *one)
{
	pipeline_aims aims = x->options->aims;
	aims.nstages *= 2;
	if (aims.nstages > 0 && aims.nstages <= x->how->k)
		say_if_fits(x, one, &aims, "stages",
			    arena_printf(x->job->arena, "%d", aims.nstages));
}

static void try_more_turns(const remedies_search *x, const graph *one)
{
	const plan_options *o = x->options;
	job *d = x->job;
	const turns_options t = plan_turns_options(o, 2 * one->turns->turns);
	if (o->any_turns || t.turns > PLAN_MAX_TURNS ||
	    t.turns > one->turns->batch)
		return;
	int before = diag_errors(d->sink);
	const graph *more = graph_in_turns(d->arena, o->model, &t, d->sink);
	diag_forgive(d->sink, before);
	if (more)
		say_if_fits(x, more, &o->aims, "micro-batches",
			    arena_printf(d->arena, "%d", t.turns));
}

void stages_excess_say(job *d, const plan_request *how, const plan_options *o,
		       const graph *one, const pipeline_result *r)
{
	const remedies_search x = { d, how, o };
	stages_excess_of(d, how, r);
	try_schedule(&x, one);
	try_recompute(&x, one);
	try_more_stages(&x, one);
	try_more_turns(&x, one);
}
