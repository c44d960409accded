#include "config.h"

#include "runtime/comm/scheduler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pause.h"
#include "runtime/exec/thread_pool.h"

/* Looks for a worker that can go on before a thread sleeps: about as long as it
 * takes to fall asleep and wake up.  Each thread has its own processor. */
enum { SPINS = 2000 };

enum { IS_FREE, IS_TAKEN, HAS_ENDED };

typedef struct seat {
	_Alignas(64) atomic_int state; /* of a worker */
} seat;

struct scheduler {
	int nworkers, nthreads;
	seat *seats;
	thread_pool *threads;
	bool (*turn)(void *arg, int worker);
	void *arg;
	_Alignas(64) atomic_int left; /* workers that have not ended */
	/* Counts what is done.  A thread that finds nobody who can go on sleeps
	 * until this changes from what it was before it looked. */
	_Alignas(64) atomic_ulong moves;
	atomic_int asleep;
	pthread_mutex_t lock;
	pthread_cond_t moved;
};

scheduler *scheduler_open(int nworkers, int nthreads)
{
	scheduler *t = aligned_alloc(64, sizeof(*t));
	if (!t)
		return NULL;
	*t = (scheduler){ .nworkers = nworkers };
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->moved, NULL);
	t->seats = aligned_alloc(64, (size_t)nworkers * sizeof(*t->seats));
	t->threads = thread_pool_open(nthreads, false);
	if (!t->seats || !t->threads) {
		scheduler_close(t);
		return NULL;
	}
	t->nthreads = thread_pool_size(t->threads);
	return t;
}

void scheduler_close(scheduler *t)
{
	if (!t)
		return;
	thread_pool_close(t->threads);
	pthread_cond_destroy(&t->moved);
	pthread_mutex_destroy(&t->lock);
	free(t->seats);
	free(t);
}

void scheduler_moved(scheduler *t)
{
	atomic_fetch_add(&t->moves, 1);
	if (atomic_load(&t->asleep) == 0)
		return;
	pthread_mutex_lock(&t->lock);
	pthread_cond_broadcast(&t->moved);
	pthread_mutex_unlock(&t->lock);
}

void scheduler_break(scheduler *t)
{
	atomic_store(&t->left, 0);
	scheduler_moved(t);
}

static void await_move(scheduler *t, unsigned long seen)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load(&t->moves) != seen)
			return;
		pause_processor();
	}
	pthread_mutex_lock(&t->lock);
	atomic_fetch_add(&t->asleep, 1);
	while (atomic_load(&t->moves) == seen)
		pthread_cond_wait(&t->moved, &t->lock);
	atomic_fetch_sub(&t->asleep, 1);
	pthread_mutex_unlock(&t->lock);
}

static bool take(seat *s)
{
	int is_free = IS_FREE;
	return atomic_load(&s->state) == IS_FREE &&
	       atomic_compare_exchange_strong(&s->state, &is_free, IS_TAKEN);
}

/* Gives a worker its turn unless it has ended or another thread runs it. */
static void run_one(scheduler *t, int worker)
{
	seat *s = &t->seats[worker];
	if (!take(s))
		return;
	if (!t->turn(t->arg, worker)) {
		atomic_store(&s->state, IS_FREE);
		return;
	}
	atomic_store(&s->state, HAS_ENDED);
	atomic_fetch_sub(&t->left, 1);
	scheduler_moved(t);
}

/* A thread begins with workers of its own, which stay with it as long as nobody
 * has to help.  If another thread releases a worker that this one has skipped,
 * and the worker can go on, then because of a move that the other one has yet
 * to look at. */
static void serve_workers(void *arg, int thread)
{
	scheduler *t = arg;
	const int own = thread * t->nworkers / t->nthreads;
	while (atomic_load(&t->left) > 0) {
		unsigned long seen = atomic_load(&t->moves);
		for (int i = 0; i < t->nworkers; i++)
			run_one(t, (own + i) % t->nworkers);
		if (atomic_load(&t->left) > 0)
			await_move(t, seen);
	}
}

void scheduler_run(scheduler *t, bool (*turn)(void *arg, int worker),
		   void *arg)
{
	t->turn = turn;
	t->arg = arg;
	atomic_store(&t->left, t->nworkers);
	for (int w = 0; w < t->nworkers; w++)
		atomic_store(&t->seats[w].state, IS_FREE);
	thread_pool_run(t->threads, t->nthreads, serve_workers, t);
}
