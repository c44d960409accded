#include "config.h"

#include "libtdl/plan_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "compiler/planners/planner.h"
#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/one_planner.h"
#include "compiler/portfolio/pipeline_plan.h"
#include "libtdl/plan_devices.h"
#include "libtdl/plan_memory.h"
#include "libtdl/plan_published.h"
#include "libtdl/plan_stages.h"
#include "libtdl/plan_turns.h"
#include "libtdl/stages_excess.h"

const char *const plan_objectives[] = { "time", "bytes", "memory", NULL };

static void say_size(job *d, const char *option, const char *text)
{
	cli_usage(&d->program, "%s takes a number of bytes, such as 512M or "
		  "80GB, not '%s'", job_option(d, option), text);
}

static bool is_by_sequence(const char *algorithm)
{
	const planner *p = planner_find(algorithm);
	bool has = false;
	for (int i = 0; p && i < p->nvariants; i++)
		has |= p->variants[i].sequence_parallel;
	return has;
}

/* Whether all options suit the algorithm.  Prints a message if not. */
static bool go_with_algorithm(job *d, const plan_options *o)
{
	const char *algorithm = o->request.algorithm;
	bool is_auto = !strcmp(algorithm, PLAN_AUTO);
	if (o->objective >= 0 && !is_auto)
		cli_usage(&d->program, "%s goes with %s " PLAN_AUTO,
			  job_option(d, "objective"),
			  job_option(d, "algorithm"));
	else if (o->frontier && o->objective >= 0)
		cli_usage(&d->program, "a frontier has all objectives: %s "
			  "does not go with it", job_option(d, "objective"));
	else if (o->frontier && !is_auto)
		cli_usage(&d->program, "%s takes plans of all planners: %s "
			  "does not go with it", job_option(d, "frontier"),
			  job_option(d, "algorithm"));
	else if (o->request.variant.sequence_parallel &&
		 !is_by_sequence(algorithm))
		cli_usage(&d->program, "%s goes with %s megatron",
			  job_option(d, "sequence-parallel"),
			  job_option(d, "algorithm"));
	else
		return true;
	return false;
}

/* Reads NAME=D, split at the last `='. */
static bool read_batch_dim(job *d, const char *text, batch_dim *to)
{
	const char *equals = strrchr(text, '=');
	char *end = NULL;
	long dim = equals ? strtol(equals + 1, &end, 10) : -1;
	if (!equals || equals == text || end == equals + 1 || *end || dim < 0 ||
	    dim >= MAX_NDIM) {
		cli_usage(&d->program, "%s takes the name of an input and a "
			  "dimension, as in x=0, not '%s'",
			  job_option(d, "batch-dim"), text);
		return false;
	}
	to->input = arena_strndup(d->arena, text, (size_t)(equals - text));
	to->dim = (int)dim;
	return true;
}

static bool read_batch_dims(job *d, plan_options *o)
{
	o->batch = ARENA_ARRAY(d->arena, batch_dim, o->batch_dims.n);
	for (int i = 0; i < o->batch_dims.n; i++)
		if (!read_batch_dim(d, o->batch_dims.at[i], &o->batch[i]))
			return false;
	return true;
}

/* Reads --micro-batches and the options that need it. */
static bool read_turns(job *d, plan_options *o)
{
	char *end = NULL;
	const char *text = o->micro_batches;
	o->any_turns = text && !strcmp(text, PLAN_AUTO);
	long n = text && !o->any_turns ? strtol(text, &end, 10) : 1;
	if (text && !o->any_turns &&
	    (end == text || *end || n < 1 || n > PLAN_MAX_TURNS))
		cli_usage(&d->program, "%s takes a number from 1 to %d, or "
			  "'" PLAN_AUTO "', not '%s'",
			  job_option(d, "micro-batches"), PLAN_MAX_TURNS, text);
	else if ((o->batch_dims.n > 0 || o->statistics) && !text)
		cli_usage(&d->program, "%s needs %s",
			  job_option(d, o->statistics ? "micro-batch-statistics"
						      : "batch-dim"),
			  job_option(d, "micro-batches"));
	else if (o->micro_batches && o->frontier)
		cli_usage(&d->program, "%s does not go with %s",
			  job_option(d, "micro-batches"),
			  job_option(d, "frontier"));
	else {
		o->turns = text ? n : 0;
		return read_batch_dims(d, o);
	}
	return false;
}

turns_options plan_turns_options(const plan_options *o, int turns)
{
	return (turns_options){ .turns = turns,
				.nbatch = o->batch_dims.n,
				.batch = o->batch,
				.statistics = o->statistics };
}

/* The graph that planners see: one turn, if there are several turns or
 * stages. */
static const graph *divided_in_time(job *d, const graph *g,
				    const plan_options *o)
{
	const turns_options t = plan_turns_options(o, (int)o->turns);
	if (o->turns > 1 || (o->stages && !o->any_turns))
		return graph_in_turns(d->arena, g, &t, d->sink);
	return graph_has_batch_dims(g, &t, d->sink) ? g : NULL;
}

/* Whether the algorithm exists.  One that divides layers requires stages. */
static bool is_choice(job *d, const plan_options *o)
{
	const char *name = o->request.algorithm;
	if (plan_is_published(name) && !o->stages)
		cli_usage(&d->program, "%s %s needs %s",
			  job_option(d, "algorithm"), name,
			  job_option(d, "stages"));
	else
		return plan_places(name) || plan_is_published(name) ||
		       plan_is_algorithm_of(d, name, arena_printf(
				d->arena, "; to place operators whole: %s; "
				"for stages: %s", plan_placing_names(d->arena),
				plan_published_names(d->arena)));
	return false;
}

bool plan_options_agree(job *d, plan_options *o)
{
	o->named = o->request.algorithm;
	if (!o->request.algorithm)
		o->request.algorithm = o->frontier ? PLAN_AUTO : "tofu";
	if (o->warn_replicate &&
	    !units_read_size(o->warn_replicate, &o->strict.replicated))
		say_size(d, "warn-replicate", o->warn_replicate);
	else if (o->memory &&
		 (!units_read_size(o->memory, &o->limit) || o->limit == 0))
		say_size(d, "memory", o->memory);
	else if (plan_places(o->request.algorithm) &&
		 !plan_places_with(d, o))
		return false;
	else
		return go_with_algorithm(d, o) && read_turns(d, o) &&
		       plan_read_bucket(d, o->bucket, o->topology,
					&o->request.bucket) &&
		       plan_stages_agree(d, o) &&
		       is_choice(d, o);
	return false;
}

bool plan_request_of(job *d, const graph *g, plan_options *o,
		     plan_request *how)
{
	*how = o->request;
	how->arena = d->arena;
	how->sink = d->sink;
	o->model = g;
	how->graph = g = divided_in_time(d, g, o);
	if (!g)
		return false;
	how->k = (int)o->devices;
	how->memory = o->limit;
	how->separate = o->separate;
	if (o->objective >= 0)
		how->objective = (plan_objective)o->objective;
	o->aims.recompute = o->model->recompute_stages;
	how->topology = o->stages ?
		plan_topology_of_stages(d, o->topology, o->devices) :
		plan_topology(d, o->topology, o->devices);
	/* Stages are checked one by one. */
	return how->topology &&
	       (o->stages || plan_is_countable(d->sink, g, o->devices)) &&
	       plan_is_divided(d->arena, g, &o->strict, d->sink);
}

bool plan_search_once(const plan_request *how, const lower_options *lower,
		      plan_result *r)
{
	bool made = !strcmp(how->algorithm, PLAN_AUTO)
			    ? plan_auto(how, lower, NULL, 0, r)
			    : plan_by_planner(how, lower, r);
	if (made && !r->search->error)
		r->plan = plan_with_chains(how->arena, r->plan, how->topology);
	return made;
}

/* Warns about a batch that is too small for a planner that divides it. */
static void warn_few_samples(job *d, const plan_request *how,
			     const search_result *s)
{
	const graph *g = how->graph;
	const char *text = arena_printf(
		d->arena, "'%s' divides the batch, of which %s has %lld "
		"sample%s, fewer than %d devices: some repeat others' work",
		s->algorithm, g->turns ? "a micro-batch" : "a step",
		(long long)s->few_samples, s->few_samples == 1 ? "" : "s",
		how->k);
	if (s->few_samples > 0 && g->site.at.beg)
		diag_warning(d->sink, DIAG_FEW_SAMPLES, g->site.at, "%s", text);
	else if (s->few_samples > 0)
		diag_warning_in(d->sink, DIAG_FEW_SAMPLES, g->name, "%s", text);
}

/* Whether the plan fits.  If not, says what the plan that needs least does:
 * this one or, where it is not NULL, a pipeline that needs less. */
static bool is_within(job *d, const plan_request *how, const plan_result *r,
		      const pipeline_result *least)
{
	if (plan_fits(how, r->plan))
		return true;
	if (least && least->peak_bytes < r->plan->arena_bytes)
		stages_excess_of(d, how, least);
	else
		plan_say_excess(d, how, r->plan);
	return false;
}

cli_status plan_search(job *d, const plan_request *how, const plan_options *o,
		       const lower_options *lower, plan_result *r, bool *made)
{
	plan_request best = *how;
	if (o->stages) {
		cli_status status = plan_stages_search(d, how, o, lower, r,
						       made);
		if (status == CLI_OK && *made && !r->pipeline)
			warn_few_samples(d, how, r->search);
		return status;
	}
	if (plan_places(how->algorithm))
		return plan_devices_search(d, how, r, made);
	stages_ahead ahead;
	const pipeline_result *least;
	*made = plan_stages_ahead(d, how, o, &ahead);
	if (*made && ahead.found)
		best.beat = ahead.found->seconds;
	*made = *made && (o->any_turns
			  ? plan_any_turns(d, &best, o, lower, r)
			  : plan_search_once(&best, lower, r));
	*made = *made && plan_stages_beside(d, how, o, &ahead, r,
					     &least);
	if (!*made || r->pipeline)
		return CLI_OK;
	if (r->search->error) {
		cli_failed(&d->program, "%s: %s", how->algorithm,
			   r->search->error);
		return r->search->absent ? CLI_MACHINE : CLI_NO_PLAN;
	}
	warn_few_samples(d, &best, r->search);
	plan_warn_replicated(d->arena, best.graph, &r->search->assignment,
			     &o->strict, d->sink);
	return is_within(d, &best, r, least) ? CLI_OK : CLI_NO_PLAN;
}
