/* The commands tdlc compare and tdlc score.  For a model they run every
 * planner, and compare a plan of the user.  For a cost graph they run every
 * algorithm, and compare a placement of the user. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/progress.h"

/* The things that the commands can be about. */
typedef enum subject { A_MODEL, A_PLACEMENT, A_PLAN } subject;

static bool is_among(const cli_words *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (!strcmp(names->at[i], name))
			return true;
	return false;
}

/* The subject of a command line, found from its operand and its options.  plan:
 * it may be a plan. */
static subject subject_of(const page *p, const char *model,
			  const char *placement, bool plan, int argc,
			  char **argv)
{
	page any = { .arena = p->arena, .program = p->program };
	cli_words names = { 0 };
	const cli_option common[] = {
		PAGE_OPTION_PROFILE(&any), PAGE_OPTION_PROGRESS(&any),
		PAGE_OPTION_JSON(&any), PAGE_OPTION_LOAD(&any),
		PAGE_OPTIONS(&any), { CLI_END }
	};
	page_options(&any, common);
	page_function(&any, model, NULL);
	page_function(&any, placement, NULL);
	page_function(&any, "tdl_model_load", NULL);
	const char *path = page_operand(&any, argc, argv, &names);
	tdl_context_free(any.context);
	if (is_among(&names, "placement"))
		return A_PLACEMENT;
	if (!path || page_is_model(path))
		return A_MODEL;
	if (plan && page_is_plan(path))
		return A_PLAN;
	if (plan && !is_among(&names, "devices") && !is_among(&names, "pin") &&
	    !is_among(&names, "pins"))
		return A_PLAN;
	if (path_ends_in(path, ".json") || path_ends_in(path, ".txt"))
		return A_PLACEMENT;
	return A_MODEL;
}

static const char *read_options(page *p, const char *function,
				const char *expected, int argc, char **argv)
{
	const cli_option options[] = {
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	const cli_option of_plans[] = { PAGE_OPTION_PROFILE(p),
					PAGE_OPTION_PROGRESS(p), { CLI_END } };
	page_function(p, function, NULL);
	if (!strncmp(function, "tdl_model", 9)) {
		page_function(p, "tdl_model_load", NULL);
		page_options(p, of_plans);
	}
	page_options(p, options);
	return page_one(p, argc, argv, expected);
}

/* Plans, with one of the two functions. */
static cli_status plans(page *p, const char *function,
			char *(*call)(tdl_model *m, const tdl_option *options),
			int argc, char **argv)
{
	const char *path = read_options(p, function, "one model is expected",
					argc, argv);
	tdl_model *m = path && page_agrees(p, function) ? page_model(p, path) :
							  NULL;
	if (!m)
		return p->status;
	progress_begin(p);
	char *text = call(m, page_given(p, function));
	progress_end(p);
	return page_print(p, text);
}

/* Placements, with one of the two functions. */
static cli_status placements(page *p, const char *function,
			     char *(*call)(tdl_context *c, const char *path,
					   const tdl_option *options),
			     int argc, char **argv)
{
	const char *path = read_options(p, function,
					"one cost graph is expected", argc,
					argv);
	if (!path || !page_takes_model(p, path))
		return p->status;
	return page_print(p, call(p->context, path, page_given(p, function)));
}

static cli_status score_plan(page *p, int argc, char **argv)
{
	const char *machine = NULL;
	const cli_option options[] = {
		PAGE_OPTION_TOPOLOGY(p, &machine),
		PAGE_OPTION_PROFILE(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	const char *path = page_one(p, argc, argv, "one plan is expected");
	tdl_plan *plan = path ? page_plan(p, path) : NULL;
	return plan ? page_print(p, tdl_plan_score(plan, machine)) : p->status;
}

cli_status command_compare(page *p, int argc, char **argv)
{
	static const char model[] = "tdl_model_compare",
			  placement[] = "tdl_placement_compare";
	if (subject_of(p, model, placement, false, argc, argv) == A_MODEL)
		return plans(p, model, tdl_model_compare, argc, argv);
	p->program.synopsis = "GRAPH -k N [OPTION]...";
	p->program.about = "Place a cost graph with every algorithm.";
	return placements(p, placement, tdl_placement_compare, argc, argv);
}

cli_status command_score(page *p, int argc, char **argv)
{
	static const char model[] = "tdl_model_score",
			  placement[] = "tdl_placement_score";
	const subject of = subject_of(p, model, placement, true, argc, argv);
	if (of == A_MODEL)
		return plans(p, model, tdl_model_score, argc, argv);
	if (of == A_PLAN) {
		p->program.synopsis = "PLAN [OPTION]...";
		p->program.about = "Print the cost of a plan on a machine.";
		return score_plan(p, argc, argv);
	}
	p->program.synopsis = "GRAPH|MODEL -k N --placement FILE [OPTION]...";
	p->program.about = "Say how long a placement of whole operators takes.";
	return placements(p, placement, tdl_placement_score, argc, argv);
}
