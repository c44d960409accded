/* The progress bar of a training run. */
#ifndef TDL_RUNTIME_RUN_PROGRESS_BAR_H
#define TDL_RUNTIME_RUN_PROGRESS_BAR_H

#include "runtime/run/session.h"

typedef struct bar_line {
	int64_t epoch, step, steps, batch;
	double loss; /* NAN where there is none */
	double samples_per_second;
} bar_line;

/* Shows how far a run is, on a terminal. */
void bar_show(const session *s, const bar_line *line);

#endif
