#include "config.h"

#include "libtdl/plan_frontier.h"

#include "compiler/portfolio/one_planner.h"
#include "libtdl/plan_memory.h"

/* Reports why even the plan with least memory does not fit. */
static cli_status refuse(job *d, const plan_request *how,
			 const frontier_point *least)
{
	const lower_options lower = { .algorithm = PLAN_AUTO };
	plan_result r;
	if (!plan_lowered(how, least->search, &lower, least->program, &r))
		return CLI_OK;
	plan_say_excess(d, how, plan_with_chains(d->arena, r.plan,
						 how->topology));
	return CLI_NO_PLAN;
}

cli_status plan_frontier_of(job *d, const plan_request *how, frontier *f,
			    bool *made)
{
	bool found = plan_frontier(how, f);
	*made = found && f->points.n > 0;
	return found && !*made ? refuse(d, how, &f->least) : CLI_OK;
}

cli_status plan_of_frontier(job *d, const plan_request *how, int64_t n,
			    frontier *f, plan_result *r, bool *made)
{
	cli_status status = plan_frontier_of(d, how, f, made);
	if (!*made)
		return status;
	*made = n <= f->points.n;
	if (!*made)
		return cli_usage(&d->program, "the frontier has %d plan%s; "
				 "there is no plan %lld", f->points.n,
				 f->points.n == 1 ? "" : "s", (long long)n);
	*made = plan_frontier_plan(how, f, (int)n - 1, r);
	if (*made)
		r->plan = plan_with_chains(d->arena, r->plan, how->topology);
	return CLI_OK;
}

json_t *plan_frontier_json(const plan_request *how, const frontier *f)
{
	json_t *list = json_array();
	for (int i = 0; i < f->points.n; i++) {
		const plan_program *p = f->points.at[i].program;
		json_array_append_new(list, json_pack(
			"{s:s, s:f, s:I, s:I, s:b}", "algorithm",
			f->points.at[i].search->algorithm, "predicted_seconds",
			p->seconds, "peak_bytes_per_device",
			(json_int_t)p->held, "communication_bytes",
			(json_int_t)p->moved, "buckets",
			f->points.at[i].in_buckets));
	}
	return json_pack("{s:s, s:i, s:b, s:s?, s:o}", "model",
			 how->graph->name, "devices", how->k, "proven",
			 f->proven, "proof", f->proven ? f->among : NULL,
			 "frontier", list);
}
