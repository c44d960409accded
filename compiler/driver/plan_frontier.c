#include "config.h"

#include "compiler/driver/plan_frontier.h"

#include <stdio.h>

#include "base/units.h"
#include "compiler/driver/progress.h"
#include "libtdl/plan_frontier.h"
#include "libtdl/plan_report.h"

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

cli_status plan_print_frontier(driver *d, const plan_request *how, bool json)
{
	frontier f;
	bool made;
	plan_request shown = *how;
	shown.observer = progress_begin(d->arena);
	cli_status status = plan_frontier_of(d, &shown, &f, &made);
	progress_end(&shown.observer);
	if (!made)
		return status;
	if (json)
		return driver_print_json(d, plan_frontier_json(how, &f));
	frontier_text(how, &f);
	return CLI_OK;
}
