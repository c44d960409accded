/* Requests to end, by SIGINT or SIGTERM, without a handler and without globals:
 * the signals are blocked, and taken between two steps. */
#ifndef TDL_RUNTIME_RUN_STOP_H
#define TDL_RUNTIME_RUN_STOP_H

#include <signal.h>

/* Blocks the signals in this thread and those that it starts from now on;
 * *before is the former mask. */
void stop_hold(sigset_t *before);

/* The signal that has come since, which is taken; 0 for none. */
int stop_asked(void);

/* Restores the former mask; a signal that has come and was not taken ends the
 * process. */
void stop_release(const sigset_t *before);

/* Ends the process as the signal would have done. */
void stop_now(int signal);

#endif
