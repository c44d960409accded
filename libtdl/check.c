#include "config.h"

#include "libtdl/check.h"

#include "compiler/analysis/bounds.h"
#include "compiler/graph/graph.h"
#include "compiler/model/model.h"

/* Whether a model can be built without arguments. */
static bool has_defaults(const ast_model *m)
{
	for (int i = 0; i < m->nparams; i++)
		if (!m->params[i].value)
			return false;
	return true;
}

/* Reports errors in a file's models, built with the defaults of their
 * arguments. */
static void check_models(job *d, tdl_modules *m, const ast_module *module)
{
	const model_options o = { 0 };
	for (int i = 0; i < module->ndefs; i++) {
		const ast_model *model = module->defs[i].model;
		if (model && !model->faulty && has_defaults(model))
			model_graph(d->arena, m, d->sink, model, &o);
	}
}

tdl_modules *check_files(job *d, const char *const *paths, int n)
{
	tdl_modules *m = job_modules(d);
	for (int i = 0; i < n; i++)
		dsl_load(m, paths[i]);
	if (!analysis_check(m, d->sink) || diag_errors(d->sink))
		return m;
	for (int i = 0; i < n; i++)
		check_models(d, m, dsl_module(m, paths[i]));
	return m;
}
