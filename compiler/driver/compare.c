/* tdlc compare: every planner on one model. */
#include "config.h"

#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/place.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/progress.h"
#include "compiler/driver/text_chart.h"
#include "libtdl/planner_table.h"

static void print_row(arena *a, const plan_result *r, int64_t bound)
{
	const search_result *s = r->search;
	if (s->error) {
		printf("%-13s  %s\n", s->algorithm, s->error);
		return;
	}
	double over = planner_gap(r, bound);
	printf("%-13s  %10s  %8s  %9s  %9s  %s  %s\n",
	       s->algorithm, plan_bytes_text(a, s->total),
	       over < 0 ? "-" : arena_printf(a, "%.1f %%", 100 * over),
	       plan_bytes_text(a, r->plan->communication_bytes),
	       plan_bytes_text(a, r->plan->arena_bytes),
	       units_right(units_seconds(r->seconds), 9).text,
	       units_right(units_seconds(s->seconds), 8).text);
}

/* A bar for each planner that has a plan: its time and its memory, beside the
 * most of all. */
static void print_bars(arena *a, const planner_table *t)
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
	printf("\n");
	table_print(&bars, stdout, 0);
}

static void print_text(arena *a, const planner_table *t)
{
	text_wrap(stdout, arena_printf(
		a, "%s on %d device%s, for '%s': bytes received by all "
		"devices, memory of each\n", t->graph->name, t->devices,
		t->devices == 1 ? "" : "s", t->machine->name), 0, 2);
	printf("%-13s  %10s  %8s  %9s  %9s  %9s  %8s\n", "planner",
	       "byte model", "gap", "moved", "memory", "predicted", "search");
	for (int i = 0; i < t->plans.n; i++)
		print_row(a, &t->plans.at[i], t->bound);
	print_bars(a, t);
	if (t->bound >= 0)
		printf("\nBy the byte model no plan that cuts every tensor "
		       "moves less than %s.\n",
		       plan_bytes_text(a, t->bound));
}

cli_status compare_planners(driver *d, int argc, char **argv, bool score)
{
	planner_request r = { .score = score };
	plan_model model = PLAN_MODEL;
	planner_table t;
	bool json = false;
	const cli_option options[] = {
		PLANNER_OPTIONS(&r),
		PLAN_OPTIONS_MODEL(&model),
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (!plan_is_asked_for(d, argc - first, r.devices) ||
	    !planner_options_agree(d, &r))
		return CLI_USAGE;
	graph *g = plan_read_model(d, argv[first], &model, &status);
	if (!g)
		return status;
	r.observer = progress_begin(d->arena);
	bool made = planner_table_of(d, g, &r, &t);
	progress_end(&r.observer);
	if (!made)
		return CLI_OK;
	if (json)
		return driver_print_json(d, planner_table_json(&t));
	print_text(d->arena, &t);
	return CLI_OK;
}

cli_status command_compare(driver *d, int argc, char **argv)
{
	return place_is_meant(argc, argv) ? place_compare(d, argc, argv) :
					    compare_planners(d, argc, argv,
							     false);
}
