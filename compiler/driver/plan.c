/* tdlc plan: a model, divided over devices. */
#include "config.h"

#include "compiler/driver/commands.h"
#include "compiler/driver/progress.h"

typedef struct plan_options {
	int64_t frontier; /* 0: none; CLI_ALONE: list it; N: its N-th plan */
	const char *cuda; /* folder for a program */
	const char *report; /* file for a page */
} plan_options;

/* Draws the plan.  With --compare it also draws the plans of all planners,
 * which takes as long as their searches. */
static void draw(page *p, const plan_options *o, tdl_plan *plan)
{
	progress_begin(p);
	char *text = tdl_plan_page(plan, page_given(p, "tdl_plan_page"));
	progress_end(p);
	page_write_text(p, o->report, text);
}

/* Writes and prints what is asked for. */
static cli_status tell(page *p, const plan_options *o, tdl_plan *plan)
{
	if (o->cuda) {
		tdl_plan_export(plan, "cuda", o->cuda);
		if (page_failed(p))
			return p->status;
	}
	if (p->output) {
		tdl_plan_write(plan, p->output);
		if (page_failed(p))
			return p->status;
	}
	if (o->report)
		draw(p, o, plan);
	if (p->status != CLI_OK)
		return p->status;
	return page_to_stdout(p) ? CLI_OK :
				   page_print(p, tdl_plan_report(plan));
}

/* The options of the search, with the number of the frontier's plan. */
static const tdl_option *given_search(page *p, const plan_options *o)
{
	const tdl_option *given = page_given(p, "tdl_plan_search");
	int n = 0;
	if (o->frontier <= 0)
		return given;
	while (given && given[n].name)
		n++;
	tdl_option *all = ARENA_ARRAY(p->arena, tdl_option, n + 2);
	for (int i = 0; i < n; i++)
		all[i] = given[i];
	all[n].name = "frontier";
	all[n].value = arena_printf(p->arena, "%lld", (long long)o->frontier);
	return all;
}

static cli_status plan_model(page *p, const plan_options *o, const char *path)
{
	const tdl_option *given = given_search(p, o);
	bool lists = o->frontier == CLI_ALONE;
	tdl_model *m = page_model(p, path);
	if (!m)
		return p->status;
	progress_begin(p);
	char *frontier = lists ? tdl_model_frontier(m, given) : NULL;
	tdl_plan *plan = lists ? NULL : tdl_plan_search(m, given);
	progress_end(p);
	if (lists)
		return page_print(p, frontier);
	return page_failed(p) ? p->status : tell(p, o, plan);
}

/* Whether the options go together.  Prints a message if not. */
static bool agree(page *p, const plan_options *o, int noperands)
{
	bool lists = o->frontier == CLI_ALONE;
	const char *function = lists ? "tdl_model_frontier" :
				       "tdl_plan_search";
	const tdl_option *given = given_search(p, o);
	p->status = CLI_USAGE;
	if (noperands != 1)
		cli_usage(&p->program, "one model is expected");
	else if (!page_has(p, "tdl_plan_search", "devices"))
		cli_usage(&p->program, "-k N is missing");
	else if (p->json && page_to_stdout(p))
		cli_usage(&p->program, "--json and -o - cannot both print");
	else if (lists && (p->output || o->cuda || o->report))
		cli_usage(&p->program, "--frontier writes no plan: -o, "
			  "--emit-cuda, --report and --objective do not go "
			  "with it; --frontier=N takes one of its plans");
	else if (page_has(p, "tdl_plan_page", NULL) && !o->report)
		cli_usage(&p->program, "--compare goes with --report");
	else if (tdl_function_check(p->context, function, given) != TDL_OK)
		page_failed(p);
	else
		p->status = CLI_OK;
	return p->status == CLI_OK && page_can_write(p, p->output) &&
	       page_can_write(p, o->report) && page_can_write_in(p, o->cuda);
}

cli_status command_plan(page *p, int argc, char **argv)
{
	plan_options o = { 0 };
	const cli_option options[] = {
		{ CLI_COUNT, 0, "frontier", "N",
		  "list the Pareto-optimal plans in time and memory; with N "
		  "take the N-th, the fastest being 1", &o.frontier, 1,
		  1 << 20 },
		PAGE_OPTION_OUTPUT(p),
		{ CLI_TEXT, 0, "emit-cuda", "DIR",
		  "write a program in CUDA that runs the plan to DIR",
		  &o.cuda },
		{ CLI_TEXT, 0, "report", "FILE.html",
		  "draw the plan on a page, as tdlc report does; with "
		  "--frontier=N, beside the others of the "
		  "frontier", &o.report },
		PAGE_OPTION_PROGRESS(p),
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTION_PROFILE(p),
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_plan_search", "frontier");
	page_function(p, "tdl_plan_page",
		      "topology planners frontier trace");
	page_function(p, "tdl_model_load", NULL);
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	return agree(p, &o, argc - first) ? plan_model(p, &o, argv[first]) :
					    p->status;
}
