#include "config.h"

#include "runtime/comm/progress.h"

#include <errno.h>
#include <stddef.h>

#include "base/pause.h"

void progress_init(progress *p)
{
	atomic_init(&p->at, 0);
	atomic_init(&p->nwaiting, 0);
	atomic_init(&p->broken, false);
	pthread_mutex_init(&p->lock, NULL);
	p->needs = NULL;
}

void progress_destroy(progress *p)
{
	pthread_mutex_destroy(&p->lock);
}

bool progress_is_at(progress *p, int at)
{
	return atomic_load(&p->at) >= at || atomic_load(&p->broken);
}

/* ---- those who wait ---------------------------------------------------- */

void progress_waiter_init(progress_waiter *w)
{
	atomic_init(&w->missing, 1);
	atomic_init(&w->broken, false);
	sem_init(&w->all_there, 0, 0);
}

void progress_waiter_destroy(progress_waiter *w)
{
	sem_destroy(&w->all_there);
}

static bool look(progress *p, int at, int spins)
{
	for (int i = 0; i < spins && !progress_is_at(p, at); i++)
		pause_processor();
	return progress_is_at(p, at);
}

/* Adds a need.  The asking thread first counts itself and then looks.  The
 * worker first moves on and then looks whether anybody asks.  So at least one
 * of them sees the other. */
static void enter(progress_waiter *w, progress *p, progress_need *x, int at)
{
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->nwaiting, 1);
	if (!progress_is_at(p, at) && !x->is_asked) {
		atomic_fetch_add(&w->missing, 1);
		*x = (progress_need){ w, at, true, p->needs };
		p->needs = x;
	} else {
		if (!progress_is_at(p, at) && at > x->at)
			x->at = at;
		atomic_fetch_sub(&p->nwaiting, 1);
	}
	pthread_mutex_unlock(&p->lock);
}

void progress_ask(progress_waiter *w, progress *p, progress_need *x, int at,
		  int spins)
{
	if (!look(p, at, spins))
		enter(w, p, x, at);
	if (atomic_load(&p->broken))
		atomic_store(&w->broken, true);
}

bool progress_await(progress_waiter *w)
{
	if (atomic_fetch_sub(&w->missing, 1) != 1)
		while (sem_wait(&w->all_there) && errno == EINTR)
			continue;
	atomic_store(&w->missing, 1);
	return !atomic_load(&w->broken);
}

/* Removes the needs that are met.  Returns the last one of each thread to which
 * nothing else is missing: such threads sleep, so they ask for nothing.  A
 * need of another may be asked for again as soon as the lock is open. */
static progress_need *take_met(progress *p)
{
	progress_need *last = NULL, **link = &p->needs;
	pthread_mutex_lock(&p->lock);
	while (*link) {
		progress_need *x = *link;
		if (!progress_is_at(p, x->at)) {
			link = &x->next;
			continue;
		}
		*link = x->next;
		x->is_asked = false;
		atomic_fetch_sub(&p->nwaiting, 1);
		if (atomic_load(&p->broken))
			atomic_store(&x->of->broken, true);
		if (atomic_fetch_sub(&x->of->missing, 1) == 1) {
			x->next = last;
			last = x;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return last;
}

static void wake(progress *p)
{
	for (progress_need *x = take_met(p), *next; x; x = next) {
		next = x->next;
		sem_post(&x->of->all_there);
	}
}

/* ---- the worker -------------------------------------------------------- */

void progress_set(progress *p, int at)
{
	atomic_store(&p->at, at);
	if (atomic_load(&p->nwaiting) > 0)
		wake(p);
}

void progress_break(progress *p)
{
	atomic_store(&p->broken, true);
	wake(p);
}
