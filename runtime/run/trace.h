/* A step as it was measured, as a trace. */
#ifndef TDL_RUNTIME_RUN_TRACE_H
#define TDL_RUNTIME_RUN_TRACE_H

#include "runtime/run/session.h"

/* Writes when each worker did what in the last step of m, which has recorded it
 * (executor_record()), in the format of Chrome's traces: docs/simulate.md.  All
 * processes call it alike, and one writes.  False with the failure set. */
bool trace_write(session *s, executor *m, const char *path);

#endif
