/* The position of a worker in the program, for others that have to wait until
 * it is far enough. */
#ifndef TDL_RUNTIME_COMM_PROGRESS_H
#define TDL_RUNTIME_COMM_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct progress {
	_Alignas(64) atomic_int at;
	atomic_int nwaiting;
	atomic_bool broken;
	pthread_mutex_t lock;
	pthread_cond_t moved;
} progress;

void progress_init(progress *p);
void progress_destroy(progress *p);

/* Moves on, or back; the latter only while no thread waits. */
void progress_set(progress *p, int at);

/* Waits until the worker has come to `at`, `spins` times without sleeping;
 * false if the post is broken. */
bool progress_wait(progress *p, int at, int spins);

/* No thread waits from now on. */
void progress_break(progress *p);

#endif
