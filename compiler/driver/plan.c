/* tdlc plan: a model, divided over devices. */
#include "config.h"

#include <string.h>

#include "compiler/codegen/codegen.h"
#include "compiler/driver/plan_frontier.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/progress.h"
#include "compiler/driver/report.h"
#include "libtdl/plan_report.h"
#include "libtdl/plan_search.h"
#include "libtdl/program_files.h"
#include "libtdl/report.h"

typedef struct command_options {
	plan_options plan;
	plan_model model;
	const char *output;
	const char *cuda; /* a folder for a program */
	const char *report; /* a page */
	bool json;
} command_options;

/* Reads the command line; the operand is *model.  False with *status. */
static bool read_options(driver *d, int argc, char **argv, command_options *o,
			 const char **model, cli_status *status)
{
	const cli_option options[] = {
		PLAN_OPTIONS_SEARCH(d->arena, &o->plan),
		PLAN_OPTIONS_MODEL(&o->model),
		PLAN_OPTIONS_STRICT(&o->plan),
		DRIVER_OPTION_OUTPUT(&o->output),
		{ CLI_TEXT, 0, "emit-cuda", "DIR",
		  "write a program in CUDA that runs the plan to DIR",
		  &o->cuda },
		{ CLI_TEXT, 0, "report", "FILE.html",
		  "draw the plan on a page, as tdlc report does", &o->report },
		DRIVER_OPTION_JSON(&o->json),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      status);
	if (first < 0)
		return false;
	*status = CLI_USAGE;
	if (!plan_is_asked_for(d, argc - first, o->plan.devices))
		return false;
	if (o->json && o->output && !strcmp(o->output, "-"))
		cli_usage(&d->program, "--json and -o - cannot both print");
	else if (o->plan.frontier && (o->output || o->cuda || o->report))
		cli_usage(&d->program, "--frontier writes no plan: -o, "
			  "--emit-cuda, --report and --objective do not go "
			  "with it");
	else if (plan_options_agree(d, &o->plan))
		*status = CLI_OK;
	*model = argv[first];
	return *status == CLI_OK;
}

static cli_status write_plan(driver *d, const plan *p, const char *path)
{
	size_t len;
	const char *text = plan_text(d->arena, p, path, &len);
	if (plan_is_readable(p, text, len))
		return driver_write(d, path, text, len);
	diag_error_in(d->sink, DIAG_TOO_LARGE, path,
		      "the plan is larger than tdlrun accepts: %d operators, "
		      "%zu bytes", p->nnodes, len);
	return CLI_INPUT;
}

/* The page of the plan, with what is known of its search. */
static cli_status write_report(driver *d, const plan_request *how,
			       const plan_result *r, const char *path)
{
	json_t *report = report_json(r->plan, how->topology);
	json_object_set_new(report, "search", plan_report_search(r));
	cli_status status = report_write(d, report, path);
	json_decref(report);
	return status;
}

/* Plans the graph; writes and prints what is asked for. */
static cli_status plan_graph(driver *d, const graph *g,
			     const command_options *o)
{
	const lower_options lower = {
		.algorithm = o->plan.request.algorithm,
		.codegen = o->output || o->cuda ? codegen_sources : NULL,
		.checksums = o->output || o->cuda,
	};
	plan_result r;
	plan_request how;
	bool made;
	if (!plan_request_of(d, g, &o->plan, &how))
		return CLI_OK;
	if (o->plan.frontier)
		return plan_print_frontier(d, &how, o->json);
	how.observer = progress_begin(d->arena);
	cli_status status = plan_search(d, &how, &o->plan, &lower, &r, &made);
	progress_end(&how.observer);
	if (status != CLI_OK || !made)
		return status;
	if (o->cuda)
		status = program_write(d, r.plan, o->cuda);
	if (status == CLI_OK && o->output)
		status = write_plan(d, r.plan, o->output);
	if (status == CLI_OK && o->report)
		status = write_report(d, &how, &r, o->report);
	if (status != CLI_OK || (o->output && !strcmp(o->output, "-")))
		return status;
	if (o->json)
		return driver_print_json(d, plan_report_json(&r));
	plan_report_text(d->arena, &r);
	return CLI_OK;
}

cli_status command_plan(driver *d, int argc, char **argv)
{
	command_options o = { .plan = PLAN_OPTIONS_NONE, .model = PLAN_MODEL };
	const char *path;
	cli_status status;
	if (!read_options(d, argc, argv, &o, &path, &status))
		return status;
	graph *g = plan_read_model(d, path, &o.model, &status);
	return g ? plan_graph(d, g, &o) : status;
}
