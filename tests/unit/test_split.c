/* Tests: compiler/placement */
/* compiler/placement: exact splits, against enumeration. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/placement/split.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_LAYERS = 9, MAX_STAGES = 5, MAX_SPLITS = 256 };

/* Every split within the cap. */
typedef struct every {
	double at[MAX_SPLITS][3]; /* peak, bottleneck, step */
	int n;
} every;

static void enumerate(every *e, const split_problem *p, split *s, int stage)
{
	if (stage == p->nstages) {
		split_measure(p, s);
		if (s->peak > p->cap)
			return;
		e->at[e->n][0] = s->peak;
		e->at[e->n][1] = s->bottleneck;
		e->at[e->n++][2] = s->step;
		return;
	}
	int last = p->of->n - (p->nstages - 1 - stage);
	for (int j = s->first[stage] + 1; j <= last; j++) {
		if (stage == p->nstages - 1 && j < last)
			continue;
		s->first[stage + 1] = j;
		enumerate(e, p, s, stage + 1);
	}
}

/* Intervals of layers with parameters, activations, outputs; or, with `any`, of
 * arbitrary numbers. */
static intervals *draw_intervals(arena *a, draw *d, int n, bool any, bool sync)
{
	intervals *t = intervals_new(a, n, sync);
	double layer[MAX_LAYERS][4];
	for (int i = 0; i < n; i++)
		for (int c = 0; c < 4; c++)
			layer[i][c] = draw_int(d, 1, 12);
	for (int j = 1; j <= n; j++)
		for (int i = j - 1; i >= 0; i--) {
			size_t x = interval_at(i, j);
			bool grow = i < j - 1 && !any;
			size_t y = grow ? interval_at(i + 1, j) : 0;
			double links = (i ? layer[i - 1][3] : 0) +
				(j < n ? layer[j - 1][3] : 0);
			t->fixed[x] = any ? draw_int(d, 0, 30) :
				4 * layer[i][0] + (grow ? t->fixed[y] : 0);
			t->kept[x] = any ? draw_int(d, 0, 12) :
				layer[i][1] + (grow ? t->kept[y] : 0);
			t->time[x] = any ? draw_int(d, 0, 20) :
				layer[i][2] + links;
			for (int l = i + 1; l < j && !any; l++)
				t->time[x] += layer[l][2];
			if (sync)
				t->sync[x] = any ? draw_int(d, 0, 20) :
					t->fixed[x] / 4;
		}
	intervals_finish(a, t);
	return t;
}

typedef struct instance {
	split_problem p;
	int in_flight[MAX_STAGES];
	every all;
} instance;

/* With a cap that excludes some splits, in half of them. */
static instance *draw_instance(arena *a, draw *d)
{
	instance *i = ARENA_NEW(a, instance);
	int n = draw_int(d, 1, MAX_LAYERS);
	split s = { .first = ARENA_ARRAY(a, int, MAX_STAGES + 1) };
	i->p.of = draw_intervals(a, d, n, draw_int(d, 0, 1), draw_int(d, 0, 1));
	i->p.nstages = draw_int(d, 1, n < MAX_STAGES ? n : MAX_STAGES);
	i->p.micro_batches = draw_int(d, 1, 4);
	i->p.in_flight = i->in_flight;
	for (int k = 0; k < i->p.nstages; k++)
		i->in_flight[k] = draw_int(d, 1, 4);
	i->p.cap = INFINITY;
	enumerate(&i->all, &i->p, &s, 0);
	if (draw_int(d, 0, 1)) {
		i->p.cap = i->all.at[draw_int(d, 0, i->all.n - 1)][0] -
			draw_int(d, 0, 1);
		i->all.n = 0;
		enumerate(&i->all, &i->p, &s, 0);
	}
	return i;
}

/* The least of all splits, compared by these n numbers; NULL if there are
 * none. */
static const double *first_by(const every *e, const int *order, int n)
{
	const double *best = NULL;
	for (int i = 0; i < e->n; i++)
		for (int k = 0; k < n || !best; k++) {
			if (!best || e->at[i][order[k]] < best[order[k]])
				best = e->at[i];
			else if (e->at[i][order[k]] == best[order[k]])
				continue;
			break;
		}
	return best;
}

static void same(const split_problem *p, bool found, split *s,
		 const double *want, const int *order, int n)
{
	ck_assert_int_eq(found, want != NULL);
	if (!found)
		return;
	split again = *s;
	split_measure(p, &again);
	ck_assert(s->peak == again.peak && s->step == again.step &&
		  s->bottleneck == again.bottleneck);
	const double got[] = { s->peak, s->bottleneck, s->step };
	for (int k = 0; k < n; k++)
		ck_assert_msg(got[order[k]] == want[order[k]],
			      "number %d: %g, not %g", order[k], got[order[k]],
			      want[order[k]]);
}

START_TEST(as_enumerated)
{
	static const int peak[] = { 0, 2 }, bottleneck[] = { 1, 0, 2 };
	static const int step[] = { 2, 0 };
	draw d = { 7 };
	int none = 0;
	for (int i = 0; i < 2000; i++) {
		arena *a = arena_new();
		instance *it = draw_instance(a, &d);
		const split_problem *p = &it->p;
		split s = { 0 };
		bool found = split_least_peak(a, p, &s);
		none += !found;
		same(p, found, &s, first_by(&it->all, peak, 2), peak, 2);
		double least = split_peak(p);
		ck_assert(found ? least == s.peak : least == INFINITY);
		found = split_least_bottleneck(a, p, &s);
		same(p, found, &s, first_by(&it->all, bottleneck, 3),
		     bottleneck, 3);
		found = split_least_step(a, p, INFINITY, &s);
		same(p, found, &s, first_by(&it->all, step, 2), step, 2);
		if (found) {
			ck_assert(!split_least_step(a, p, s.step - 1, &s));
		}
		arena_free(a);
	}
	ck_assert_int_gt(none, 50);
}
END_TEST

static bool dominated(const every *e, double peak, double other, int which)
{
	for (int i = 0; i < e->n; i++)
		if (e->at[i][0] <= peak && e->at[i][which] <= other &&
		    (e->at[i][0] < peak || e->at[i][which] < other))
			return true;
	return false;
}

/* Nothing on the frontier is dominated, and what is not dominated is on it. */
START_TEST(frontiers_as_enumerated)
{
	draw d = { 11 };
	for (int i = 0; i < 2000; i++) {
		arena *a = arena_new();
		instance *it = draw_instance(a, &d);
		bool steps = i % 2;
		int which = steps ? 2 : 1;
		split_list f = split_frontier(a, &it->p, steps);
		for (int k = 0; k < f.n; k++) {
			double t = steps ? f.at[k].step : f.at[k].bottleneck;
			ck_assert(!dominated(&it->all, f.at[k].peak, t, which));
			ck_assert(k == 0 || f.at[k - 1].peak < f.at[k].peak);
		}
		for (int e = 0; e < it->all.n; e++) {
			const double *at = it->all.at[e];
			bool on = false;
			for (int k = 0; k < f.n; k++)
				on |= f.at[k].peak == at[0] &&
					(steps ? f.at[k].step :
					 f.at[k].bottleneck) == at[which];
			ck_assert(on || dominated(&it->all, at[0], at[which],
						  which));
		}
		arena_free(a);
	}
}
END_TEST

/* If nothing fits, the stage that exceeds the memory has the least peak. */
START_TEST(exceeding_stage)
{
	draw d = { 5 };
	for (int i = 0; i < 200; i++) {
		arena *a = arena_new();
		instance *it = draw_instance(a, &d);
		split s = { 0 };
		it->p.cap = -1;
		int k = split_exceeding_stage(a, &it->p, &s);
		ck_assert(k >= 0 && k < it->p.nstages);
		ck_assert(s.peak == split_memory(
			&it->p, k, interval_at(s.first[k], s.first[k + 1])));
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("split");
	TCase *t = tcase_create("all");
	tcase_add_test(t, as_enumerated);
	tcase_add_test(t, frontiers_as_enumerated);
	tcase_add_test(t, exceeding_stage);
	suite_add_tcase(s, t);
	return s;
}
