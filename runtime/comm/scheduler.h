/* Workers that share threads, where there are more of them than processors.  A
 * thread runs a worker until it ends or has to wait, and then another one that
 * can go on.  So a worker that waits costs no switch to the system and back. */
#ifndef TDL_RUNTIME_COMM_SCHEDULER_H
#define TDL_RUNTIME_COMM_SCHEDULER_H

#include <stdbool.h>

typedef struct scheduler scheduler;

/* With nthreads threads, or those that can be started; the thread that calls
 * scheduler_run() is one of them.  NULL if there is no memory. */
scheduler *scheduler_open(int nworkers, int nthreads);
void scheduler_close(scheduler *t);

/* Runs a turn of each worker, and further turns while it returns false: it
 * waits for something that another worker does.  A worker's turns may be run by
 * several threads, one after the other.  Returns when all have ended. */
void scheduler_run(scheduler *t, bool (*turn)(void *arg, int worker),
		   void *arg);

/* Lets scheduler_run() return as soon as the turns that run have ended. */
void scheduler_break(scheduler *t);

/* Something has been done for which a worker may wait. */
void scheduler_moved(scheduler *t);

#endif
