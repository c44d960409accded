/* tdlc solve: a strategy problem in the WCSP format. */
#include "config.h"

#include "compiler/driver/commands.h"

cli_status command_solve(page *p, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_solve", NULL);
	page_options(p, options);
	const char *path = page_one(p, argc, argv, "one file is expected");
	if (!path)
		return p->status;
	return page_print(p, tdl_solve(p->context, path,
				       page_given(p, "tdl_solve")));
}
