#include "config.h"

#include "libtdl/train_options.h"

#include "compiler/model/model.h"

const char *const train_precisions[] = { "f32", "bf16", "f16", NULL };

/* The first given option that needs --train; NULL if there is none. */
static const char *needs_train(const train_request *r)
{
	return r->optimizer			 ? "optimizer"
	       : r->clip_norm != NO_CLIP_NORM ? "clip-norm"
	       : r->precision		 ? "precision"
	       : r->recompute		 ? "recompute"
					 : NULL;
}

/* Whether the options are consistent.  Prints a message if not.  In a model in
 * TDL every weight is a state, whatever it was trained with. */
static bool is_consistent(job *d, const train_request *r, bool is_tdl)
{
	const char *option = needs_train(r);
	const char *either = r->loss		? "loss"
			     : r->freeze.n > 0 ? "freeze"
			     : r->only.n > 0 && is_tdl ? "train-only"
					       : NULL;
	if (r->train && r->evaluate)
		cli_usage(&d->program, "%s and %s exclude each other",
			  job_option(d, "train"), job_option(d, "evaluate"));
	else if (!r->train && option)
		cli_usage(&d->program, "%s needs %s", job_option(d, option),
			  job_option(d, "train"));
	else if (!r->train && !r->evaluate && either)
		cli_usage(&d->program, "%s needs %s or %s",
			  job_option(d, either), job_option(d, "train"),
			  job_option(d, "evaluate"));
	else
		return true;
	return false;
}

static weight_globs globs_of(job *d, const cli_words *w)
{
	return (weight_globs){ .at = w->at, .n = w->n,
			       .used = ARENA_ARRAY(d->arena, bool, w->n + 1) };
}

cli_status job_train_options(job *d, const train_request *r, const char *path,
			     model_options *o)
{
	o->seed = (uint64_t)r->seed;
	if (!is_consistent(d, r, model_is_tdl(path)))
		return CLI_USAGE;
	weight_globs *only = ARENA_NEW(d->arena, weight_globs);
	*only = globs_of(d, &r->only);
	o->numbers = only;
	if (!r->train && !r->evaluate)
		return CLI_OK;
	train_options *t = ARENA_NEW(d->arena, train_options);
	*t = (train_options){
		.loss = r->loss,
		.evaluate = r->evaluate,
		.optimizer = r->optimizer ? r->optimizer : "sgd",
		.clip_norm = r->clip_norm == NO_CLIP_NORM ? 0 : r->clip_norm,
		.precision = r->precision ? train_precisions[r->precision]
					  : NULL,
		.recompute = r->recompute,
		.freeze = globs_of(d, &r->freeze),
		.only = *only,
	};
	o->train = t;
	return CLI_OK;
}

/* CLI_USAGE, after a message, if a pattern of an option matched no weight. */
static cli_status check_globs(job *d, const char *option,
			      const weight_globs *g)
{
	for (int i = 0; i < g->n; i++)
		if (!g->used[i])
			return cli_usage(&d->program,
					 "the model has no weight '%s' for %s",
					 g->at[i], job_option(d, option));
	return CLI_OK;
}

cli_status job_check_globs(job *d, const model_options *o)
{
	cli_status status = CLI_OK;
	if (o->train)
		status = check_globs(d, "freeze", &o->train->freeze);
	if (o->numbers && status == CLI_OK)
		status = check_globs(d, "train-only", o->numbers);
	return status;
}
