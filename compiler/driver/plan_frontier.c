#include "config.h"

#include "compiler/driver/plan_frontier.h"

#include <stdio.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/driver/progress.h"
#include "compiler/driver/text_chart.h"
#include "libtdl/plan_frontier.h"
#include "libtdl/plan_report.h"

/* Memory over time; two plans are no curve. */
static void draw(arena *a, const frontier *f)
{
	chart_point *at = ARENA_ARRAY(a, chart_point, f->points.n);
	double x = 0, y = 0;
	for (int i = 0; i < f->points.n; i++) {
		const plan_program *p = f->points.at[i].program;
		at[i] = (chart_point){ p->seconds, (double)p->held };
		x = x < at[i].x ? at[i].x : x;
		y = y < at[i].y ? at[i].y : y;
	}
	if (f->points.n < 3)
		return;
	putchar('\n');
	chart_points(stdout, at, f->points.n, units_seconds(x).text,
		     units_bytes(y).text);
}

static void frontier_text(const plan_request *how, const frontier *f)
{
	arena *a = how->arena;
	const char *proof = f->proven ?
		arena_printf(a, ", and no others %s are better", f->among) : "";
	text_wrap(stdout, arena_printf(a, "%s on %d device%s, for '%s': %d of "
				       "%d plans%s", how->graph->name, how->k,
				       how->k == 1 ? "" : "s",
				       how->topology->name, f->points.n,
				       f->nplans, proof), 0, 2);
	putchar('\n');
	printf(" predicted      memory       moved  planner\n");
	for (int i = 0; i < f->points.n; i++) {
		const plan_program *p = f->points.at[i].program;
		printf("%s  %10s  %10s  %s\n",
		       units_right(units_seconds(p->seconds), 10).text,
		       plan_bytes_text(how->arena, p->held),
		       plan_bytes_text(how->arena, p->moved),
		       f->points.at[i].search->algorithm);
	}
	draw(how->arena, f);
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
