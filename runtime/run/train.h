/* Training: runs a plan step by step over the batches of a data set. */
#ifndef TDL_RUNTIME_RUN_TRAIN_H
#define TDL_RUNTIME_RUN_TRAIN_H

#include "runtime/run/session.h"

/* Trains according to the command line, and prints the results.  Returns true
 * with *status set to the exit status, or false with s->f set.  After SIGINT or
 * SIGTERM it writes a checkpoint, if checkpoints are enabled, and ends the
 * process by that signal. */
bool train_command(session *s, cli_status *status);

#endif
