#include "config.h"

#include "runtime/exec/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

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
};

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
		t->part(t->arg, m->number);
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
	if (n > 1) {
		pthread_mutex_lock(&t->lock);
		t->part = part;
		t->arg = arg;
		t->parts = n;
		t->busy = n - 1;
		t->round++;
		pthread_cond_broadcast(&t->begun);
		pthread_mutex_unlock(&t->lock);
	}
	part(arg, 0);
	if (n > 1) {
		pthread_mutex_lock(&t->lock);
		while (t->busy)
			pthread_cond_wait(&t->ended, &t->lock);
		pthread_mutex_unlock(&t->lock);
	}
}

int processors(int *all)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	int n = online > 0 ? (int)online : 1;
	cpu_set_t own;
	if (all)
		*all = n;
	if (sched_getaffinity(0, sizeof(own), &own) == 0 &&
	    CPU_COUNT(&own) > 0)
		return CPU_COUNT(&own);
	return n;
}
