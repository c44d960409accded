/* tdlc plan: a model, divided over devices. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/units.h"
#include "compiler/codegen/codegen.h"
#include "compiler/driver/plan_frontier.h"
#include "compiler/driver/plan_input.h"
#include "compiler/driver/plan_memory.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/plan_strict.h"
#include "compiler/driver/progress.h"
#include "compiler/export/program.h"
#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/one_planner.h"

typedef struct plan_options {
	int64_t devices;
	plan_request request;
	const char *output;
	const char *cuda; /* a folder for a program */
	plan_model model;
	const char *warn_replicate, *memory; /* NULL, or a size */
	int64_t limit;			     /* of memory; 0: there is none */
	plan_strictness strict;
	const char *topology;
	int objective; /* a plan_objective; -1: not given */
	bool frontier, separate, json;
} plan_options;

/* Reads the command line; the operand is *model.  False with *status. */
static bool read_options(driver *d, int argc, char **argv, plan_options *o,
			 const char **model, cli_status *status)
{
	static const char *const objectives[] = { "time", "bytes", "memory",
						  NULL };
	const cli_option options[] = {
		PLAN_OPTION_DEVICES(&o->devices),
		{ CLI_TEXT, 0, "algorithm", "A",
		  arena_printf(d->arena, "plan with A: %s",
			       plan_algorithms(d->arena)),
		  &o->request.algorithm },
		{ CLI_CHOICE, 0, "objective", "O",
		  "the cost that auto minimizes: time (default), bytes, "
		  "memory", &o->objective, 0, 0, objectives },
		{ CLI_FLAG, 0, "frontier", NULL,
		  "list the Pareto-optimal plans in time and memory",
		  &o->frontier },
		PLAN_OPTION_TIME_LIMIT(&o->request.seconds),
		PLAN_OPTIONS_PINS(&o->request.pins),
		PLAN_OPTION_TOPOLOGY(&o->topology),
		PLAN_OPTION_MEMORY(&o->memory),
		PLAN_OPTIONS_MODEL(&o->model),
		{ CLI_FLAG, 0, "fail-on-opaque", NULL,
		  "end with an error where no strategy divides an operator",
		  &o->strict.fail_on_opaque },
		{ CLI_TEXT, 0, "warn-replicate", "SIZE",
		  "warn about each tensor of at least SIZE bytes (2G, 80GB) "
		  "that every device stores or fetches whole",
		  &o->warn_replicate },
		{ CLI_FLAG, 0, "no-fuse", NULL,
		  "keep every operator a kernel of its own", &o->separate },
		DRIVER_OPTION_OUTPUT(&o->output),
		{ CLI_TEXT, 0, "emit-cuda", "DIR",
		  "write a program in CUDA that runs the plan to DIR",
		  &o->cuda },
		DRIVER_OPTION_JSON(&o->json),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      status);
	if (first < 0)
		return false;
	if (!o->request.algorithm)
		o->request.algorithm = o->frontier ? PLAN_AUTO : "tofu";
	*status = CLI_USAGE;
	if (!plan_is_asked_for(d, argc - first, o->devices))
		return false;
	if (o->json && o->output && !strcmp(o->output, "-"))
		cli_usage(&d->program, "--json and -o - cannot both print");
	else if (o->warn_replicate &&
		 !units_read_size(o->warn_replicate, &o->strict.replicated))
		cli_usage(&d->program, "--warn-replicate takes a number of "
			  "bytes, such as 512M or 80GB, not '%s'",
			  o->warn_replicate);
	else if (o->memory &&
		 (!units_read_size(o->memory, &o->limit) || o->limit == 0))
		cli_usage(&d->program, "--memory takes a number of bytes, such "
			  "as 512M or 80GB, not '%s'", o->memory);
	else if (o->objective >= 0 && strcmp(o->request.algorithm, PLAN_AUTO))
		cli_usage(&d->program, "--objective goes with --algorithm "
			  PLAN_AUTO);
	else if (o->frontier && (o->output || o->cuda || o->objective >= 0))
		cli_usage(&d->program, "--frontier writes no plan: -o, "
			  "--emit-cuda and --objective do not go with it");
	else if (o->frontier && strcmp(o->request.algorithm, PLAN_AUTO))
		cli_usage(&d->program, "--frontier takes plans of all "
			  "planners: --algorithm does not go with it");
	else
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

/* Makes a folder and those below it that a file needs. */
static bool make_folders(arena *a, const char *folder, const char *name)
{
	const char *slash = strchr(name, '/');
	if (mkdir(folder, 0777) && errno != EEXIST)
		return false;
	if (!slash)
		return true;
	const char *inner = arena_strndup(a, name, (size_t)(slash - name));
	return make_folders(a, path_join(a, folder, inner), slash + 1);
}

static cli_status write_program(driver *d, const plan *p, const char *folder)
{
	program source;
	if (!program_of(d->arena, p, d->sink, &source))
		return CLI_INPUT;
	for (int i = 0; i < source.nfiles; i++) {
		const program_file *f = &source.files[i];
		const char *path = path_join(d->arena, folder, f->name);
		if (!make_folders(d->arena, folder, f->name))
			return cli_failed(&d->program, "%s: %s", folder,
					  strerror(errno));
		cli_status status = driver_write(d, path, f->data, f->len);
		if (status != CLI_OK)
			return status;
	}
	return CLI_OK;
}

/* Plans the graph; writes and prints what is asked for. */
static cli_status plan_graph(driver *d, const graph *g, const plan_options *o)
{
	const lower_options lower = {
		.algorithm = o->request.algorithm,
		.codegen = o->output || o->cuda ? codegen_sources : NULL,
		.checksums = o->output || o->cuda,
	};
	bool best = !strcmp(o->request.algorithm, PLAN_AUTO);
	plan_result r;
	plan_request how = o->request;
	how.arena = d->arena;
	how.sink = d->sink;
	how.graph = g;
	how.k = (int)o->devices;
	how.memory = o->limit;
	how.separate = o->separate;
	if (o->objective >= 0)
		how.objective = (plan_objective)o->objective;
	how.topology = plan_topology(d, o->topology, o->devices);
	if (!how.topology || !plan_is_countable(d->sink, g, o->devices) ||
	    !plan_is_divided(d->arena, g, &o->strict, d->sink))
		return CLI_OK;
	if (o->frontier)
		return plan_print_frontier(d, &how, o->json);
	how.observer = progress_begin(d->arena);
	bool made = best ? plan_auto(&how, &lower, NULL, 0, &r)
			 : plan_by_planner(&how, &lower, &r);
	progress_end(&how.observer);
	if (!made)
		return CLI_OK;
	if (r.search->error) {
		cli_failed(&d->program, "%s: %s", o->request.algorithm,
			   r.search->error);
		return r.search->absent ? CLI_MACHINE : CLI_NO_PLAN;
	}
	plan_warn_replicated(d->arena, g, &r.search->assignment, &o->strict,
			     d->sink);
	if (!plan_fits(d, &how, r.plan))
		return CLI_NO_PLAN;
	cli_status status = o->cuda ? write_program(d, r.plan, o->cuda)
				    : CLI_OK;
	if (status == CLI_OK && o->output)
		status = write_plan(d, r.plan, o->output);
	if (status != CLI_OK || (o->output && !strcmp(o->output, "-")))
		return status;
	if (o->json)
		return driver_print_json(d, plan_report_json(&r));
	plan_report_text(d->arena, &r);
	return CLI_OK;
}

cli_status command_plan(driver *d, int argc, char **argv)
{
	plan_options o = { .objective = -1, .strict.replicated = -1,
			   .model = PLAN_MODEL };
	const char *path;
	cli_status status;
	if (!read_options(d, argc, argv, &o, &path, &status))
		return status;
	if (!plan_is_algorithm(d, o.request.algorithm))
		return CLI_USAGE;
	graph *g = plan_read_model(d, path, &o.model, &status);
	return g ? plan_graph(d, g, &o) : status;
}
