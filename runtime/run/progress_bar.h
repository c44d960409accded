/* The progress bar of a training run. */
#ifndef TDL_RUNTIME_RUN_PROGRESS_BAR_H
#define TDL_RUNTIME_RUN_PROGRESS_BAR_H

#include "runtime/run/session.h"

typedef struct progress_bar_line {
	int64_t epoch, step, steps, batch;
	double loss; /* NAN where there is none */
	double samples_per_second;
} progress_bar_line;

/* Shows the progress of a run on a terminal. */
void progress_bar_show(const session *s, const progress_bar_line *line);

#endif
