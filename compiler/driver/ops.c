/* tdlc ops: the installed operators. */
#include "config.h"

#include "compiler/driver/commands.h"

cli_status command_ops(page *p, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (first < argc)
		return cli_usage(&p->program, "unexpected operand '%s'",
				 argv[first]);
	tdl_module *m = tdl_module_library(p->context);
	if (page_failed(p))
		return p->status;
	return page_print(p, tdl_module_operators(m));
}
