/* A barrier for threads that can be broken: after barrier_break() no thread
 * waits at it. */
#ifndef TDL_RUNTIME_COMM_BARRIER_H
#define TDL_RUNTIME_COMM_BARRIER_H

#include <pthread.h>
#include <stdbool.h>

typedef struct barrier {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	int n, waiting;
	unsigned long round;
	bool broken;
} barrier;

void barrier_init(barrier *b, int n);
void barrier_destroy(barrier *b);

/* Waits until n threads have arrived.  Returns false if the barrier is
 * broken. */
bool barrier_wait(barrier *b);
void barrier_break(barrier *b);

#endif
