/* Requests to end, by SIGINT or SIGTERM, without a signal handler and without
 * globals: the signals are blocked, and fetched between two steps. */
#ifndef TDL_RUNTIME_RUN_STOP_H
#define TDL_RUNTIME_RUN_STOP_H

#include <signal.h>

/* Blocks the signals in this thread and those that it starts from now on;
 * stores the previous mask in *before. */
void stop_hold(sigset_t *before);

/* Fetches a signal that has arrived since; 0 for none. */
int stop_asked(void);

/* Restores the previous mask; a pending signal that was not fetched ends the
 * process. */
void stop_release(const sigset_t *before);

/* Ends the process as the signal would have done. */
void stop_now(int signal);

#endif
