/* The position of a worker in the program, for others that have to wait until
 * it is far enough. */
#ifndef TDL_RUNTIME_COMM_PROGRESS_H
#define TDL_RUNTIME_COMM_PROGRESS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A worker for whom others wait. */
typedef struct progress {
	_Alignas(64) atomic_int at;
	atomic_int nwaiting;
	atomic_bool broken;
	pthread_mutex_t lock;
	struct progress_need *needs; /* of those that wait */
} progress;

void progress_init(progress *p);
void progress_destroy(progress *p);

/* Whether it is at `at' or further on, or nobody waits for it any more. */
bool progress_is_at(progress *p, int at);

/* Moves on, or back; the latter only while no thread waits. */
void progress_set(progress *p, int at);

/* No thread waits from now on. */
void progress_break(progress *p);

/* A thread that waits for several workers at a time: it sleeps once, until the
 * last of them is where it is needed, however many they are. */
typedef struct progress_waiter {
	_Alignas(64) atomic_int missing; /* needs, and 1 until it sleeps */
	atomic_bool broken;
	sem_t all_there;
} progress_waiter;

/* Its need of one worker; all zero where nothing has been asked for. */
typedef struct progress_need {
	progress_waiter *of;
	int at;
	bool is_asked;
	struct progress_need *next;
} progress_need;

void progress_waiter_init(progress_waiter *w);
void progress_waiter_destroy(progress_waiter *w);

/* Asks that a worker be at `at', or further on if x has been asked for that
 * already, after looking so many times whether it is; then waits for all that
 * has been asked for.  False if one of them is broken. */
void progress_ask(progress_waiter *w, progress *p, progress_need *x, int at,
		  int spins);
bool progress_await(progress_waiter *w);

#endif
