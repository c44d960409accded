/* Being asked to end, by SIGINT or SIGTERM: no handler, and nothing global: the
 * signals are held back, and taken between two steps. */
#ifndef TDL_RUNTIME_STOP_H
#define TDL_RUNTIME_STOP_H

#include <signal.h>

/* Holds the signals back in this thread and those that it starts from now on;
 * *before is what was held back before. */
void stop_hold(sigset_t *before);

/* The signal that has come since, which is taken; 0 for none. */
int stop_asked(void);

/* Lets signals through again as they were before; one that has come and was not
 * taken ends the process. */
void stop_release(const sigset_t *before);

/* Ends the process as the signal would have done. */
void stop_now(int signal);

#endif
