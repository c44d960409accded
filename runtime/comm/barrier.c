#include "config.h"

#include "runtime/comm/barrier.h"

void barrier_init(barrier *b, int n)
{
	*b = (barrier){ .n = n };
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->opened, NULL);
}

void barrier_destroy(barrier *b)
{
	pthread_cond_destroy(&b->opened);
	pthread_mutex_destroy(&b->lock);
}

/* Under the lock. */
static void arrive(barrier *b)
{
	if (++b->waiting < b->n)
		return;
	b->waiting = 0;
	b->round++;
	pthread_cond_broadcast(&b->opened);
}

bool barrier_wait(barrier *b)
{
	pthread_mutex_lock(&b->lock);
	unsigned long round = b->round;
	arrive(b);
	while (round == b->round && !b->broken)
		pthread_cond_wait(&b->opened, &b->lock);
	bool good = !b->broken;
	pthread_mutex_unlock(&b->lock);
	return good;
}

bool barrier_passed(barrier *b, barrier_visit *v)
{
	pthread_mutex_lock(&b->lock);
	if (!v->arrived) {
		*v = (barrier_visit){ true, b->round };
		arrive(b);
	}
	bool passed = v->round != b->round;
	v->arrived = !passed;
	pthread_mutex_unlock(&b->lock);
	return passed;
}

void barrier_break(barrier *b)
{
	pthread_mutex_lock(&b->lock);
	b->broken = true;
	pthread_cond_broadcast(&b->opened);
	pthread_mutex_unlock(&b->lock);
}
