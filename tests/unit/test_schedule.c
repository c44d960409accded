/* Tests: compiler/cost compiler/placement */
/* compiler/cost: schedules of pipelines, against a second implementation
 * that knows lists by a rule and times as longest paths. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "compiler/cost/schedule.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_STAGES = 8, MAX_CHUNKS = 4, MAX_MICRO = 32, MAX_STEPS = 3 * 256 };

/* The progress of a device: the numbers of F and B of its chunks that are
 * done. */
typedef struct judge {
	const pipeline *p;
	int n[MAX_STAGES];
	struct {
		bool backward;
		int stage, m;
		int64_t begin, end;
	} steps[MAX_STAGES][MAX_STEPS];
} judge;

/* The place of (stage, m, backward) in its device's list; by search. */
static int find(const judge *j, int stage, int m, bool backward)
{
	int s = stage % j->p->ndevices;
	for (int i = 0; i < j->n[s]; i++)
		if (j->steps[s][i].stage == stage && j->steps[s][i].m == m &&
		    j->steps[s][i].backward == backward)
			return i;
	ck_abort_msg("no such step");
}

/* One rule for all: F while fewer than the limit are in flight, else B. */
static void fill(judge *j, int s, int limit)
{
	const pipeline *p = j->p;
	int S = p->ndevices, V = p->chunks, all = p->micro_batches * V;
	int nf = 0, nb = 0;
	while (nb < all) {
		bool b = nf == all || nf - nb == limit;
		int k = b ? nb++ : nf++, group = k / S;
		int chunk = b ? V - 1 - group % V : group % V;
		j->steps[s][j->n[s]].backward = b;
		j->steps[s][j->n[s]].stage = chunk * S + s;
		j->steps[s][j->n[s]++].m = group / V * S + k % S;
	}
}

static int64_t end_of(const judge *j, int stage, int m, bool backward)
{
	return j->steps[stage % j->p->ndevices]
		[find(j, stage, m, backward)].end;
}

static int64_t message(const pipeline *p, int q)
{
	return p->ndevices > 1 && p->link ? p->link[q] : 0;
}

static int64_t arrival(const judge *j, int stage, int m, bool backward)
{
	int last = j->p->ndevices * j->p->chunks - 1;
	if (!backward)
		return stage == 0 ? 0 : end_of(j, stage - 1, m, false) +
			message(j->p, stage - 1);
	return stage == last ? end_of(j, stage, m, false) :
		end_of(j, stage + 1, m, true) + message(j->p, stage);
}

/* Longest paths, raised until nothing changes. */
static int64_t mini_bucket(judge *j)
{
	int64_t span = 0;
	bool changed = true;
	while (changed) {
		changed = false;
		for (int s = 0; s < j->p->ndevices; s++)
			for (int i = 0; i < j->n[s]; i++) {
				int q = j->steps[s][i].stage;
				bool b = j->steps[s][i].backward;
				int64_t at = arrival(j, q, j->steps[s][i].m, b);
				if (i && j->steps[s][i - 1].end > at)
					at = j->steps[s][i - 1].end;
				int64_t end = at + (b ? j->p->backward[q] +
					j->p->weight[q] : j->p->forward[q]);
				changed |= end != j->steps[s][i].end;
				j->steps[s][i].begin = at;
				j->steps[s][i].end = end;
				if (end > span)
					span = end;
			}
	}
	return span;
}

/* Micro-batches at the moments when a forward step begins. */
static int most_in_flight(const judge *j, int s)
{
	int most = 0;
	for (int i = 0; i < j->n[s]; i++) {
		int64_t t = j->steps[s][i].begin;
		int n = 0;
		if (j->steps[s][i].backward)
			continue;
		for (int k = 0; k < j->n[s]; k++)
			n += j->steps[s][k].backward ?
				-(j->steps[s][k].end <= t) :
				j->steps[s][k].begin <= t;
		if (n > most)
			most = n;
	}
	return most;
}

static void compare(const pipeline *p)
{
	arena *a = arena_new();
	judge *j = ARENA_NEW(a, judge);
	const pipeline_run *run = pipeline_simulate(a, p);
	j->p = p;
	for (int s = 0; s < p->ndevices; s++)
		fill(j, s, schedule_in_flight(p->kind, s, p->ndevices,
					      p->chunks, p->micro_batches));
	ck_assert_int_eq(mini_bucket(j), run->ns);
	for (int s = 0; s < p->ndevices; s++) {
		ck_assert_int_eq(run->nsteps[s], j->n[s]);
		for (int i = 0; i < j->n[s]; i++) {
			ck_assert_int_eq(run->steps[s][i].begin,
					 j->steps[s][i].begin);
			ck_assert_int_eq(run->steps[s][i].end,
					 j->steps[s][i].end);
		}
		ck_assert_int_eq(run->in_flight[s], most_in_flight(j, s));
		ck_assert_int_eq(run->in_flight[s],
				 schedule_in_flight(p->kind, s, p->ndevices,
						    p->chunks,
						    p->micro_batches));
	}
	arena_free(a);
}

/* A pipeline of any kind but for those that are in `kind`; times from 1 on. */
static pipeline draw_pipeline(arena *a, draw *r, pipeline_schedule kind)
{
	pipeline p = { .kind = kind, .ndevices = draw_int(r, 1, 6),
		       .chunks = 1, .micro_batches = draw_int(r, 1, 12) };
	if (kind == SCHEDULE_INTERLEAVED) {
		p.chunks = draw_int(r, 1, 3);
		p.micro_batches = p.ndevices * (draw_int(r, 1, 3));
	}
	int n = p.ndevices * p.chunks;
	int64_t *of[4];
	for (int i = 0; i < 4; i++) {
		of[i] = ARENA_ARRAY(a, int64_t, n);
		for (int q = 0; q < n; q++)
			of[i][q] = draw_int(r, 1, 20);
	}
	p.forward = of[0];
	p.backward = of[1];
	p.weight = of[2];
	p.link = draw_int(r, 0, 1) ? of[3] : NULL;
	return p;
}

/* Every step of a device once, of each chunk in the order of the
 * micro-batches, no backward step before its forward step. */
static void check_list(const pipeline *p, const pipeline_step *at, int n)
{
	int f[MAX_CHUNKS] = { 0 }, b[MAX_CHUNKS] = { 0 };
	ck_assert_int_eq(n, 2 * p->chunks * p->micro_batches);
	for (int i = 0; i < n; i++) {
		int c = at[i].chunk;
		ck_assert(c >= 0 && c < p->chunks);
		ck_assert_int_eq(at[i].micro_batch,
				 at[i].kind == STEP_F ? f[c]++ : b[c]++);
		ck_assert_int_le(b[c], f[c]);
		ck_assert_int_le(f[c], p->micro_batches);
	}
}

/* Any number of micro-batches, and chunks in GPipe's order. */
START_TEST(any_micro_batches)
{
	draw r = { 31 };
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		pipeline p = draw_pipeline(a, &r, SCHEDULE_INTERLEAVED);
		p.micro_batches = draw_int(&r, 1, 20);
		if (i % 2)
			p.kind = SCHEDULE_GPIPE;
		const pipeline_run *run = pipeline_simulate(a, &p);
		for (int s = 0; s < p.ndevices; s++) {
			check_list(&p, run->steps[s], run->nsteps[s]);
			ck_assert_int_le(run->in_flight[s],
					 schedule_in_flight(p.kind, s,
							    p.ndevices,
							    p.chunks,
							    p.micro_batches));
		}
		arena_free(a);
	}
}
END_TEST

START_TEST(as_the_second_implementation)
{
	draw r = { 13 };
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		pipeline p = draw_pipeline(a, &r, (pipeline_schedule)(i % 3));
		compare(&p);
		arena_free(a);
	}
}
END_TEST

/* Each step once, after what it needs, one at a time. */
static void check_zero_bubble(const pipeline *p, const pipeline_run *run)
{
	int S = p->ndevices, M = p->micro_batches;
	int64_t (*end)[3][MAX_MICRO] = calloc((size_t)S, sizeof(*end));
	for (int s = 0; s < S; s++) {
		ck_assert_int_eq(run->nsteps[s], 3 * M);
		int64_t now = 0;
		for (int i = 0; i < 3 * M; i++) {
			const pipeline_step *t = &run->steps[s][i];
			ck_assert_int_eq(end[s][t->kind][t->micro_batch], 0);
			ck_assert_int_ge(t->begin, now);
			now = end[s][t->kind][t->micro_batch] = t->end;
		}
		ck_assert_int_le(run->in_flight[s], S < M ? S : M);
	}
	for (int s = 0; s < S; s++)
		for (int m = 0; m < M; m++) {
			int64_t f = end[s][STEP_F][m], b = end[s][STEP_B][m];
			int64_t w = end[s][STEP_W][m];
			int64_t need = s == S - 1 ? f : end[s + 1][STEP_B][m] +
				message(p, s);
			ck_assert_int_ge(w, b + p->weight[s]);
			ck_assert_int_ge(b, need + p->backward[s]);
			if (s)
				ck_assert_int_ge(f, end[s - 1][STEP_F][m] +
						 message(p, s - 1) +
						 p->forward[s]);
			ck_assert(f <= run->ns && b <= run->ns && w <= run->ns);
		}
	free(end);
}

START_TEST(zero_bubble_is_a_schedule)
{
	draw r = { 29 };
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		pipeline p = draw_pipeline(a, &r, SCHEDULE_ZB);
		check_zero_bubble(&p, pipeline_simulate(a, &p));
		arena_free(a);
	}
}
END_TEST

static pipeline equal(arena *a, pipeline_schedule kind, int S, int V, int M)
{
	int64_t *one = ARENA_ARRAY(a, int64_t, S * V);
	for (int q = 0; q < S * V; q++)
		one[q] = 12 / V;
	return (pipeline){ kind, S, V, M, one, one, one, NULL };
}

/* With equal times: GPipe and 1F1B 3 (M + S - 1); interleaved 3 M + 3 (S - 1) /
 * V; zero bubble at most 3 M + S - 1 for M >= S. */
START_TEST(closed_forms)
{
	for (int S = 1; S <= 12; S++)
		for (int M = 1; M <= 32; M++) {
			arena *a = arena_new();
			pipeline p = equal(a, SCHEDULE_GPIPE, S, 1, M);
			ck_assert_int_eq(pipeline_simulate(a, &p)->ns,
					 12 * 3 * (M + S - 1));
			p.kind = SCHEDULE_1F1B;
			ck_assert_int_eq(pipeline_simulate(a, &p)->ns,
					 12 * 3 * (M + S - 1));
			p.kind = SCHEDULE_ZB;
			if (M >= S)
				ck_assert_int_le(pipeline_simulate(a, &p)->ns,
						 12 * (3 * M + S - 1));
			for (int V = 2; V <= 4 && M % S == 0; V++) {
				p = equal(a, SCHEDULE_INTERLEAVED, S, V, M);
				ck_assert_int_eq(pipeline_simulate(a, &p)->ns,
						 12 * 3 * M +
						 12 * 3 * (S - 1) / V);
			}
			arena_free(a);
		}
}
END_TEST

/* Zero bubble with equal F, B and W, and M >= S: 3 M + S - 1 of them at most,
 * and S micro-batches in flight, from F to W, on the device that has most. */
START_TEST(zero_bubble_of_equal_times)
{
	for (int S = 1; S <= 8; S++)
		for (int M = S; M <= 4 * S; M++) {
			arena *a = arena_new();
			pipeline p = equal(a, SCHEDULE_ZB, S, 1, M);
			const pipeline_run *run = pipeline_simulate(a, &p);
			int most = 0;
			ck_assert_int_le(run->ns, 12 * (3 * M + S - 1));
			for (int s = 0; s < S; s++) {
				ck_assert_int_le(run->in_flight[s],
						 schedule_in_flight(
							 SCHEDULE_ZB, s, S, 1,
							 M));
				if (run->in_flight[s] > most)
					most = run->in_flight[s];
			}
			ck_assert_int_eq(most, S);
			arena_free(a);
		}
}
END_TEST

/* The greatest that is simulated, and one more. */
START_TEST(limits)
{
	static const int most[] = { SCHEDULE_MAX_STEPS / 3,
				    SCHEDULE_MAX_CHOICES / 3 / 64 / 64 };
	arena *a = arena_new();
	for (int k = 0; k < 2; k++) {
		pipeline p = equal(a, k ? SCHEDULE_ZB : SCHEDULE_GPIPE,
				   k ? 64 : 1, 1, most[k]);
		ck_assert_ptr_null(pipeline_refused(a, &p));
		p.micro_batches++;
		ck_assert_ptr_nonnull(pipeline_refused(a, &p));
	}
	/* Two stages, of each three parts and two messages: 8 times. */
	int64_t ns[2] = { INT64_MAX / 8, INT64_MAX / 8 };
	pipeline p = { SCHEDULE_GPIPE, 2, 1, 1, ns, ns, ns, ns };
	ck_assert_ptr_null(pipeline_refused(a, &p));
	ck_assert_int_gt(pipeline_simulate(a, &p)->ns, INT64_MAX / 8 * 7);
	p.micro_batches = 2;
	ck_assert_ptr_nonnull(pipeline_refused(a, &p));
	p.micro_batches = 1;
	ns[0] = INT64_MAX / 2;
	ck_assert_ptr_nonnull(pipeline_refused(a, &p));
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("schedule");
	TCase *t = tcase_create("schedule");
	tcase_add_test(t, as_the_second_implementation);
	tcase_add_test(t, any_micro_batches);
	tcase_add_test(t, zero_bubble_is_a_schedule);
	tcase_add_test(t, closed_forms);
	tcase_add_test(t, zero_bubble_of_equal_times);
	tcase_add_test(t, limits);
	suite_add_tcase(s, t);
	return s;
}
