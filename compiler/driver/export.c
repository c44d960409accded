/* tdlc export: a plan as another system reads it. */
#include "config.h"

#include <string.h>

#include "compiler/driver/commands.h"

cli_status command_export(page *p, int argc, char **argv)
{
	static const char *const formats[] = { "jax", "onnx", "cuda", NULL };
	const char *format = NULL, *model = NULL;
	const cli_option options[] = {
		{ CLI_TEXT, 0, "to", "FORMAT",
		  "the format: jax, a module of Python; onnx, the model with "
		  "the plan's layouts; cuda, a folder with a program",
		  &format, .choices = formats },
		{ CLI_TEXT, 0, "model", "MODEL",
		  "the model that the plan was made of, for onnx", &model },
		{ CLI_TEXT, 'o', "output", "FILE", "write to FILE",
		  &p->output },
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	const char *path = page_one(p, argc, argv, "one plan is expected");
	if (!path)
		return p->status;
	if (!format || !p->output)
		return cli_usage(&p->program, "--to FORMAT and -o FILE are "
				 "both needed");
	if (page_to_stdout(p))
		return cli_usage(&p->program, "an export goes to a file");
	if (!model != (strcmp(format, "onnx") != 0))
		return cli_usage(&p->program, "--model goes with --to onnx, "
				 "which needs it");
	if (model)
		vec_push(p->arena, &p->reads, model);
	bool folder = !strcmp(format, "cuda");
	if (!(folder ? page_can_write_in : page_can_write)(p, p->output))
		return p->status;
	tdl_plan *plan = page_plan(p, path);
	if (!plan)
		return p->status;
	if (model)
		tdl_plan_annotate(plan, model, p->output);
	else
		tdl_plan_export(plan, format, p->output);
	page_failed(p);
	return p->status;
}
