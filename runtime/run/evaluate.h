/* Running a plan over all samples of a data set. */
#ifndef TDL_RUNTIME_RUN_EVALUATE_H
#define TDL_RUNTIME_RUN_EVALUATE_H

#include "runtime/run/data.h"
#include "runtime/run/session.h"

/* The mean of an output: over the samples, where it has an element for each,
 * or, where it has one in all, over the full batches. */
typedef struct metric {
	const char *name;
	double value; /* NAN where there was nothing to take a mean of */
} metric;

typedef struct evaluation evaluation;

/* Prepares a plan for evaluation.  Inputs that the data do not have come from
 * --inputs where `fed`, or have values of their own.  With `collect`, outputs
 * that have an element or more for each sample are kept for all samples.  NULL,
 * with s->f set, on failure. */
evaluation *evaluation_open(session *s, const plan_pipeline *p,
			    const char *path, const char *data, bool fed,
			    bool collect);
void evaluation_close(evaluation *e);

/* Gives the plan the states of a machine that runs `trained`, by their names;
 * false, with the failure set, if that lacks a state that the plan itself does
 * not change. */
bool evaluation_take(evaluation *e, const executor *m, const plan *trained);

/* Runs all batches.  The last one is filled up with its last sample, and the
 * results for the repetitions are left out. */
bool evaluation_run(evaluation *e);

/* The results of the last run; *n of them. */
const metric *evaluation_metrics(const evaluation *e, int *n);

/* Runs the session's plan, which does not train, over --data, and prints the
 * results. */
bool evaluate_command(session *s, cli_status *status);

#endif
