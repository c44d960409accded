/* Tests: compiler/portfolio */
/* The exact program over stages, layers and devices against all divisions of
 * small rows. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/portfolio/pipeline_program.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

enum { MOST_LAYERS = 6, MOST_GROUPS = 5 };

typedef struct table {
	double layer[MOST_LAYERS], bytes[MOST_LAYERS];
	double bonus[MOST_LAYERS + 1][MOST_LAYERS + 1]; /* of an interval */
	double speed[MOST_GROUPS], memory[MOST_GROUPS];
	double between[MOST_LAYERS + 1][MOST_GROUPS + 1];
} table;

static double between(void *of, int j, int b)
{
	const table *t = of;
	return t->between[j][b];
}

/* Any function of the interval and the groups, with a limit that depends on
 * what is in flight. */
static double seconds(void *of, int i, int j, int a, int b, int in_flight,
		      int behind)
{
	(void)behind;
	const table *t = of;
	double sum = t->bonus[i][j], bytes = 0, speed = 0, least = INFINITY;
	for (int k = i; k < j; k++) {
		sum += t->layer[k];
		bytes += t->bytes[k];
	}
	for (int g = a; g < b; g++) {
		speed += t->speed[g];
		least = fmin(least, t->memory[g]);
	}
	return in_flight * bytes / (b - a) > least ? INFINITY : sum / speed;
}

typedef struct walk {
	const pipeline_problem *p;
	int nstages;
	double best, least; /* of a step; of the longest stage */
} walk;

/* All ends of stage s, which begins at layer i and group a. */
static void try_all(walk *w, int s, int i, int a, double sum, double longest)
{
	const pipeline_problem *p = w->p;
	int left = w->nstages - s;
	if (left == 0) {
		if (i != p->nlayers || a != p->ngroups)
			return;
		w->best = fmin(w->best,
			       sum + (p->micro_batches - 1) * longest);
		w->least = fmin(w->least, longest);
		return;
	}
	for (int j = i + 1; j <= p->nlayers; j++)
		for (int b = a + 1; b <= (p->single ? a + 1 : p->ngroups);
		     b++) {
			int n = schedule_in_flight(p->kind, s, w->nstages, 1,
						   p->micro_batches);
			double own = p->seconds(p->of, i, j, a, b, n,
						left - 1);
			if (own < INFINITY)
				try_all(w, s + 1, j, b,
					sum + own +
						(left > 1 ? p->between(p->of, j,
								     b)
						      : 0),
					fmax(longest, own));
		}
}

static void fill(table *t, rng *r)
{
	bool tight = rng_below(r, 2);
	for (int i = 0; i < MOST_LAYERS; i++) {
		t->layer[i] = 1 + rng_below(r, 20);
		t->bytes[i] = rng_below(r, 6);
		for (int b = 0; b <= MOST_GROUPS; b++)
			t->between[i][b] = rng_below(r, 4);
		for (int j = 0; j <= MOST_LAYERS; j++)
			t->bonus[i][j] = rng_below(r, 5);
	}
	for (int g = 0; g < MOST_GROUPS; g++) {
		t->speed[g] = 1 + rng_below(r, 3);
		t->memory[g] = tight ? 4 + rng_below(r, 20) : 1000;
	}
}

START_TEST(enumerated)
{
	static const pipeline_schedule kinds[] = {
		SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_ZB,
	};
	int found = 0, none = 0;
	for (int seed = 0; seed < 1000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		table t = { 0 };
		fill(&t, &r);
		pipeline_problem p = {
			.nlayers = 1 + rng_below(&r, MOST_LAYERS),
			.ngroups = 1 + rng_below(&r, MOST_GROUPS),
			.single = rng_below(&r, 3) == 0,
			.least_stages = 1 + rng_below(&r, 2),
			.most_stages = 1 + rng_below(&r, MOST_GROUPS),
			.micro_batches = 1 + rng_below(&r, 6),
			.kind = kinds[rng_below(&r, 3)],
			.seconds = seconds,
			.of = &t,
			.between = between,
		};
		walk w = { .p = &p, .best = INFINITY, .least = INFINITY };
		for (w.nstages = p.least_stages; w.nstages <= p.most_stages;
		     w.nstages++)
			try_all(&w, 0, 0, 0, 0, 0);
		pipeline_split s;
		bool any = pipeline_program_solve(a, &p, &s);
		ck_assert_msg(any == (w.best < INFINITY), "seed %d", seed);
		if (any) {
			ck_assert_msg(fabs(s.seconds - w.best) < 1e-9,
				      "seed %d: %g, not %g", seed, s.seconds,
				      w.best);
			ck_assert(s.proven);
			ck_assert_int_eq(s.first[s.nstages], p.nlayers);
			ck_assert_int_eq(s.group[s.nstages], p.ngroups);
			p.least_longest = true;
			ck_assert(pipeline_program_solve(a, &p, &s));
			ck_assert_double_eq(s.longest, w.least);
		}
		found += any;
		none += !any;
		arena_free(a);
	}
	ck_assert_int_gt(found, at_least(400));
	ck_assert_int_gt(none, at_least(50));
}
END_TEST

/* ---- many times ---------------------------------------------------------- */

enum { MOST_CUTS = 900 };

/* Two stages, of which the first takes the longer the later it ends, and the
 * second so much less that all cuts come to nearly the same: each longest time
 * has to be tried. */
typedef struct line {
	int n;
	double apart[MOST_CUTS + 1]; /* by the first stage's end */
} line;

enum { LINE_MICRO_BATCHES = 3, LINE_BASE = 1000, LINE_STEP = 1 };

static double line_seconds(void *of, int i, int j, int a, int b, int in_flight,
			   int behind)
{
	const line *l = of;
	(void)a, (void)b, (void)in_flight, (void)behind;
	if (i == 0 && j < l->n)
		return LINE_BASE + LINE_STEP * j;
	return i > 0 && j == l->n ? LINE_BASE + l->apart[i] -
					    LINE_MICRO_BATCHES * LINE_STEP * i
				  : INFINITY;
}

static double nothing_between(void *of, int j, int b)
{
	(void)of, (void)j, (void)b;
	return 0;
}

/* Where too many times would have to be tried the result is one of the
 * divisions, and is not said to be the best; else it is the best. */
START_TEST(many_times)
{
	int proven = 0, sampled_ones = 0;
	for (int seed = 0; seed < 4; seed++) {
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		line l = { .n = seed % 2 ? MOST_CUTS : 60 };
		double best = INFINITY;
		for (int j = 1; j < l.n; j++) {
			l.apart[j] = rng_below(&r, 1000) / 2000.0;
			best = fmin(best, l.apart[j]);
		}
		best += (LINE_MICRO_BATCHES + 1) * LINE_BASE;
		const pipeline_problem p = {
			.nlayers = l.n,
			.ngroups = 2,
			.single = true,
			.least_stages = 2,
			.most_stages = 2,
			.micro_batches = LINE_MICRO_BATCHES,
			.kind = SCHEDULE_1F1B,
			.seconds = line_seconds,
			.of = &l,
			.between = nothing_between,
		};
		pipeline_split s;
		ck_assert(pipeline_program_solve(a, &p, &s));
		double own = line_seconds(&l, 0, s.first[1], 0, 1, 1, 1) *
				     LINE_MICRO_BATCHES +
			     line_seconds(&l, s.first[1], l.n, 1, 2, 1, 0);
		ck_assert(fabs(s.seconds - own) < 1e-6);
		ck_assert(s.seconds > best - 1e-6);
		ck_assert(!s.proven || s.seconds < best + 1e-6);
		proven += s.proven;
		sampled_ones += !s.proven;
		arena_free(a);
	}
	ck_assert_int_eq(proven, 2);
	ck_assert_int_eq(sampled_ones, 2);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("pipeline_program");
	TCase *t = tcase_create("pipeline_program");
	tcase_add_test(t, enumerated);
	tcase_add_test(t, many_times);
	suite_add_tcase(s, t);
	return s;
}
