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
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one plan is expected");
	if (!p->output && !p->json)
		return cli_usage(&p->program, "-o FILE or --json is missing");
	if (p->json && page_to_stdout(p))
		return cli_usage(&p->program, "--json and -o - cannot both "
				 "print");
	tdl_plan *plan = tdl_plan_load(p->context, argv[first]);
	if (page_failed(p))
		return p->status;
	const tdl_option *given = page_given(p, "tdl_plan_page");
	if (p->output)
		page_write_text(p, p->output, tdl_plan_page(plan, given));
	if (p->status != CLI_OK || !p->json)
		return p->status;
	return page_print(p, tdl_plan_facts(plan, given));
}
