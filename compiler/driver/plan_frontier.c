#include "config.h"

#include "compiler/driver/plan_frontier.h"

#include <stdio.h>

#include "base/units.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/progress.h"
#include "compiler/portfolio/frontier.h"
#include "compiler/portfolio/one_planner.h"
#include "libtdl/plan_memory.h"

static json_t *frontier_json(const plan_request *how, const frontier *f)
{
	json_t *list = json_array();
	for (int i = 0; i < f->points.n; i++) {
		const plan_program *p = f->points.at[i].program;
		json_array_append_new(list, json_pack(
			"{s:s, s:f, s:I, s:I}", "algorithm",
			f->points.at[i].search->algorithm, "predicted_seconds",
			p->seconds, "peak_bytes_per_device",
			(json_int_t)p->held, "communication_bytes",
			(json_int_t)p->moved));
	}
	return json_pack("{s:s, s:i, s:b, s:o}", "model",
			 how->graph->name, "devices", how->k, "proven",
			 f->proven, "frontier", list);
}

static void frontier_text(const plan_request *how, const frontier *f)
{
	printf("%s on %d device%s, for '%s': %d of %d plans%s\n\n",
	       how->graph->name, how->k, how->k == 1 ? "" : "s",
	       how->topology->name, f->points.n, f->nplans,
	       f->proven ? ", and no others are better" : "");
	printf(" predicted      memory       moved  planner\n");
	for (int i = 0; i < f->points.n; i++) {
		const plan_program *p = f->points.at[i].program;
		printf("%s  %10s  %10s  %s\n",
		       units_right(units_seconds(p->seconds), 10).text,
		       plan_bytes_text(how->arena, p->held),
		       plan_bytes_text(how->arena, p->moved),
		       f->points.at[i].search->algorithm);
	}
}

/* Says of the plan that needs least why that is too much. */
static cli_status refuse(driver *d, const plan_request *how,
			 const frontier_point *least)
{
	const lower_options lower = { .algorithm = PLAN_AUTO };
	plan_result r;
	if (!plan_lowered(how, least->search, &lower, least->program, &r))
		return CLI_OK;
	plan_fits(d, how, r.plan);
	return CLI_NO_PLAN;
}

cli_status plan_print_frontier(driver *d, const plan_request *how, bool json)
{
	frontier f;
	plan_request shown = *how;
	shown.observer = progress_begin(d->arena);
	bool ok = plan_frontier(&shown, &f);
	progress_end(&shown.observer);
	if (!ok)
		return CLI_OK;
	if (f.points.n == 0)
		return refuse(d, how, &f.least);
	if (json)
		return driver_print_json(d, frontier_json(how, &f));
	frontier_text(how, &f);
	return CLI_OK;
}
