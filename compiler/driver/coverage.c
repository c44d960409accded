/* tdlc coverage: which operators of a model can be divided. */
#include "config.h"

#include "compiler/driver/commands.h"

cli_status command_coverage(page *p, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_LOAD(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_model_coverage", NULL);
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one model is expected");
	return page_print(p, tdl_model_coverage(
		p->context, argv[first],
		page_given(p, "tdl_model_coverage")));
}
