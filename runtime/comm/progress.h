/* The position of a worker in its program, and waiting for another worker to
 * reach a position. */
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

/* Moves forward, or back; back only while no thread waits. */
void progress_set(progress *p, int at);

/* Waits until the worker has reached `at', polling `spins' times before it
 * sleeps.  Returns false if the position is broken. */
bool progress_wait(progress *p, int at, int spins);

/* From now on no thread waits. */
void progress_break(progress *p);

#endif
