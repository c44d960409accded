#include "config.h"

#include "runtime/exec/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pause.h"

/* Seconds that a waiting thread polls before it sleeps.  Kernels follow each
 * other within microseconds, which is less than waking a sleeping thread takes.
 * Chosen by hand, not measured. */
#define SPIN 200e-6

/* A call is its number and, in the low bits, how many parts it has. */
enum { PART_BITS = 16 };

typedef struct member {
	thread_pool *thread_pool;
	int number;
	pthread_t thread;
} member;

struct thread_pool {
	int size;
	bool spins;
	member *members; /* without the first, which is the caller */
	/* The last call.  Its data are read by threads that run a part of it;
	 * the caller waits for these. */
	_Atomic uint64_t call;
	void (*part)(void *arg, int i);
	void *arg;
	memory *memory; /* of the call that runs the parts; NULL */
	atomic_int busy; /* parts that have not ended */
	/* By part: the last call for which a thread has taken it. */
	_Atomic uint64_t *taken;
	/* Sleeping threads.  Their number is raised before a last look at what
	 * they wait for; wakers read it after changing that. */
	pthread_mutex_t lock;
	pthread_cond_t begun, ended;
	atomic_int asleep;
	atomic_bool caller_sleeps, over;
	memory_end end; /* why a part ended early; guarded by lock */
};

/* ---- waiting ----------------------------------------------------------- */

static bool has_begun(thread_pool *t, uint64_t done)
{
	return atomic_load(&t->call) != done || atomic_load(&t->over);
}

static bool has_ended(thread_pool *t, uint64_t unused)
{
	(void)unused;
	return atomic_load(&t->busy) == 0;
}

/* Whether a condition becomes true within a moment.  If threads do not spin,
 * whether it is true now. */
static bool spin(thread_pool *t, bool (*is_so)(thread_pool *, uint64_t),
		 uint64_t x)
{
	double end = 0;
	for (int i = 0; !is_so(t, x); i++) {
		if (!t->spins)
			return false;
		pause_processor();
		if (i % 64 != 63)
			continue;
		double now = clock_seconds();
		if (end == 0)
			end = now + SPIN;
		else if (now > end)
			return false;
	}
	return true;
}

static void await_call(thread_pool *t, uint64_t done)
{
	if (spin(t, has_begun, done))
		return;
	pthread_mutex_lock(&t->lock);
	atomic_fetch_add(&t->asleep, 1);
	while (!has_begun(t, done))
		pthread_cond_wait(&t->begun, &t->lock);
	atomic_fetch_sub(&t->asleep, 1);
	pthread_mutex_unlock(&t->lock);
}

static void await_members(thread_pool *t)
{
	if (spin(t, has_ended, 0))
		return;
	pthread_mutex_lock(&t->lock);
	atomic_store(&t->caller_sleeps, true);
	while (!has_ended(t, 0))
		pthread_cond_wait(&t->ended, &t->lock);
	atomic_store(&t->caller_sleeps, false);
	pthread_mutex_unlock(&t->lock);
}

/* Keeps members that sleep off the caller's processor.  Woken there, a member
 * would wait until the caller, who does not sleep, is preempted. */
static void move_members(thread_pool *t)
{
	cpu_set_t others;
	int own = sched_getcpu();
	if (own < 0 || own >= CPU_SETSIZE ||
	    pthread_getaffinity_np(pthread_self(), sizeof(others), &others))
		return;
	CPU_CLR(own, &others);
	for (int i = 1; i < t->size && CPU_COUNT(&others) > 0; i++)
		pthread_setaffinity_np(t->members[i].thread, sizeof(others),
				       &others);
}

static void wake(thread_pool *t, bool sleeps, pthread_cond_t *from)
{
	if (!sleeps)
		return;
	pthread_mutex_lock(&t->lock);
	pthread_cond_broadcast(from);
	pthread_mutex_unlock(&t->lock);
}

/* ---- parts ------------------------------------------------------------- */

typedef struct part_run {
	thread_pool *of;
	int i;
} part_run;

static void run_body(void *arg)
{
	part_run *r = arg;
	r->of->part(r->of->arg, r->i);
}

/* Runs a part in a memory_call() of its own: a failure must not end the caller
 * while other parts run. */
static void run_part(thread_pool *t, int i)
{
	part_run r = { t, i };
	memory own;
	if (!t->memory) {
		t->part(t->arg, i);
		return;
	}
	memory_thread(&own, t->memory);
	memory_end end = memory_call(&own, run_body, &r);
	pthread_mutex_lock(&t->lock);
	memory_thread_end(&own);
	if (end != MEMORY_DONE)
		t->end = end;
	pthread_mutex_unlock(&t->lock);
}

/* Takes a part of a call unless another thread has.  All parts of a finished
 * call are taken. */
static bool take(thread_pool *t, uint64_t call, int i)
{
	uint64_t before = atomic_load(&t->taken[i]);
	return before < call &&
	       atomic_compare_exchange_strong(&t->taken[i], &before, call);
}

/* Runs the remaining parts of a call, the thread's own first.  So nobody waits
 * for a thread that is not running or has not woken up. */
static void run_parts(thread_pool *t, uint64_t call, int own)
{
	const int n = (int)(call % (1 << PART_BITS));
	for (int k = 0; k < n; k++) {
		const int i = (own + k) % n;
		if (!take(t, call, i))
			continue;
		run_part(t, i);
		if (atomic_fetch_sub(&t->busy, 1) == 1)
			wake(t, atomic_load(&t->caller_sleeps), &t->ended);
	}
}

static void *serve(void *arg)
{
	member *m = arg;
	thread_pool *t = m->thread_pool;
	uint64_t call = 0;
	for (;;) {
		await_call(t, call);
		if (atomic_load(&t->over))
			return NULL;
		call = atomic_load(&t->call);
		run_parts(t, call, m->number);
	}
}

/* ---- the pool ---------------------------------------------------------- */

thread_pool *thread_pool_open(int n, bool spins)
{
	thread_pool *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->begun, NULL);
	pthread_cond_init(&t->ended, NULL);
	t->size = 1;
	t->spins = spins;
	n = n < 1 << PART_BITS ? n : (1 << PART_BITS) - 1;
	t->members = n > 1 ? calloc((size_t)n, sizeof(*t->members)) : NULL;
	t->taken = n > 1 ? calloc((size_t)n, sizeof(*t->taken)) : NULL;
	while (t->members && t->taken && t->size < n) {
		member *m = &t->members[t->size];
		*m = (member){ .thread_pool = t, .number = t->size };
		if (pthread_create(&m->thread, NULL, serve, m))
			break;
		t->size++;
	}
	return t;
}

void thread_pool_close(thread_pool *t)
{
	if (!t)
		return;
	atomic_store(&t->over, true);
	wake(t, true, &t->begun);
	for (int i = 1; i < t->size; i++)
		pthread_join(t->members[i].thread, NULL);
	pthread_cond_destroy(&t->begun);
	pthread_cond_destroy(&t->ended);
	pthread_mutex_destroy(&t->lock);
	free(t->members);
	free(t->taken);
	free(t);
}

int thread_pool_size(const thread_pool *t)
{
	return t->size;
}

void thread_pool_run(thread_pool *t, int n, void (*part)(void *arg, int i),
		     void *arg)
{
	if (n <= 1) {
		part(arg, 0);
		return;
	}
	t->part = part;
	t->arg = arg;
	t->memory = memory_current();
	t->end = MEMORY_DONE;
	atomic_store(&t->busy, n);
	uint64_t number = atomic_load(&t->call) >> PART_BITS;
	uint64_t call = (number + 1) << PART_BITS | (uint64_t)n;
	atomic_store(&t->call, call);
	const bool asleep = atomic_load(&t->asleep) > 0;
	if (asleep && t->spins)
		move_members(t);
	wake(t, asleep, &t->begun);
	run_parts(t, call, 0);
	await_members(t);
	if (t->end != MEMORY_DONE)
		memory_fail(t->end);
}
