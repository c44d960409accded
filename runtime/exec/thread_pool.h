/* Threads that wait for work: the parts of a job run at the same time. */
#ifndef TDL_RUNTIME_EXEC_THREAD_POOL_H
#define TDL_RUNTIME_EXEC_THREAD_POOL_H

#include <stdbool.h>

/* A pool of n threads, including the caller's; smaller if threads cannot be
 * started.  Threads that spin poll for a moment before they sleep, which helps
 * if each has a processor of its own. */
typedef struct thread_pool thread_pool;
thread_pool *thread_pool_open(int n, bool spins);
void thread_pool_close(thread_pool *t);
int thread_pool_size(const thread_pool *t);

/* Calls part(arg, i) for 0 <= i < n, each in a thread of the pool; a thread may
 * take several parts. n must not exceed the pool's size.  Returns when all
 * calls have returned. */
void thread_pool_run(thread_pool *t, int n, void (*part)(void *arg, int i),
		     void *arg);

#endif
