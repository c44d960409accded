/* tdlc verify: operators run whole and cut along each strategy. */
#include "config.h"

#include "compiler/driver/commands.h"

#include "base/file.h"

cli_status command_verify(page *p, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_module_verify", "op");
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	bool has_file = argc > first && path_ends_in(argv[argc - 1], ".tdl");
	tdl_module *m = has_file ?
		tdl_module_load(p->context, argv[argc - 1]) :
		tdl_module_library(p->context);
	if (page_failed(p))
		return p->status;
	for (int i = first; i < argc - has_file; i++)
		page_give(p, "tdl_module_verify", "op", argv[i]);
	return page_print(p, tdl_module_verify(
		m, NULL, page_given(p, "tdl_module_verify")));
}
