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
		  "the file for the measurements, which are added to those "
		  "that it has", &p->output },
		PAGE_OPTION_PROGRESS(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, measures, NULL);
	page_function(p, "tdl_model_load", NULL);
	page_options(p, options);
	const char *path = page_one(p, argc, argv, "one model is expected");
	if (!path)
		return p->status;
	if (!p->output || page_to_stdout(p))
		return cli_usage(&p->program, "-o PROFILE, a file, is missing");
	if (!page_agrees(p, measures) || !page_can_write(p, p->output))
		return p->status;
	tdl_model *m = page_model(p, path);
	if (!m)
		return p->status;
	progress_begin(p);
	char *text = tdl_model_profile(m, p->output, page_given(p, measures));
	progress_end(p);
	return page_print(p, text);
}
