/* The position of a worker in the program, for others that have to wait until
 * it is far enough. */
#ifndef TDL_RUNTIME_COMM_PROGRESS_H
#define TDL_RUNTIME_COMM_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct post {
	_Alignas(64) atomic_int at;
	atomic_int nwaiting;
	atomic_bool broken;
	pthread_mutex_t lock;
	pthread_cond_t moved;
} post;

void post_init(post *p);
void post_destroy(post *p);

/* Moves on, or back; the latter only while no thread waits. */
void post_set(post *p, int at);

/* Waits until the worker has come to `at`, `spins` times without sleeping;
 * false if the post is broken. */
bool post_wait(post *p, int at, int spins);

/* No thread waits from now on. */
void post_break(post *p);

#endif
