/* A run on one set of inputs, as often as asked, and its comparison with that
 * of one worker. */
#ifndef TDL_RUNTIME_RUN_RUN_H
#define TDL_RUNTIME_RUN_RUN_H

#include "runtime/run/session.h"

/* Runs the session's plan and prints the results; true, with *status set to the
 * exit status; or false, with s->f set. */
bool run_command(session *s, cli_status *status);

#endif
