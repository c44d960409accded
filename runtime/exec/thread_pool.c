#include "config.h"

#include "runtime/exec/thread_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct member {
	thread_pool *thread_pool;
	int number;
	pthread_t thread;
} member;

struct thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t begun, ended;
	int size;
	member *members; /* but the first, who is the caller */
	unsigned long round;
	int parts, busy;
	void (*part)(void *arg, int i);
	void *arg;
	bool over;
	memory *memory; /* of the call that runs the parts; NULL */
	memory_end end; /* why one of them ended early */
};

typedef struct part_run {
	thread_pool *of;
	int i;
} part_run;

static void run_body(void *arg)
{
	part_run *r = arg;
	r->of->part(r->of->arg, r->i);
}

/* Runs a part as a call of its own: one that fails must not end the caller
 * while the others run. */
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

static void *serve(void *arg)
{
	member *m = arg;
	thread_pool *t = m->thread_pool;
	unsigned long done = 0;
	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (t->round == done && !t->over)
			pthread_cond_wait(&t->begun, &t->lock);
		if (t->over)
			break;
		done = t->round;
		if (m->number >= t->parts)
			continue;
		pthread_mutex_unlock(&t->lock);
		run_part(t, m->number);
		pthread_mutex_lock(&t->lock);
		if (--t->busy == 0)
			pthread_cond_signal(&t->ended);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

thread_pool *thread_pool_open(int n)
{
	thread_pool *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->begun, NULL);
	pthread_cond_init(&t->ended, NULL);
	t->size = 1;
	t->members = n > 1 ? calloc((size_t)n, sizeof(*t->members)) : NULL;
	while (t->members && t->size < n) {
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
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_cond_broadcast(&t->begun);
	pthread_mutex_unlock(&t->lock);
	for (int i = 1; i < t->size; i++)
		pthread_join(t->members[i].thread, NULL);
	pthread_cond_destroy(&t->begun);
	pthread_cond_destroy(&t->ended);
	pthread_mutex_destroy(&t->lock);
	free(t->members);
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
	pthread_mutex_lock(&t->lock);
	t->part = part;
	t->arg = arg;
	t->memory = memory_current();
	t->end = MEMORY_DONE;
	t->parts = n;
	t->busy = n - 1;
	t->round++;
	pthread_cond_broadcast(&t->begun);
	pthread_mutex_unlock(&t->lock);
	run_part(t, 0);
	pthread_mutex_lock(&t->lock);
	while (t->busy)
		pthread_cond_wait(&t->ended, &t->lock);
	pthread_mutex_unlock(&t->lock);
	if (t->end != MEMORY_DONE)
		memory_fail(t->end);
}
