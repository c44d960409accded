#include "config.h"

#include "libtdl/plan_frontier.h"

#include "base/text.h"
#include "base/units.h"
#include "libtdl/plan_report.h"
#include "libtdl/text_chart.h"

/* Memory over time; two plans are no curve. */
static void draw(FILE *to, arena *a, const frontier *f)
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
	fputc('\n', to);
	chart_points(to, at, f->points.n, units_seconds(x).text,
		     units_bytes(y).text);
}

void plan_frontier_text(FILE *to, const plan_request *how, const frontier *f)
{
	arena *a = how->arena;
	const char *proof = f->proven ?
		arena_printf(a, ", and no others %s are better", f->among) : "";
	text_wrap(to, arena_printf(a, "%s on %d device%s, for '%s': %d of "
				       "%d plans%s", how->graph->name, how->k,
				       how->k == 1 ? "" : "s",
				       how->topology->name, f->points.n,
				       f->nplans, proof), 0, 2);
	fputc('\n', to);
	fprintf(to, " predicted      memory       moved  planner\n");
	for (int i = 0; i < f->points.n; i++) {
		const plan_program *p = f->points.at[i].program;
		fprintf(to, "%s  %10s  %10s  %s\n",
		       units_right(units_seconds(p->seconds), 10).text,
		       plan_bytes_text(how->arena, p->held),
		       plan_bytes_text(how->arena, p->moved),
		       f->points.at[i].search->algorithm);
	}
	draw(to, how->arena, f);
}
