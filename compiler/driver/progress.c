#include "config.h"

#include "compiler/driver/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct page_progress {
	bool terminal;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the fields below */
	pthread_cond_t changed; /* `over' */
	struct timespec begin;
	char step[160]; /* current step; "": none yet */
	char shown[160]; /* last one that was printed */
	bool over;
};

static int seconds_since(const struct timespec *begin)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int)(now.tv_sec - begin->tv_sec -
		     (now.tv_nsec < begin->tv_nsec));
}

/* ---- what is done -------------------------------------------------------- */

static void describe(char *to, size_t size, const char *phase,
		     const char *algorithm, int done, int all)
{
	char plans[40] = "";
	if (done > 0)
		snprintf(plans, sizeof(plans), "; %d plan%s so far", done,
			 done == 1 ? "" : "s");
	if (!strcmp(phase, "search"))
		snprintf(to, size, "searching with '%.60s'%s", algorithm,
			 plans);
	else if (!strcmp(phase, "compare"))
		snprintf(to, size, "comparing plan %d of %d, found by '%.60s'",
			 done + 1, all, algorithm);
	else if (!strcmp(phase, "measure"))
		snprintf(to, size, "measuring part %d of %d, from '%.60s' on",
			 done + 1, all, algorithm);
	else
		snprintf(to, size, "searching all plans of this small graph");
}

static void note(void *user, const char *phase, const char *algorithm,
		 int done, int all)
{
	struct page_progress *x = user;
	pthread_mutex_lock(&x->lock);
	describe(x->step, sizeof(x->step), phase, algorithm, done, all);
	pthread_mutex_unlock(&x->lock);
}

/* ---- what is shown ------------------------------------------------------- */

static void erase(void)
{
	fputs("\r\033[K", stderr);
}

/* Shows the step.  On a terminal its line also shows the elapsed time;
 * elsewhere each step is printed once. */
static void show(struct page_progress *x)
{
	bool again = !strcmp(x->shown, x->step);
	if (!*x->step || (again && !x->terminal))
		return;
	if (x->terminal)
		erase();
	fprintf(stderr, "%s (%d s)%s", x->step, seconds_since(&x->begin),
		x->terminal ? "" : "\n");
	memcpy(x->shown, x->step, sizeof(x->shown));
	fflush(stderr);
}

/* Shows the step once a second. */
static void *watch(void *arg)
{
	struct page_progress *x = arg;
	struct timespec at = x->begin;
	pthread_mutex_lock(&x->lock);
	while (!x->over) {
		at.tv_sec++;
		while (!x->over && !pthread_cond_timedwait(&x->changed,
							   &x->lock, &at))
			;
		if (!x->over)
			show(x);
	}
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* ---- the frame ----------------------------------------------------------- */

/* Timeouts use the monotonic clock, which nobody can set. */
static bool start(struct page_progress *x)
{
	pthread_condattr_t own;
	clock_gettime(CLOCK_MONOTONIC, &x->begin);
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&own);
	pthread_condattr_setclock(&own, CLOCK_MONOTONIC);
	pthread_cond_init(&x->changed, &own);
	pthread_condattr_destroy(&own);
	return pthread_create(&x->thread, NULL, watch, x) == 0;
}

void progress_begin(page *p)
{
	struct page_progress *x = ARENA_NEW(p->arena, struct page_progress);
	x->terminal = cli_terminal();
	if ((!x->terminal && !p->progress) || !start(x))
		return;
	p->progressing = x;
	tdl_context_set_progress(p->context, note, x);
}

void progress_end(page *p)
{
	struct page_progress *x = p->progressing;
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->over = true;
	pthread_cond_signal(&x->changed);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	if (x->terminal && *x->shown)
		erase();
	tdl_context_set_progress(p->context, NULL, NULL);
	p->progressing = NULL;
}
