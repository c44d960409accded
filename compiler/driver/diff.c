/* tdlc diff: two plans of one model, and what their differences cost. */
#include "config.h"

#include "compiler/driver/commands.h"

cli_status command_diff(page *p, int argc, char **argv)
{
	const char *machine = NULL;
	tdl_plan *plan[2];
	const cli_option options[] = {
		PAGE_OPTION_TOPOLOGY(p, &machine),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 2)
		return cli_usage(&p->program, "two plans are expected");
	for (int i = 0; i < 2; i++) {
		plan[i] = page_plan(p, argv[first + i]);
		if (!plan[i])
			return p->status;
	}
	return page_print(p, tdl_plan_diff(plan[0], plan[1], machine));
}
