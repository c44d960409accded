/* Runs a plan on one set of inputs, as often as requested, and compares it with
 * one worker. */
#ifndef TDL_RUNTIME_RUN_RUN_H
#define TDL_RUNTIME_RUN_RUN_H

#include "runtime/run/session.h"

/* Runs the session's plan and prints the results.  Returns true with *status
 * set to the exit status, or false with s->f set. */
bool run_command(session *s, cli_status *status);

#endif
