/* tdlc compare and tdlc score: every planner on one model, a plan of one's own
 * beside them; or every algorithm on a cost graph, a placement of one's own. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/progress.h"

/* Whether a command is called for placements, not for plans: a word is
 * --placement, or one ends in .json or .txt and none in .tdl or .onnx. */
static bool are_placements(int argc, char **argv)
{
	bool model = false, costs = false, placement = false;
	for (int i = 1; i < argc; i++) {
		model |= page_is_model(argv[i]);
		costs |= path_ends_in(argv[i], ".json") ||
			 path_ends_in(argv[i], ".txt");
		placement |= !strncmp(argv[i], "--placement", 11);
	}
	return placement || (costs && !model);
}

static int read_options(page *p, const char *function, int argc, char **argv)
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
	return page_begin(p, argc, argv);
}

/* Plans, by either function. */
static cli_status plans(page *p, const char *function,
			char *(*call)(tdl_model *m, const tdl_option *options),
			int argc, char **argv)
{
	int first = read_options(p, function, argc, argv);
	const tdl_option *given = page_given(p, function);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one model is expected");
	if (tdl_function_check(p->context, function, given) != TDL_OK)
		return page_print(p, NULL);
	tdl_model *m = tdl_model_load(p->context, argv[first],
				      page_given(p, "tdl_model_load"));
	if (page_failed(p))
		return p->status;
	progress_begin(p);
	char *text = call(m, given);
	progress_end(p);
	return page_print(p, text);
}

/* Placements, by either function. */
static cli_status placements(page *p, const char *function,
			     char *(*call)(tdl_context *c, const char *path,
					   const tdl_option *options),
			     int argc, char **argv)
{
	int first = read_options(p, function, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one cost graph is expected");
	if (!page_takes_model(p, argv[first]))
		return p->status;
	return page_print(p, call(p->context, argv[first],
				  page_given(p, function)));
}

/* Whether a command is called for a plan: a file is named, which is no model,
 * and no devices are, nor a placement.  Values of options may be files, too. */
static bool is_plan(int argc, char **argv)
{
	bool file = false, asks = false;
	for (int i = 1; i < argc; i++) {
		file |= argv[i][0] != '-';
		asks |= page_is_model(argv[i]) || !strncmp(argv[i], "-k", 2) ||
			!strncmp(argv[i], "--dev", 5) ||
			!strncmp(argv[i], "--pin", 5) ||
			!strncmp(argv[i], "--placement", 11);
	}
	return file && !asks;
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
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (argc - first != 1)
		return cli_usage(&p->program, "one plan is expected");
	tdl_plan *plan = tdl_plan_load(p->context, argv[first]);
	if (page_failed(p))
		return p->status;
	return page_print(p, tdl_plan_score(plan, machine));
}

cli_status command_compare(page *p, int argc, char **argv)
{
	if (!are_placements(argc, argv))
		return plans(p, "tdl_model_compare", tdl_model_compare, argc,
			     argv);
	p->program.synopsis = "GRAPH -k N [OPTION]...";
	p->program.about = "Place a cost graph with every algorithm.";
	return placements(p, "tdl_placement_compare", tdl_placement_compare,
			  argc, argv);
}

cli_status command_score(page *p, int argc, char **argv)
{
	if (is_plan(argc, argv)) {
		p->program.synopsis = "PLAN [OPTION]...";
		p->program.about = "Print the cost of a plan on a machine.";
		return score_plan(p, argc, argv);
	}
	if (!are_placements(argc, argv))
		return plans(p, "tdl_model_score", tdl_model_score, argc,
			     argv);
	p->program.synopsis = "GRAPH|MODEL -k N --placement FILE [OPTION]...";
	p->program.about = "Say how long a placement of whole operators takes.";
	return placements(p, "tdl_placement_score", tdl_placement_score, argc,
			  argv);
}
