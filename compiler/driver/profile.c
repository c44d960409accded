/* tdlc profile: a model, measured layer by layer. */
#include "config.h"

#include <string.h>

#include "compiler/driver/commands.h"
#include "compiler/driver/progress.h"

cli_status command_profile(page *p, int argc, char **argv)
{
	static const char measures[] = "tdl_model_profile";
	const cli_option options[] = {
		{ CLI_TEXT, 'o', "output", "PROFILE",
		  "the file for what is measured; what it has already is kept, "
		  "and adds up", &p->output },
		PAGE_OPTION_PROGRESS(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, measures, NULL);
	page_function(p, "tdl_model_load", NULL);
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one model is expected");
	if (!p->output || page_to_stdout(p))
		return cli_usage(&p->program, "-o PROFILE, a file, is missing");
	const tdl_option *given = page_given(p, measures);
	if (tdl_function_check(p->context, measures, given) != TDL_OK)
		return page_print(p, NULL);
	tdl_model *m = tdl_model_load(p->context, argv[first],
				      page_given(p, "tdl_model_load"));
	if (page_failed(p))
		return p->status;
	progress_begin(p);
	char *text = tdl_model_profile(m, p->output, given);
	progress_end(p);
	return page_print(p, text);
}
