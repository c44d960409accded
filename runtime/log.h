/* The log of a training run: a CSV file, a line per step. */
#ifndef TDL_RUNTIME_LOG_H
#define TDL_RUNTIME_LOG_H

#include "runtime/evaluate.h"

typedef struct train_log train_log;

/* What a step has shown.  A number that is NAN leaves its column empty. */
typedef struct log_line {
	int64_t step, epoch; /* from 1 */
	double loss, learning_rate, samples_per_second;
	int nmetrics; /* of an evaluation after the step; 0: there was none */
	const metric *metrics;
} log_line;

/* Opens a log with a column for each of the metrics.  Of one that is there,
 * the first `steps` steps are kept where these are not 0: those that a run
 * which is resumed does not make again.  NULL, with *f set, on failure. */
train_log *log_open(arena *a, const char *path, int64_t steps, int nmetrics,
		    const metric *metrics, failure *f);

/* Adds a line, which is in the file when this returns. */
bool log_write(train_log *l, const log_line *line, failure *f);

/* Every log is to be closed; NULL is accepted. */
void log_close(train_log *l);

#endif
