/* tdlc check: parses and checks operators, and builds the graphs of models. */
#include "config.h"

#include "compiler/driver/driver.h"

#include "compiler/analysis/bounds.h"
#include "compiler/graph/graph.h"
#include "compiler/model/model.h"

/* Whether it can be built as it is. */
static bool has_defaults(const ast_model *m)
{
	for (int i = 0; i < m->nparams; i++)
		if (!m->params[i].value)
			return false;
	return true;
}

/* Reports the faults of a file's models, for the defaults of their
 * arguments. */
static void check_models(driver *d, tdl_modules *m, const ast_module *module)
{
	const model_options o = { 0 };
	for (int i = 0; i < module->ndefs; i++) {
		const ast_model *model = module->defs[i].model;
		if (model && !model->faulty && has_defaults(model))
			model_graph(d->arena, m, d->sink, model, &o);
	}
}

cli_status command_check(driver *d, int argc, char **argv)
{
	const cli_option options[] = {
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (first == argc)
		return cli_usage(&d->program, "a file is missing");
	tdl_modules *m = job_modules(d);
	for (int i = first; i < argc; i++)
		dsl_load(m, argv[i]);
	if (!analysis_check(m, d->sink) || diag_errors(d->sink))
		return CLI_OK;
	for (int i = first; i < argc; i++)
		check_models(d, m, dsl_module(m, argv[i]));
	return CLI_OK;
}
