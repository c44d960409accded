/* Writes a measured step as a trace. */
#ifndef TDL_RUNTIME_RUN_TRACE_H
#define TDL_RUNTIME_RUN_TRACE_H

#include "runtime/run/session.h"

/* Writes the instructions of the last step of m, recorded by executor_record(),
 * with their times on each worker, in the format of Chrome's traces:
 * docs/simulate.md.  Collective; one process writes.  Returns false with the
 * failure set. */
bool trace_write(session *s, executor *m, const char *path);

#endif
