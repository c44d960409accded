#include "config.h"

#include "libtdl/plan_frontier.h"

#include "base/text.h"
#include "base/units.h"
#include "libtdl/plan_report.h"
#include "libtdl/text_chart.h"

/* Draws memory over time.  Two plans make no curve. */
static void draw(FILE *to, arena *a, const frontier *f)
{
	int n = f->points.n;
	if (n < 3)
		return;
	const plan_program *first = f->points.at[0].program;
	const plan_program *last = f->points.at[n - 1].program;
	chart_point *at = ARENA_ARRAY(a, chart_point, n);
	for (int i = 0; i < n; i++) {
		const plan_program *p = f->points.at[i].program;
		at[i] = (chart_point){ p->seconds, (double)p->held };
	}
	const chart_axis time = { "predicted", units_seconds(first->seconds),
				  units_seconds(last->seconds) };
	const chart_axis memory = { "memory", units_bytes((double)last->held),
				    units_bytes((double)first->held) };
	fputc('\n', to);
	chart_points(to, at, n, &time, &memory);
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
