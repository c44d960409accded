/* The command tdlc explain.  It explains the strategies of an operator, why a
 * plan cuts a tensor as it does, or why the layers of a model are in their
 * stages. */
#include "config.h"

#include "compiler/driver/commands.h"

#include <string.h>

#include "base/file.h"
#include "compiler/driver/progress.h"

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

/* The machine named among the options of a search. */
static const char *machine_of(page *p)
{
	const tdl_option *given = page_given(p, "tdl_plan_search");
	const char *machine = NULL;
	for (; given->name; given++)
		if (!strcmp(given->name, "topology"))
			machine = given->value;
	return machine;
}

/* Whether another of these options was given. */
static bool is_searched(page *p)
{
	const tdl_option *given = page_given(p, "tdl_plan_search");
	bool any = false;
	for (; given->name; given++)
		any |= strcmp(given->name, "topology") != 0;
	return any;
}

static cli_status explain_tensor(page *p, const explain_options *o)
{
	const char *machine = machine_of(p);
	tdl_option by[3] = { { NULL } };
	int n = 0;
	if (o->algorithm)
		by[n++] = (tdl_option){ "algorithm", o->algorithm };
	if (machine)
		by[n++] = (tdl_option){ "topology", machine };
	tdl_plan *plan = page_plan(p, o->plan);
	if (!plan)
		return p->status;
	return page_print(p, tdl_plan_explain(plan, o->tensor, by));
}

/* Why the layers of a model lie in their stages. */
static cli_status explain_stages(page *p, const explain_options *o,
				 const char *path)
{
	static const char search[] = "tdl_plan_search",
			  operator[] = "tdl_module_explain";
	const tdl_option *shared = page_given(p, operator);
	for (; shared->name; shared++)
		page_give(p, strcmp(shared->name, "devices") ? "tdl_model_load"
							     : search,
			  shared->name, shared->value);
	if (o->algorithm)
		page_give(p, search, "algorithm", o->algorithm);
	tdl_model *m = page_agrees(p, search) ? page_model(p, path) : NULL;
	if (!m)
		return p->status;
	progress_begin(p);
	tdl_plan *plan = tdl_plan_search(m, page_given(p, search));
	progress_end(p);
	return page_failed(p) ? p->status : page_print(p, tdl_plan_cuts(plan));
}

static bool is_of_model(page *p)
{
	return page_has(p, "tdl_plan_search", NULL) ||
	       page_has(p, "tdl_model_load", NULL);
}

/* The same for options about a model. */
static const char *misfit_of_model(page *p, const explain_options *o,
				   char **operands, int n)
{
	if (n != 1 || !page_is_model(operands[0]))
		return "options of plans go with one model";
	if (!page_has(p, "tdl_plan_search", "stages"))
		return "a model is explained with --stages";
	if (!page_has(p, "tdl_module_explain", "devices"))
		return "-k N is missing";
	return o->format ? "--format goes with operators" : NULL;
}

/* The reason why options conflict; NULL if they do not. */
static const char *misfit(page *p, const explain_options *o, char **operands,
			  int n)
{
	bool k = page_has(p, "tdl_module_explain", "devices");
	if (is_of_model(p) && !o->plan && !o->tensor)
		return misfit_of_model(p, o, operands, n);
	if (o->plan || o->tensor) {
		if (!o->plan || !o->tensor)
			return "--plan and --tensor go together";
		return n || o->format || is_searched(p) ||
			       page_has(p, "tdl_model_load", NULL) ||
			       page_has(p, "tdl_module_explain", NULL)
			? "with --plan there are only --tensor, --algorithm, "
			  "--topology and --json" : NULL;
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
		  "(default), joint; with --stages, that of tdlc plan",
		  &o.algorithm },
		PAGE_OPTION_PROGRESS(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_module_explain", NULL);
	page_function(p, "tdl_plan_search", "devices algorithm frontier");
	page_function(p, "tdl_model_load", "D shape");
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	const char *why = misfit(p, &o, argv + first, argc - first);
	if (why)
		return cli_usage(&p->program, "%s", why);
	if (o.plan)
		return explain_tensor(p, &o);
	if (is_of_model(p))
		return explain_stages(p, &o, argv[first]);
	return explain_operator(p, &o, argv[first],
				argc - first == 2 ? argv[first + 1] : NULL);
}
