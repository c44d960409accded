/* The times of the instructions of a run, for a profile (plan/profile.h). */
#ifndef TDL_RUNTIME_EXEC_PROFILING_H
#define TDL_RUNTIME_EXEC_PROFILING_H

#include "plan/profile.h"
#include "runtime/exec/executor.h"

/* Steps that are made where no number is given. */
enum { PROFILING_STEPS = 12 };

typedef struct profiling profiling;

/* From now on the steps of m, a machine for p, are measured, so many of them;
 * in a. */
profiling *profiling_new(arena *a, const plan_pipeline *p, executor *m,
			 int64_t steps);

/* Takes the times of the last step, but those of the first ones: caches and
 * pages are cold in them. */
void profiling_note(profiling *x);

/* Adds what was measured to a profile, and returns the run, which it has, too.
 * All processes call it alike. */
profile_run profiling_end(profiling *x, profile *to);

#endif
