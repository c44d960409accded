/* tdlc export: a plan as another system reads it. */
#include "config.h"

#include <string.h>

#include "compiler/driver/commands.h"

cli_status command_export(page *p, int argc, char **argv)
{
	const char *format = NULL;
	const cli_option options[] = {
		{ CLI_TEXT, 0, "to", "FORMAT",
		  "the format: jax, a module of Python; cuda, a folder with a "
		  "program", &format },
		{ CLI_TEXT, 'o', "output", "FILE", "write to FILE",
		  &p->output },
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one plan is expected");
	if (!format || !p->output)
		return cli_usage(&p->program, "--to FORMAT and -o FILE are "
				 "both needed");
	if (page_to_stdout(p))
		return cli_usage(&p->program, "an export goes to a file");
	tdl_plan *plan = tdl_plan_load(p->context, argv[first]);
	if (!page_failed(p)) {
		tdl_plan_export(plan, format, p->output);
		page_failed(p);
	}
	return p->status;
}
