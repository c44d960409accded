/* tdlc report: a plan as one page that draws it. */
#include "config.h"

#include <string.h>

#include "compiler/driver/commands.h"

cli_status command_report(page *p, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_OUTPUT(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	page_function(p, "tdl_plan_page", "compare");
	const char *path = page_one(p, argc, argv, "one plan is expected");
	if (!path)
		return p->status;
	if (!p->output && !p->json)
		return cli_usage(&p->program, "-o FILE or --json is missing");
	if (p->json && page_to_stdout(p))
		return cli_usage(&p->program, "--json and -o - cannot both "
				 "print");
	if (!page_can_write(p, p->output))
		return p->status;
	tdl_plan *plan = page_plan(p, path);
	if (!plan)
		return p->status;
	const tdl_option *given = page_given(p, "tdl_plan_page");
	if (p->output)
		page_write_text(p, p->output, tdl_plan_page(plan, given));
	if (p->status != CLI_OK || !p->json)
		return p->status;
	return page_print(p, tdl_plan_facts(plan, given));
}
