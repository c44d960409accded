/* Threads that wait for work: the parts of a job run at the same time. */
#ifndef TDL_RUNTIME_EXEC_THREAD_POOL_H
#define TDL_RUNTIME_EXEC_THREAD_POOL_H

#include <stdbool.h>

/* A pool of n threads, the caller's own included; where threads can't be
 * started it is smaller.  Those that spin wait for a moment ahead of going to
 * sleep, which is of use where each has a processor of its own. */
typedef struct thread_pool thread_pool;
thread_pool *thread_pool_open(int n, bool spins);
void thread_pool_close(thread_pool *t);
int thread_pool_size(const thread_pool *t);

/* Calls part(arg, i) for 0 <= i < n, by the threads of the pool, one each
 * unless one has ended before another begins; n must not be above its size.
 * Returns when all have returned. */
void thread_pool_run(thread_pool *t, int n, void (*part)(void *arg, int i),
		     void *arg);

#endif
