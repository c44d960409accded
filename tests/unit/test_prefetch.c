/* Tests: runtime/comm plan */
/* When transfers begin and end: on random plans nothing is read before it is
 * there, nor written while somebody else needs what was there. */
#include "config.h"

#include <check.h>

#include "plan/streams.h"
#include "runtime/comm/prefetch.h"
#include "tests/unit/random_pipeline.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

static arena *mem;

static void setup(void)
{
	mem = arena_new();
}

static void teardown(void)
{
	arena_free(mem);
}

/* When an instruction reads what it reads, for the last time, and when it
 * writes: other than a transfer in the schedule, at its turn; all of a bucket
 * that are of one kind when the first of them does. */
typedef struct times {
	int *first_read, *last_read, *write;
	int now;
} times;

static times replay(const plan *p, const prefetch *s, const int64_t *nbytes)
{
	times t = { ARENA_ARRAY(mem, int, p->ninstrs),
		    ARENA_ARRAY(mem, int, p->ninstrs),
		    ARENA_ARRAY(mem, int, p->ninstrs), 0 };
	for (int i = 0; i <= p->ninstrs; i++) {
		for (int k = s->first[i]; k < s->first[i + 1]; k++) {
			const prefetch_event *e = &s->events[k];
			ck_assert_int_ge(nbytes[e->instr], 0);
			int *when = e->begins ? &t.first_read[e->instr]
					      : &t.last_read[e->instr];
			ck_assert_int_eq(*when, 0);
			*when = t.write[e->instr] = ++t.now;
		}
		if (i < p->ninstrs && nbytes[i] < 0)
			t.first_read[i] = t.last_read[i] = t.write[i] =
				++t.now;
	}
	for (int i = 0, end; i < p->ninstrs; i = end) {
		end = plan_phase_end(p, i);
		for (int j = i + 1; j < end; j++) {
			t.first_read[j] = t.first_read[i];
			t.last_read[j] = t.last_read[i];
			t.write[j] = t.write[i];
		}
	}
	for (int i = 0; i < p->ninstrs; i++)
		ck_assert(t.first_read[i] > 0 &&
			  t.first_read[i] <= t.last_read[i]);
	return t;
}

static bool overlap(const plan *p, int x, int y)
{
	const plan_buffer *a = &p->buffers[x], *b = &p->buffers[y];
	return a->offset < b->offset + b->nbytes &&
	       b->offset < a->offset + a->nbytes;
}

static bool reads(const plan *p, int i, int buffer)
{
	const plan_instr *in = &p->program[i];
	int n = 0;
	if (in->op == PLAN_RUN)
		n = p->kernels[p->nodes[in->node].kernel].kernel->ninputs;
	else if (in->op != PLAN_RECEIVE && in->op != PLAN_FEED &&
		 overlap(p, in->from, buffer))
		return true;
	for (int k = 0; k < n; k++)
		if (overlap(p, in->inputs[k], buffer))
			return true;
	return false;
}

/* Of every two that share a place the second comes after the first. */
static void expect_order(const plan *p, const times *t, uint64_t seed)
{
	for (int i = 0; i < p->ninstrs; i++)
		for (int j = i + 1; j < p->ninstrs; j++) {
			int x = p->program[i].to, y = p->program[j].to;
			bool first = p->program[i].op != PLAN_SEND;
			bool second = p->program[j].op != PLAN_SEND;
			bool wrong =
				(first && reads(p, j, x) &&
				 t->write[i] >= t->first_read[j]) ||
				(second && reads(p, i, y) &&
				 t->last_read[i] >= t->write[j]) ||
				(first && second && overlap(p, x, y) &&
				 t->write[i] >= t->write[j]);
			ck_assert_msg(!wrong, "seed %d: %d and %d", (int)seed,
				      i, j);
		}
}

static void expect_room(const plan *p, const prefetch *s, const int64_t *nbytes,
			const times *t)
{
	for (int i = 0; i < p->ninstrs; i++) {
		if (nbytes[i] < 0)
			continue;
		ck_assert_int_ge(s->at[i], 0);
		ck_assert_int_le(s->at[i] + nbytes[i], s->nbytes);
		for (int j = 0; j < i; j++)
			if (nbytes[j] > 0 && nbytes[i] > 0 &&
			    t->first_read[i] < t->last_read[j] &&
			    t->first_read[j] < t->last_read[i])
				ck_assert(s->at[i] + nbytes[i] <= s->at[j] ||
					  s->at[j] + nbytes[j] <= s->at[i]);
	}
}

/* Some of which are all that there is room for. */
static int64_t draw_nbytes(const plan *p, int instr, uint64_t seed)
{
	uint64_t x = seed * 7919 + (uint64_t)instr * 104729;
	bool follows = instr > 0 && plan_phase_end(p, instr - 1) > instr;
	if (p->program[instr].op != PLAN_RECEIVE &&
	    (!plan_moves(&p->program[instr]) || stream_is_local(p, instr) ||
	     follows))
		return -1;
	return (int64_t)(x % 5) * (INT64_C(11) << 20);
}

START_TEST(schedules_are_right)
{
	int early = 0, late = 0;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		plan *p = seed % 2 ? random_plan(mem, seed, 14, false) :
				     random_training_plan(mem, seed, 8, NULL);
		if (seed % 3 == 0)
			p = in_buckets(mem, p, seed / 3);
		int64_t *nbytes = ARENA_ARRAY(mem, int64_t, p->ninstrs);
		for (int i = 0; i < p->ninstrs; i++)
			nbytes[i] = draw_nbytes(p, i, seed);
		prefetch s = prefetch_of(mem, p, nbytes);
		times t = replay(p, &s, nbytes);
		expect_order(p, &t, seed);
		expect_room(p, &s, nbytes, &t);
		for (int i = 0; i < p->ninstrs; i++)
			for (int k = s.first[i]; k < s.first[i + 1]; k++)
				if (s.events[k].begins)
					early += s.events[k].instr > i;
				else
					late += s.events[k].instr < i - 1;
	}
	/* The campaign has enough cases of both kinds. */
	ck_assert_int_gt(early, 100);
	ck_assert_int_gt(late, 100);
}
END_TEST

/* Messages of a channel are waited for in their order, one before the turn of
 * the last one has come.  Returns how many are, of which all others have gone
 * before. */
static int expect_channels(const plan *p, const prefetch *s, int nchannels)
{
	int *had = ARENA_ARRAY(mem, int, nchannels); /* 1 + its instruction */
	int ahead = 0;
	for (int i = 0; i <= p->ninstrs; i++)
		for (int k = s->first[i]; k < s->first[i + 1]; k++) {
			const prefetch_event *e = &s->events[k];
			const plan_instr *in = &p->program[e->instr];
			if (in->op != PLAN_RECEIVE || !e->begins)
				continue;
			ck_assert_int_lt(had[in->channel], e->instr + 1);
			ck_assert_int_le(had[in->channel], i);
			had[in->channel] = e->instr + 1;
			ahead += e->instr > i;
		}
	return ahead;
}

START_TEST(messages_are_in_order)
{
	int ahead = 0;
	for (int seed = 0; seed < 150; seed++) {
		diag_sink *sink = diag_sink_new(mem);
		plan_pipeline *all = pipeline_unroll(
			mem, random_pipeline(mem, (uint64_t)seed,
					     seed % 2 ? SCHEDULE_1F1B
						      : SCHEDULE_ZB,
					     sink));
		for (int i = 0; i < all->nstages; i++) {
			const plan *p = &all->stages[i];
			int64_t *nbytes = ARENA_ARRAY(mem, int64_t, p->ninstrs);
			for (int k = 0; k < p->ninstrs; k++)
				nbytes[k] = draw_nbytes(p, k, (uint64_t)seed);
			prefetch s = prefetch_of(mem, p, nbytes);
			times t = replay(p, &s, nbytes);
			expect_order(p, &t, (uint64_t)seed);
			expect_room(p, &s, nbytes, &t);
			ahead += expect_channels(p, &s, all->nchannels);
		}
	}
	ck_assert_int_gt(ahead, 500);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("ahead");
	TCase *t = tcase_create("ahead");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, schedules_are_right);
	tcase_add_test(t, messages_are_in_order);
	suite_add_tcase(s, t);
	return s;
}
