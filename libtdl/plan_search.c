#include "config.h"

#include "libtdl/plan_search.h"

#include <string.h>

#include "base/units.h"
#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/one_planner.h"
#include "libtdl/plan_memory.h"

const char *const plan_objectives[] = { "time", "bytes", "memory", NULL };

static void say_size(job *d, const char *option, const char *text)
{
	cli_usage(&d->program, "%s takes a number of bytes, such as 512M or "
		  "80GB, not '%s'", job_option(d, option), text);
}

/* Whether all options go with the algorithm; if not, with a message. */
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
	else if (o->request.sequence_parallel && strcmp(algorithm, "megatron"))
		cli_usage(&d->program, "%s goes with %s megatron",
			  job_option(d, "sequence-parallel"),
			  job_option(d, "algorithm"));
	else
		return true;
	return false;
}

bool plan_options_agree(job *d, plan_options *o)
{
	if (!o->request.algorithm)
		o->request.algorithm = o->frontier ? PLAN_AUTO : "tofu";
	if (o->warn_replicate &&
	    !units_read_size(o->warn_replicate, &o->strict.replicated))
		say_size(d, "warn-replicate", o->warn_replicate);
	else if (o->memory &&
		 (!units_read_size(o->memory, &o->limit) || o->limit == 0))
		say_size(d, "memory", o->memory);
	else
		return go_with_algorithm(d, o) &&
		       plan_is_algorithm(d, o->request.algorithm);
	return false;
}

bool plan_request_of(job *d, const graph *g, const plan_options *o,
		     plan_request *how)
{
	*how = o->request;
	how->arena = d->arena;
	how->sink = d->sink;
	how->graph = g;
	how->k = (int)o->devices;
	how->memory = o->limit;
	how->separate = o->separate;
	if (o->objective >= 0)
		how->objective = (plan_objective)o->objective;
	how->topology = plan_topology(d, o->topology, o->devices);
	return how->topology && plan_is_countable(d->sink, g, o->devices) &&
	       plan_is_divided(d->arena, g, &o->strict, d->sink);
}

cli_status plan_search(job *d, const plan_request *how, const plan_options *o,
		       const lower_options *lower, plan_result *r, bool *made)
{
	*made = !strcmp(how->algorithm, PLAN_AUTO) ?
			plan_auto(how, lower, NULL, 0, r) :
			plan_by_planner(how, lower, r);
	if (!*made)
		return CLI_OK;
	if (r->search->error) {
		cli_failed(&d->program, "%s: %s", how->algorithm,
			   r->search->error);
		return r->search->absent ? CLI_MACHINE : CLI_NO_PLAN;
	}
	plan_warn_replicated(d->arena, how->graph, &r->search->assignment,
			     &o->strict, d->sink);
	return plan_fits(d, how, r->plan) ? CLI_OK : CLI_NO_PLAN;
}
