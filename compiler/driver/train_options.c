#include "config.h"

#include "compiler/driver/train_options.h"

const char *const train_precisions[] = { "f32", "bf16", "f16", NULL };

/* The first of the options that are given and need --train; NULL for none. */
static const char *needs_train(const train_request *r)
{
	return r->loss				    ? "loss"
	       : r->optimizer			    ? "optimizer"
	       : r->clip_norm != NO_CLIP_NORM	    ? "clip-norm"
	       : r->precision			    ? "precision"
	       : r->recompute			    ? "recompute"
	       : r->freeze.n > 0		    ? "freeze"
						    : NULL;
}

cli_status driver_train_options(driver *d, const train_request *r,
				model_options *o)
{
	const char *option = needs_train(r);
	o->seed = (uint64_t)r->seed;
	if (!r->train && option)
		return cli_usage(&d->program, "--%s needs --train", option);
	if (!r->train)
		return CLI_OK;
	train_options *t = ARENA_NEW(d->arena, train_options);
	*t = (train_options){
		.loss = r->loss,
		.optimizer = r->optimizer ? r->optimizer : "sgd",
		.clip_norm = r->clip_norm == NO_CLIP_NORM ? 0 : r->clip_norm,
		.precision = r->precision ? train_precisions[r->precision]
					  : NULL,
		.recompute = r->recompute,
		.freeze = r->freeze.at,
		.nfreeze = r->freeze.n,
		.freeze_used = ARENA_ARRAY(d->arena, bool, r->freeze.n + 1),
	};
	o->train = t;
	return CLI_OK;
}

cli_status driver_check_freeze(driver *d, const model_options *o)
{
	for (int i = 0; o->train && i < o->train->nfreeze; i++)
		if (!o->train->freeze_used[i])
			return cli_usage(&d->program,
					 "the model has no weight '%s' for "
					 "--freeze", o->train->freeze[i]);
	return CLI_OK;
}
