#include "config.h"

#include "libtdl/plan_devices.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/placement/device_stages.h"
#include "compiler/placement/model_costs.h"
#include "compiler/placement/placed.h"
#include "compiler/portfolio/pipeline_plan.h"

bool plan_places(const char *algorithm)
{
	const place_algorithm *p = placed_algorithm(algorithm);
	return p && !p->takes;
}

const char *plan_placing_names(arena *a)
{
	const char *all = "";
	for (const place_algorithm *p = place_algorithms; p->name; p++)
		if (plan_places(p->name))
			all = arena_printf(a, "%s%s%s", all, *all ? ", " : "",
					   p->name);
	return all;
}

/* The given option that conflicts with this one; NULL if there is none. */
static const char *beside(const plan_options *o)
{
	return o->stages			? "stages" :
	       o->micro_batches			? "micro-batches" :
	       o->frontier			? "frontier" :
	       pins_are_given(&o->request.pins) ? "pin" :
	       o->bucket			? "bucket-bytes" :
	       o->strict.fail_on_opaque		? "fail-on-opaque" :
	       o->warn_replicate		? "warn-replicate" :
						  NULL;
}

bool plan_places_with(job *d, const plan_options *o)
{
	const char *other = beside(o);
	if (other)
		cli_usage(&d->program, "%s does not go with %s, which places "
			  "operators whole", job_option(d, other),
			  o->request.algorithm);
	return !other;
}

/* ---- the search -------------------------------------------------------- */

typedef struct device_search {
	job *job;
	const plan_request *how;
	const cost_graph *costs;
	place_input in;
	place_report found;
	device_stages stages;
	pipeline_result *r;
} device_search;

/* Finds a placement.  Returns false when errors were added. */
static bool find_placement(device_search *x)
{
	const plan_request *how = x->how;
	const machine_request q = { .ndevices = how->k,
				    .topology = how->topology,
				    .memory = how->memory, .factor = 1 };
	const place_algorithm *by = placed_algorithm(how->algorithm);
	x->costs = cost_graph_of_model(how->arena, how->sink, how->graph,
				       how->topology, how->graph->name);
	if (!x->costs ||
	    !placed_input(how->arena, how->sink, x->costs, &q, &x->in))
		return false;
	x->found = placed_by(how->arena, &x->in, by, true, how->seconds);
	return true;
}

static void set_stage(device_search *x, int s)
{
	pipeline_stage *to = &x->r->stages[s];
	const plan *p = &x->r->plan->stages[s];
	search_result *by = ARENA_NEW(x->how->arena, search_result);
	by->algorithm = x->how->algorithm;
	to->way = (pipeline_way){ 1, 1, x->how->algorithm, { 0 } };
	to->nlayers = to->graph->nnodes;
	to->first_node = to->graph->nodes[0].name;
	to->last_node = to->graph->nodes[to->nlayers - 1].name;
	to->search = by;
	to->seconds = lower_pass_times(p, x->how->topology);
	to->seconds.pass[PASS_FORWARD] = to->seconds.once;
	to->seconds.once = 0;
	if (p->arena_bytes > x->r->peak_bytes)
		x->r->peak_bytes = p->arena_bytes;
}

/* Returns false when errors were added. */
static bool lower(device_search *x)
{
	arena *a = x->how->arena;
	const graph *g = x->stages.g;
	const stage_division *d = &x->stages.division;
	const pipeline once = { .kind = SCHEDULE_GPIPE,
				.ndevices = d->nstages, .chunks = 1,
				.micro_batches = 1 };
	const lower_options o = { .algorithm = x->how->algorithm,
				  .separate = x->how->separate,
				  .memory = x->how->memory };
	lower_stage *all = ARENA_ARRAY(a, lower_stage, d->nstages);
	int *tensors = ARENA_ARRAY(a, int, g->ntensors);
	const mesh one = mesh_of_equals(1);
	x->r->refused = stage_division_refused(a, g, d);
	if (x->r->refused)
		return true;
	const stage_homes h = stage_homes_of(a, g, d);
	x->r->stages = ARENA_ARRAY(a, pipeline_stage, d->nstages);
	for (int s = 0; s < d->nstages; s++) {
		all[s].g = stage_graph(a, &h, s, tensors);
		all[s].as = assignment_undivided(a, all[s].g, &one);
		x->r->stages[s].graph = all[s].g;
	}
	x->r->plan = lower_pipeline(a, &h, all, &once, &o, x->how->sink);
	for (int s = 0; x->r->plan && s < d->nstages; s++)
		set_stage(x, s);
	x->r->seconds = (double)x->found.makespan * 1e-9;
	return x->r->plan != NULL;
}

static cli_status say_no_room(const device_search *x)
{
	const place_need need = placed_needs(x->in.m);
	cli_failed(&x->job->program, "%s finds no placement within %s of each "
		   "of %d devices: the operators keep %" PRId64 " bytes in "
		   "all, the largest %" PRId64, x->how->algorithm,
		   job_option(x->job, "memory"), x->how->k, need.all,
		   need.most);
	return CLI_NO_PLAN;
}

/* Reports the device with the greatest excess over the limit. */
static cli_status say_excess(const device_search *x)
{
	int at = 0;
	while (x->r->plan->stages[at].arena_bytes < x->r->peak_bytes)
		at++;
	cli_failed(&x->job->program, "device %d needs %" PRId64 " bytes, %"
		   PRId64 " more than %s allows", x->stages.device[at],
		   x->r->peak_bytes, x->r->peak_bytes - x->how->memory,
		   job_option(x->job, "memory"));
	return CLI_NO_PLAN;
}

cli_status plan_devices_search(job *d, const plan_request *how,
			       plan_result *r, bool *made)
{
	device_search x = { .job = d, .how = how };
	x.r = ARENA_NEW(d->arena, pipeline_result);
	*r = (plan_result){ .machine = how->topology->name,
			    .topology = how->topology,
			    .machine_memory = how->topology->memory,
			    .objective = "time",
			    .pipeline = x.r,
			    .graph = how->graph };
	*made = find_placement(&x);
	if (!*made)
		return CLI_OK;
	if (!x.found.place || !x.found.fits)
		return say_no_room(&x);
	const verdict v = judge_run(judge_new(how->arena, x.in.m),
				    x.found.place, INT64_MAX);
	x.stages = device_stages_of(how->arena, how->graph, x.costs,
				    x.found.place, &v);
	*made = lower(&x);
	r->seconds = x.r->seconds;
	if (!*made)
		return CLI_OK;
	if (x.r->refused) {
		cli_failed(&d->program, "%s", x.r->refused);
		return CLI_NO_PLAN;
	}
	return how->memory > 0 && x.r->peak_bytes > how->memory
		       ? say_excess(&x)
		       : CLI_OK;
}
