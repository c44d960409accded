/* The times of the instructions of a run, for a profile (plan/profile.h). */
#ifndef TDL_RUNTIME_EXEC_PROFILING_H
#define TDL_RUNTIME_EXEC_PROFILING_H

#include "plan/profile.h"
#include "runtime/exec/executor.h"

/* The default number of steps. */
enum { PROFILING_STEPS = 12 };

typedef struct profiling profiling;

/* Measures the next `steps' steps of m, a machine for p; in a. */
profiling *profiling_new(arena *a, const plan_pipeline *p, executor *m,
			 int64_t steps);

/* Takes the times of the last step, unless it is one of the first, in which
 * caches and pages are cold. */
void profiling_note(profiling *x);

/* Adds the measurements to a profile, and returns the run, which is added too.
 * Collective. */
profile_run profiling_end(profiling *x, profile *to);

#endif
