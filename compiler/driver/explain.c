/* tdlc explain: the strategies of one operator, or why a plan cuts a tensor as
 * it does. */
#include "config.h"

#include "compiler/driver/commands.h"

#include "base/file.h"

typedef struct explain_options {
	const char *plan, *tensor, *algorithm;
	int format;
} explain_options;

static const char *const formats[] = { "text", "shardy", "nnscaler", "jax",
				       NULL };

static cli_status explain_operator(page *p, const explain_options *o,
				   const char *name, const char *file)
{
	const tdl_option *given = page_given(p, "tdl_module_explain");
	tdl_module *m = file ? tdl_module_load(p->context, file) :
			       tdl_module_library(p->context);
	if (page_failed(p))
		return p->status;
	if (o->format)
		return page_print(p, tdl_module_export(
			m, name, formats[o->format], given, NULL));
	return page_print(p, tdl_module_explain(m, name, given));
}

static cli_status explain_tensor(page *p, const explain_options *o)
{
	const tdl_option by[] = { { "algorithm", o->algorithm }, { NULL } };
	tdl_plan *plan = tdl_plan_load(p->context, o->plan);
	if (page_failed(p))
		return p->status;
	return page_print(p, tdl_plan_explain(plan, o->tensor,
					      o->algorithm ? by : NULL));
}

/* The reason that options do not go together; NULL. */
static const char *misfit(page *p, const explain_options *o, char **operands,
			  int n)
{
	bool k = page_has(p, "tdl_module_explain", "devices");
	if (o->plan || o->tensor) {
		if (!o->plan || !o->tensor)
			return "--plan and --tensor go together";
		return n || o->format || page_has(p, "tdl_module_explain", NULL)
			? "with --plan there are only --tensor, --algorithm "
			  "and --json" : NULL;
	}
	if (o->algorithm)
		return "--algorithm goes with --plan";
	if (o->format && (p->json || k))
		return arena_printf(p->arena, "--format=%s goes with neither "
				    "-k nor --json", formats[o->format]);
	if (n < 1 || n > 2)
		return "it takes the name of an operator, and optionally a "
		       "file";
	if (path_ends_in(operands[0], ".tdl"))
		return arena_printf(p->arena, "the name of an operator comes "
				    "before the file '%s'", operands[0]);
	return NULL;
}

cli_status command_explain(page *p, int argc, char **argv)
{
	explain_options o = { 0 };
	const cli_option options[] = {
		{ CLI_CHOICE, 0, "format", "FORMAT",
		  "text; or a rule in the notation of another system: shardy, "
		  "nnscaler, jax",
		  &o.format, .choices = formats },
		{ CLI_TEXT, 0, "plan", "PLAN",
		  "instead, say why this plan cuts a tensor as it does",
		  &o.plan },
		{ CLI_TEXT, 0, "tensor", "T", "the tensor, with --plan",
		  &o.tensor },
		{ CLI_TEXT, 0, "algorithm", "A",
		  "with --plan, the planner that completes each choice: tofu "
		  "(default), joint", &o.algorithm },
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_module_explain", NULL);
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	const char *why = misfit(p, &o, argv + first, argc - first);
	if (why)
		return cli_usage(&p->program, "%s", why);
	if (o.plan)
		return explain_tensor(p, &o);
	return explain_operator(p, &o, argv[first],
				argc - first == 2 ? argv[first + 1] : NULL);
}
