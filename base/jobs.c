#include "config.h"

#include "base/jobs.h"

#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory.h"

/* The bytes of a thread's stack, as for the first thread of a program. */
enum { STACK = 8 << 20 };

/* A part of the work, and the memory that it uses. */
typedef struct part {
	const job_set *of;
	int i;
	memory own;
} part;

/* The threads that work for a call.  They take the parts one by one; the caller
 * reports on them. */
typedef struct crew {
	const job_set *jobs;
	part *parts;
	memory *memory; /* memory of the call; NULL: there is no call */
	locale_t locale;
	pthread_mutex_t lock;
	/* signalled when a part begins or a thread ends */
	pthread_cond_t moved;
	int begun, told, busy; /* parts, parts, threads */
	memory_end end; /* reason why no more parts begin */
} crew;

static void run_body(void *arg)
{
	const part *p = arg;
	p->of->run(p->of->arg, p->i);
}

static void tell_body(void *arg)
{
	const part *p = arg;
	p->of->begun(p->of->arg, p->i);
}

/* The next part to begin; NULL after the last. */
static part *take(crew *c)
{
	part *p = NULL;
	pthread_mutex_lock(&c->lock);
	if (c->begun < c->jobs->n && c->end == MEMORY_DONE)
		p = &c->parts[c->begun++];
	pthread_cond_signal(&c->moved);
	pthread_mutex_unlock(&c->lock);
	return p;
}

static void end_with(crew *c, memory_end end)
{
	pthread_mutex_lock(&c->lock);
	if (c->end == MEMORY_DONE)
		c->end = end;
	pthread_mutex_unlock(&c->lock);
}

static void *serve(void *arg)
{
	crew *c = arg;
	uselocale(c->locale);
	for (part *p; (p = take(c));) {
		if (!c->memory) {
			run_body(p);
			continue;
		}
		memory_thread(&p->own, c->memory);
		end_with(c, memory_call(&p->own, run_body, p));
	}
	pthread_mutex_lock(&c->lock);
	c->busy--;
	pthread_cond_signal(&c->moved);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Reports on a part in a memory_call() of its own: if that ends early, it must
 * not end the caller while threads work for it. */
static void tell(crew *c, part *p)
{
	if (!c->jobs->begun)
		return;
	if (c->memory)
		end_with(c, memory_call(c->memory, tell_body, p));
	else
		tell_body(p);
}

/* Starts threads.  Returns how many were started. */
static int start(crew *c, pthread_t *threads, int n)
{
	pthread_attr_t a;
	int started = 0;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK);
	c->busy = n;
	while (started < n && !pthread_create(&threads[started], &a, serve, c))
		started++;
	pthread_attr_destroy(&a);
	pthread_mutex_lock(&c->lock);
	c->busy -= n - started;
	pthread_mutex_unlock(&c->lock);
	return started;
}

/* Waits for the next part to report on; NULL if no thread is left.  Once
 * something has ended early, there is nothing to report. */
static part *await(crew *c)
{
	part *p = NULL;
	pthread_mutex_lock(&c->lock);
	for (;;) {
		if (c->end == MEMORY_DONE && c->told < c->begun) {
			p = &c->parts[c->told++];
			break;
		}
		if (c->busy == 0)
			break;
		pthread_cond_wait(&c->moved, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return p;
}

/* Moves what the parts have left to the call's memory. */
static void gather(crew *c)
{
	for (int i = 0; i < c->begun && c->memory; i++)
		memory_thread_end(&c->parts[i].own);
}

/* Runs the parts one after the other, from number `first' on. */
static void run_here(const job_set *j, int first)
{
	for (int i = first; i < j->n; i++) {
		if (j->begun)
			j->begun(j->arg, i);
		j->run(j->arg, i);
	}
}

void jobs_run(const job_set *j, int nthreads)
{
	if (nthreads < 2 || j->n < 2) {
		run_here(j, 0);
		return;
	}
	arena *tmp = arena_new();
	int n = nthreads < j->n ? nthreads : j->n;
	crew c = { .jobs = j, .parts = ARENA_ARRAY(tmp, part, j->n),
		   .memory = memory_current(), .locale = uselocale(NULL) };
	pthread_t *threads = ARENA_ARRAY(tmp, pthread_t, n);
	for (int i = 0; i < j->n; i++)
		c.parts[i] = (part){ .of = j, .i = i };
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.moved, NULL);
	int started = start(&c, threads, n);
	for (part *p; (p = await(&c));)
		tell(&c, p);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&c.moved);
	pthread_mutex_destroy(&c.lock);
	gather(&c);
	int begun = c.begun;
	memory_end end = c.end;
	arena_free(tmp);
	if (end != MEMORY_DONE)
		memory_fail(end);
	run_here(j, begun);
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
