/* The log of a training run: a CSV file with a line per step. */
#ifndef TDL_RUNTIME_RUN_LOG_H
#define TDL_RUNTIME_RUN_LOG_H

#include "runtime/run/evaluate.h"

typedef struct train_log train_log;

/* The figures of a step; NAN leaves a column empty. */
typedef struct log_line {
	int64_t step, epoch; /* from 1 */
	double loss, learning_rate, samples_per_second;
	int nmetrics; /* of an evaluation after the step; 0: none */
	const metric *metrics;
} log_line;

/* Opens a log with a column for each metric.  Of an existing log the first
 * `steps' steps are kept, which a resumed run does not repeat; 0: none.  NULL,
 * with *f set, on failure. */
train_log *log_open(arena *a, const char *path, int64_t steps, int nmetrics,
		    const metric *metrics, failure *f);

/* Adds a line, which has been written to the file when this returns. */
bool log_write(train_log *l, const log_line *line, failure *f);

/* Closes a log; accepts NULL. */
void log_close(train_log *l);

#endif
