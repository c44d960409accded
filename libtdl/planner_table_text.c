/* The plans of several planners, as a table. */
#include "config.h"

#include "libtdl/planner_table.h"

#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "libtdl/plan_report.h"
#include "libtdl/text_chart.h"

static void print_row(FILE *to, arena *a, const plan_result *r, int64_t bound)
{
	const search_result *s = r->search;
	if (s->error) {
		fprintf(to, "%-13s  %s\n", s->algorithm, s->error);
		return;
	}
	double over = planner_gap(r, bound);
	fprintf(to, "%-13s  %10s  %8s  %9s  %9s  %s  %s\n",
	       s->algorithm, plan_bytes_text(a, s->total),
	       over < 0 ? "-" : arena_printf(a, "%.1f %%", 100 * over),
	       plan_bytes_text(a, r->plan->communication_bytes),
	       plan_bytes_text(a, r->plan->arena_bytes),
	       units_right(units_seconds(r->seconds), 9).text,
	       units_right(units_seconds(s->seconds), 8).text);
}

/* A bar for each planner that has a plan: its time and its memory, beside the
 * most of all. */
static void print_bars(FILE *to, arena *a, const planner_table *t)
{
	enum { WIDTH = 20 };
	double seconds = 0, memory = 0;
	text_table bars = table_new(a, 3);
	for (int i = 0; i < t->plans.n; i++) {
		const plan_result *r = &t->plans.at[i];
		if (r->search->error)
			continue;
		seconds = fmax(seconds, r->seconds);
		memory = fmax(memory, (double)r->plan->arena_bytes);
	}
	table_add(&bars, "planner");
	table_add(&bars, "predicted");
	table_add(&bars, "memory");
	for (int i = 0; i < t->plans.n; i++) {
		const plan_result *r = &t->plans.at[i];
		if (r->search->error)
			continue;
		double held = (double)r->plan->arena_bytes;
		table_add(&bars, r->search->algorithm);
		table_add(&bars, arena_printf(
			a, "%s %s", chart_bar(a, r->seconds, seconds, WIDTH),
			units_right(units_seconds(r->seconds), 7).text));
		table_add(&bars, arena_printf(
			a, "%s %s", chart_bar(a, held, memory, WIDTH),
			units_right(units_bytes(held), 7).text));
	}
	fprintf(to, "\n");
	table_print(&bars, to, 0);
}

void planner_table_text(FILE *to, arena *a, const planner_table *t)
{
	text_wrap(to, arena_printf(
		a, "%s on %d device%s, for '%s': bytes received by all "
		"devices, memory of each\n", t->graph->name, t->devices,
		t->devices == 1 ? "" : "s", t->machine->name), 0, 2);
	fprintf(to, "%-13s  %10s  %8s  %9s  %9s  %9s  %8s\n", "planner",
	       "byte model", "gap", "moved", "memory", "predicted", "search");
	for (int i = 0; i < t->plans.n; i++)
		print_row(to, a, &t->plans.at[i], t->bound);
	print_bars(to, a, t);
	if (t->bound >= 0)
		fprintf(to,
			"\nBy the byte model no plan that cuts every tensor "
			"moves less than %s.\n",
			plan_bytes_text(a, t->bound));
}
