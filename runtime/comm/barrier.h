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

/* A visit of somebody who does something else until the barrier opens; all zero
 * at first.  Arrives in the first call, and returns whether it has opened for
 * this visit, which ends with that. */
typedef struct barrier_visit {
	bool arrived;
	unsigned long round;
} barrier_visit;

bool barrier_passed(barrier *b, barrier_visit *v);
void barrier_break(barrier *b);

#endif
