/* Tests: runtime/comm */
/* Workers that wait until others are far enough. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>

#include "runtime/comm/barrier.h"
#include "runtime/comm/progress.h"
#include "runtime/comm/scheduler.h"
#include "runtime/exec/thread_pool.h"
#include "tests/unit/suite.h"

/* Workers that need all others to come to where they are. */
enum { CROWD = 4, MEETINGS = 300, DROPOUT = 200 };

typedef struct crowd {
	progress posts[CROWD];
	progress_waiter waiters[CROWD];
	progress_need needs[CROWD][CROWD];
	int sum[CROWD], seen[CROWD];
	bool one_leaves;
} crowd;

static bool meet_all(crowd *c, int i, int at)
{
	progress_set(&c->posts[i], at);
	for (int w = 0; w < CROWD; w++)
		for (int asked = at - 1; asked <= at; asked++)
			progress_ask(&c->waiters[i], &c->posts[w],
				     &c->needs[i][w], asked, at % 3);
	return progress_await(&c->waiters[i]);
}

static void come_and_look(void *arg, int i)
{
	crowd *c = arg;
	for (int at = 1; at <= MEETINGS; at++) {
		if (c->one_leaves && i == 1 && at == DROPOUT)
			for (int w = 0; w < CROWD; w++)
				progress_break(&c->posts[w]);
		c->sum[i] += at;
		if (!meet_all(c, i, 2 * at))
			return;
		for (int w = 0; w < CROWD; w++)
			c->seen[i] += c->sum[w] == c->sum[i];
		if (!meet_all(c, i, 2 * at + 1))
			return;
	}
}

START_TEST(workers_wait_for_all_others)
{
	crowd c = { .one_leaves = _i };
	thread_pool *t = thread_pool_open(CROWD, false);
	ck_assert_int_eq(thread_pool_size(t), CROWD);
	for (int i = 0; i < CROWD; i++) {
		progress_init(&c.posts[i]);
		progress_waiter_init(&c.waiters[i]);
	}
	thread_pool_run(t, CROWD, come_and_look, &c);
	thread_pool_close(t);
	for (int i = 0; i < CROWD; i++) {
		if (!_i)
			ck_assert_int_eq(c.seen[i], CROWD * MEETINGS);
		progress_destroy(&c.posts[i]);
		progress_waiter_destroy(&c.waiters[i]);
	}
}
END_TEST

/* ---- a thread that asks again while others are woken -------------------- */

/* One of three that need the same worker. */
typedef struct asker {
	progress_waiter waiter;
	progress_need need;
} asker;

typedef struct race {
	progress post;
	asker sleeper, hasty, far;
} race;

/* Whose hasty thread asks again when the next one is woken; NULL: none. */
static _Thread_local race *asks_again;

static void ask(race *r, asker *x, int at)
{
	progress_ask(&x->waiter, &r->post, &x->need, at, 0);
}

/* In place of the C library's, which it calls. */
int sem_post(sem_t *s)
{
	int (*post)(sem_t *);
	*(void **)&post = dlsym(RTLD_NEXT, "sem_post");
	race *r = asks_again;
	asks_again = NULL;
	if (r)
		ask(r, &r->hasty, 2);
	return post(s);
}

/* All that progress_await() does before it waits. */
static void fall_asleep(asker *x)
{
	atomic_fetch_sub(&x->waiter.missing, 1);
}

static bool is_woken(asker *x)
{
	return sem_trywait(&x->waiter.all_there) == 0;
}

START_TEST(a_need_that_is_met_may_be_asked_for_again)
{
	race r = { 0 };
	asker *const all[3] = { &r.sleeper, &r.hasty, &r.far };
	progress_init(&r.post);
	for (int i = 0; i < 3; i++) {
		progress_waiter_init(&all[i]->waiter);
		ask(&r, all[i], i < 2 ? 1 : 3);
	}
	fall_asleep(&r.sleeper);
	fall_asleep(&r.far);
	asks_again = &r;
	progress_set(&r.post, 1);
	ck_assert(is_woken(&r.sleeper) && !is_woken(&r.far));
	ck_assert(!is_woken(&r.hasty) && r.hasty.need.is_asked);
	fall_asleep(&r.hasty);
	progress_set(&r.post, 2);
	ck_assert(is_woken(&r.hasty) && !is_woken(&r.far));
	progress_set(&r.post, 3);
	ck_assert(is_woken(&r.far));
	ck_assert_int_eq(atomic_load(&r.post.nwaiting), 0);
	for (int i = 0; i < 3; i++)
		progress_waiter_destroy(&all[i]->waiter);
	progress_destroy(&r.post);
}
END_TEST

/* ---- workers that share threads ----------------------------------------- */

/* A ring of workers in which each needs its neighbour's last round, and all
 * meet every third round. */
enum { RING = 7, ROUNDS = 200 };

/* No thread can be started whose stack is larger than the address space. */
static void limit_stacks(size_t nbytes)
{
	pthread_attr_t a;
	pthread_attr_init(&a);
	ck_assert_int_eq(pthread_attr_setstacksize(&a, nbytes), 0);
	ck_assert_int_eq(pthread_setattr_default_np(&a), 0);
	pthread_attr_destroy(&a);
}

typedef struct ring {
	scheduler *s;
	barrier barrier;
	struct {
		progress post;
		barrier_visit visit;
		int round;
		atomic_int inside; /* threads that run it */
	} at[RING];
	int dropout; /* the worker that ends all; -1 */
} ring;

static bool play_round(ring *r, int worker)
{
	const int round = r->at[worker].round;
	progress *before = &r->at[(worker + 1) % RING].post;
	if (worker == r->dropout && round == DROPOUT / 2)
		scheduler_break(r->s);
	if (!progress_is_at(before, round - 1) ||
	    (round % 3 == 0 &&
	     !barrier_passed(&r->barrier, &r->at[worker].visit)))
		return false;
	progress_set(&r->at[worker].post, round);
	r->at[worker].round++;
	scheduler_moved(r->s);
	return true;
}

static bool play(void *arg, int worker)
{
	ring *r = arg;
	ck_assert_int_eq(atomic_fetch_add(&r->at[worker].inside, 1), 0);
	while (r->at[worker].round <= ROUNDS && play_round(r, worker))
		continue;
	bool ended = r->at[worker].round > ROUNDS;
	atomic_fetch_sub(&r->at[worker].inside, 1);
	return ended;
}

/* On one to three threads; in the last third none can be started, and that of
 * the caller does all.  In the second third a worker ends all. */
START_TEST(workers_share_threads)
{
	const int nthreads = 1 + _i % 3;
	ring r = { .dropout = _i / 3 == 1 ? 2 : -1 };
	limit_stacks((size_t)1 << (_i / 3 == 2 ? 56 : 21));
	r.s = scheduler_open(RING, nthreads);
	ck_assert_ptr_nonnull(r.s);
	barrier_init(&r.barrier, RING);
	for (int w = 0; w < RING; w++)
		progress_init(&r.at[w].post);
	scheduler_run(r.s, play, &r);
	for (int w = 0; w < RING; w++) {
		int rounds = r.at[w].round;
		ck_assert(r.dropout < 0 ? rounds == ROUNDS + 1
					: rounds <= DROPOUT / 2 + RING);
		progress_destroy(&r.at[w].post);
	}
	barrier_destroy(&r.barrier);
	scheduler_close(r.s);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("progress");
	TCase *c = tcase_create("progress");
	tcase_add_loop_test(c, workers_wait_for_all_others, 0, 2);
	tcase_add_test(c, a_need_that_is_met_may_be_asked_for_again);
	tcase_add_loop_test(c, workers_share_threads, 0, 9);
	suite_add_tcase(s, c);
	return s;
}
