/* tdlrun --profile: the times of the instructions of a run (plan/profile.h). */
#ifndef TDL_RUNTIME_RUN_PROFILING_H
#define TDL_RUNTIME_RUN_PROFILING_H

#include "runtime/run/session.h"

/* Steps that are made where no number is given. */
enum { PROFILING_STEPS = 12 };

typedef struct profiling profiling;

/* From now on the steps of m, a machine for the session's plan, are measured.
 * What the file has already is read.  NULL with the failure set. */
profiling *profiling_new(session *s, executor *m);

/* Takes the times of the last step of n, but those of the first ones: caches
 * and pages are cold in them. */
void profiling_note(profiling *x, int64_t n);

/* Adds what was measured to the file.  All processes call it alike, and one
 * writes.  False with the failure set. */
bool profiling_write(profiling *x);

#endif
