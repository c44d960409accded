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
	const char *path = page_one(p, argc, argv, "one model is expected");
	if (!path)
		return p->status;
	return page_print(p, tdl_model_coverage(
		p->context, path,
		page_given(p, "tdl_model_coverage")));
}
