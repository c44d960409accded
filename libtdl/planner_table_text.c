/* The plans of several planners as a table. */
#include "config.h"

#include "libtdl/planner_table.h"

#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/portfolio/pipeline_plan.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_speed.h"
#include "libtdl/text_chart.h"

/* The bytes of a device, marked if they are too many. */
static const char *memory_text(arena *a, const planner_table *t, int64_t nbytes)
{
	const char *text = plan_bytes_text(a, nbytes);
	return planner_exceeds(t, nbytes) ? arena_printf(a, "%s*", text) : text;
}

static void print_row(FILE *to, arena *a, const planner_table *t,
		      const plan_result *r)
{
	const search_result *s = r->search;
	if (s->error) {
		fprintf(to, "%-13s  %s\n", s->algorithm, s->error);
		return;
	}
	double over = planner_gap(r, t->bound);
	fprintf(to, "%-13s  %10s  %8s  %9s  %9s  %s  %s\n",
	       s->algorithm, plan_bytes_text(a, s->total),
	       over < 0 ? "-" : arena_printf(a, "%.1f %%", 100 * over),
	       plan_bytes_text(a, r->plan->communication_bytes),
	       memory_text(a, t, r->plan->arena_bytes),
	       units_right(units_seconds(r->seconds), 9).text,
	       units_right(units_seconds(s->seconds), 8).text);
}

static void print_pipeline(FILE *to, arena *a, const planner_table *t,
			   const planner_pipeline *x)
{
	const pipeline_result *r = x->found.pipeline;
	if (!r->plan) {
		fprintf(to, "%-13s  %s\n", x->name, r->refused);
		return;
	}
	fprintf(to, "%-13s  %10s  %8s  %9s  %9s  %s  %s\n", x->name,
		arena_printf(a, "%d stage%s", r->plan->nstages,
			     r->plan->nstages == 1 ? "" : "s"), "-",
		plan_bytes_text(a, r->plan->communication_bytes),
		memory_text(a, t, r->peak_bytes),
		units_right(units_seconds(r->seconds), 9).text,
		units_right(units_seconds(x->seconds), 8).text);
}

/* Explains the mark if a plan has it. */
static void print_limit(FILE *to, arena *a, const planner_table *t)
{
	bool any = false;
	for (int i = 0; i < t->plans.n; i++)
		any |= !t->plans.at[i].search->error &&
		       planner_exceeds(t, t->plans.at[i].plan->arena_bytes);
	for (int i = 0; i < t->pipelines.n; i++) {
		const pipeline_result *r = t->pipelines.at[i].found.pipeline;
		any |= r->plan && planner_exceeds(t, r->peak_bytes);
	}
	if (any)
		fprintf(to, "* more than %s, %s\n",
			plan_bytes_text(a, planner_limit(t)),
			planner_limit(t) == t->memory ? "the limit"
						      : "what a device has");
}

enum { BAR_WIDTH = 20 };

typedef struct planner_bars {
	text_table table;
	double seconds, memory; /* greatest of all */
} planner_bars;

static void add_bar(planner_bars *b, arena *a, const char *name, double seconds,
		    double memory)
{
	table_add(&b->table, name);
	table_add(&b->table, arena_printf(
		a, "%s %s", chart_bar(a, seconds, b->seconds, BAR_WIDTH),
		units_right(units_seconds(seconds), 7).text));
	table_add(&b->table, arena_printf(
		a, "%s %s", chart_bar(a, memory, b->memory, BAR_WIDTH),
		units_right(units_bytes(memory), 7).text));
}

static void find_most(planner_bars *b, const planner_table *t)
{
	for (int i = 0; i < t->plans.n; i++) {
		const plan_result *r = &t->plans.at[i];
		if (r->search->error)
			continue;
		b->seconds = fmax(b->seconds, r->seconds);
		b->memory = fmax(b->memory, (double)r->plan->arena_bytes);
	}
	for (int i = 0; i < t->pipelines.n; i++) {
		const pipeline_result *r = t->pipelines.at[i].found.pipeline;
		if (!r->plan)
			continue;
		b->seconds = fmax(b->seconds, r->seconds);
		b->memory = fmax(b->memory, (double)r->peak_bytes);
	}
}

/* Prints a bar for each planner that has a plan: time and memory, relative to
 * the greatest. */
static void print_bars(FILE *to, arena *a, const planner_table *t)
{
	planner_bars b = { .table = table_new(a, 3) };
	find_most(&b, t);
	table_add(&b.table, "planner");
	table_add(&b.table, "predicted");
	table_add(&b.table, "memory");
	for (int i = 0; i < t->plans.n; i++) {
		const plan_result *r = &t->plans.at[i];
		if (!r->search->error)
			add_bar(&b, a, r->search->algorithm, r->seconds,
				(double)r->plan->arena_bytes);
	}
	for (int i = 0; i < t->pipelines.n; i++) {
		const planner_pipeline *x = &t->pipelines.at[i];
		const pipeline_result *r = x->found.pipeline;
		if (r->plan)
			add_bar(&b, a, x->name, r->seconds,
				(double)r->peak_bytes);
	}
	fprintf(to, "\n");
	table_print(&b.table, to, 0);
}

/* The fastest plan within the memory, pipelines included.  *name: its
 * planner. */
static const plan_result *fastest_of(const planner_table *t, const char **name)
{
	const plan_result *best = NULL;
	for (int i = 0; i < t->plans.n; i++) {
		const plan_result *r = &t->plans.at[i];
		if (r->search->error || (best && r->seconds >= best->seconds) ||
		    planner_exceeds(t, r->plan->arena_bytes))
			continue;
		best = r;
		*name = r->search->algorithm;
	}
	for (int i = 0; i < t->pipelines.n; i++) {
		const planner_pipeline *x = &t->pipelines.at[i];
		if (!x->found.pipeline->plan ||
		    (best && x->found.seconds >= best->seconds) ||
		    planner_exceeds(t, x->found.pipeline->peak_bytes))
			continue;
		best = &x->found;
		*name = x->name;
	}
	return best;
}

/* Prints the fastest plan, and the speed-up over its program on one device if
 * that exists. */
static void print_fastest(FILE *to, arena *a, const planner_table *t)
{
	const char *name;
	const plan_result *best = fastest_of(t, &name);
	const char *speed = best ? plan_speed_text(a, best) : "";
	if (best && best->topology->profiled)
		speed = arena_printf(a, "%s%s%s", speed, *speed ? "; " : "",
				     plan_speed_share_text(a, best));
	if (!*speed)
		return;
	const char *alone = best->pipeline ? "" : arena_printf(
		a, ", where one device alone takes %s",
		units_seconds(best->one_device_seconds).text);
	fprintf(to, "\n");
	text_wrap(to, arena_printf(a, "Fastest: %s, %s%s: %s.", name,
				   units_seconds(best->seconds).text, alone,
				   speed), 0, 0);
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
		print_row(to, a, t, &t->plans.at[i]);
	for (int i = 0; i < t->pipelines.n; i++)
		print_pipeline(to, a, t, &t->pipelines.at[i]);
	print_limit(to, a, t);
	print_bars(to, a, t);
	print_fastest(to, a, t);
	if (t->bound >= 0)
		fprintf(to,
			"\nBy the byte model no plan that cuts every tensor "
			"moves less than %s.\n",
			plan_bytes_text(a, t->bound));
}
