#include "config.h"

#include "runtime/comm/progress.h"

void progress_init(progress *p)
{
	atomic_init(&p->at, 0);
	atomic_init(&p->nwaiting, 0);
	atomic_init(&p->broken, false);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->moved, NULL);
}

void progress_destroy(progress *p)
{
	pthread_cond_destroy(&p->moved);
	pthread_mutex_destroy(&p->lock);
}

static void wake(progress *p)
{
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

/* A thread about to sleep counts itself first and looks then: one of the two
 * sees the other. */
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

static bool is_there(progress *p, int at)
{
	return atomic_load(&p->at) >= at || atomic_load(&p->broken);
}

bool progress_wait(progress *p, int at, int spins)
{
	for (int i = 0; i < spins && !is_there(p, at); i++)
#ifdef __x86_64__
		__builtin_ia32_pause();
#else
		atomic_thread_fence(memory_order_seq_cst);
#endif
	if (!is_there(p, at)) {
		pthread_mutex_lock(&p->lock);
		atomic_fetch_add(&p->nwaiting, 1);
		while (!is_there(p, at))
			pthread_cond_wait(&p->moved, &p->lock);
		atomic_fetch_sub(&p->nwaiting, 1);
		pthread_mutex_unlock(&p->lock);
	}
	return !atomic_load(&p->broken);
}
