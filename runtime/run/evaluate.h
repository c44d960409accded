/* Running a plan over all samples of a data set. */
#ifndef TDL_RUNTIME_RUN_EVALUATE_H
#define TDL_RUNTIME_RUN_EVALUATE_H

#include "runtime/run/data.h"
#include "runtime/run/session.h"

/* The mean of an output: over the samples if it has an element per sample, or
 * over the full batches if it has one element. */
typedef struct metric {
	const char *name;
	double value; /* NAN if there was nothing to average */
} metric;

typedef struct evaluation evaluation;

/* Prepares a plan for evaluation.  Inputs that the data lack come from --inputs
 * if `fed', or keep the plan's values.  With `collect', outputs with one or
 * more elements per sample are kept for all samples.  NULL, with s->f set, on
 * failure. */
evaluation *evaluation_open(session *s, const plan_pipeline *p,
			    const char *path, const char *data, bool fed,
			    bool collect);
void evaluation_close(evaluation *e);

/* Copies the states of a machine that runs `trained' to the plan, by name.
 * Returns false, with the failure set, if the machine lacks a state that the
 * plan itself does not change. */
bool evaluation_take(evaluation *e, const executor *m, const plan *trained);

/* Runs all batches.  The last is filled up with its last sample; results for
 * these repetitions are left out. */
bool evaluation_run(evaluation *e);

/* The results of the last run; *n of them. */
const metric *evaluation_metrics(const evaluation *e, int *n);

/* Runs the session's plan, which does not train, over --data, and prints the
 * results. */
bool evaluate_command(session *s, cli_status *status);

#endif
