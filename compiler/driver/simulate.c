/* tdlc simulate: a step of a plan on a machine, event by event. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "compiler/driver/commands.h"

/* Makes everything that is asked for, then writes files, then prints the
 * rest. */
static cli_status hand_out(page *p, tdl_plan *plan, const char *machine,
			   const char *trace, const char *diagram)
{
	const char *events = !trace ? "" :
		page_keep(p, tdl_plan_trace(plan, machine));
	if (p->status != CLI_OK)
		return p->status;
	const char *chart = !diagram ? "" :
		page_keep(p, tdl_plan_chart(plan, machine, "svg"));
	if (p->status != CLI_OK)
		return p->status;
	if (trace)
		page_write(p, trace, arena_printf(p->arena, "%s\n", events),
			   strlen(events) + 1);
	if (diagram && p->status == CLI_OK)
		page_write(p, diagram, chart, strlen(chart));
	if (p->status != CLI_OK)
		return p->status;
	return page_print(p, tdl_plan_simulate(plan, machine));
}

cli_status command_simulate(page *p, int argc, char **argv)
{
	const char *machine = NULL, *trace = NULL, *diagram = NULL;
	const char *beside = NULL;
	const cli_option options[] = {
		PAGE_OPTION_TOPOLOGY(p, &machine),
		{ CLI_TEXT, 0, "trace", "FILE",
		  "write the step as a trace for Chrome or Perfetto", &trace },
		{ CLI_TEXT, 0, "diagram", "FILE",
		  "draw the pipeline as SVG", &diagram },
		{ CLI_TEXT, 0, "beside", "TRACE",
		  "print where the step differs most from a trace of tdlrun "
		  "--trace", &beside },
		PAGE_OPTION_PROFILE(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	const char *path = page_one(p, argc, argv, "one plan is expected");
	if (!path)
		return p->status;
	if ((trace && !strcmp(trace, "-")) ||
	    (diagram && !strcmp(diagram, "-")))
		return cli_usage(&p->program, "--trace and --diagram write to "
				 "files: the simulation is printed");
	if (beside && (trace || diagram))
		return cli_usage(&p->program, "--beside compares; it writes no "
				 "--trace and no --diagram");
	if (machine)
		vec_push(p->arena, &p->reads, machine);
	if (!page_can_write(p, trace) || !page_can_write(p, diagram))
		return p->status;
	tdl_plan *plan = page_plan(p, path);
	if (!plan)
		return p->status;
	return beside ? page_print(p, tdl_plan_beside(plan, machine, beside))
		      : hand_out(p, plan, machine, trace, diagram);
}
