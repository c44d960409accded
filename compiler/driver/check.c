/* tdlc check: parses and checks operators, and builds the graphs of models. */
#include "config.h"

#include "compiler/driver/commands.h"

cli_status command_check(page *p, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_STRICT(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (first == argc)
		return cli_usage(&p->program, "a file is missing");
	tdl_module_load_all(p->context, (const char *const *)argv + first,
			    (size_t)(argc - first));
	return page_print(p, NULL);
}
