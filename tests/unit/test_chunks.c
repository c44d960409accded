/* Tests: compiler/placement */
/* compiler/placement: splits for interleaved schedules, against enumeration in
 * which the memory of a device is counted along a simulated step. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "compiler/placement/chunks.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_LAYERS = 10, MAX_SPLITS = 512 };

typedef struct every {
	double at[MAX_SPLITS][CHUNKS_MEASURES];
	int n;
} every;

typedef struct instance {
	chunk_problem p;
	const pipeline_run *run;
	every all;
} instance;

/* The bytes of a device, pass by pass: what all its chunks have, and of each
 * pass begun whose backward one has not ended, what is kept. */
static double bytes_by_run(const instance *it, const int *first, int s)
{
	const chunk_problem *p = &it->p;
	const intervals *t = p->of;
	double resident = 0, kept = 0, most = 0;
	for (int q = s; q < chunk_stages(p); q += p->ndevices) {
		size_t x = interval_at(first[q], first[q + 1]);
		resident += t->fixed[x] - t->running[x];
	}
	for (int i = 0; i < it->run->nsteps[s]; i++) {
		const pipeline_step *step = &it->run->steps[s][i];
		int q = step->chunk * p->ndevices + s;
		size_t x = interval_at(first[q], first[q + 1]);
		if (step->kind == STEP_F)
			kept += t->kept[x];
		most = fmax(most, resident + kept + t->running[x]);
		if (step->kind == STEP_BW)
			kept -= t->kept[x];
	}
	ck_assert(kept == 0);
	return most;
}

static void add_split(instance *it, const int *first)
{
	const chunk_problem *p = &it->p;
	double sum = 0, *at = it->all.at[it->all.n];
	at[CHUNKS_PEAK] = at[CHUNKS_BOTTLENECK] = 0;
	for (int s = 0; s < p->ndevices; s++) {
		double ns = 0;
		for (int q = s; q < chunk_stages(p); q += p->ndevices)
			ns += p->of->time[interval_at(first[q], first[q + 1])];
		at[CHUNKS_PEAK] =
			fmax(at[CHUNKS_PEAK], bytes_by_run(it, first, s));
		at[CHUNKS_BOTTLENECK] = fmax(at[CHUNKS_BOTTLENECK], ns);
		sum += ns;
	}
	at[CHUNKS_STEP] = (sum + (p->micro_batches * p->chunks - 1) *
					 at[CHUNKS_BOTTLENECK]) /
			  p->chunks;
	it->all.n += at[CHUNKS_PEAK] <= p->cap;
}

static void enumerate(instance *it, int *first, int q)
{
	int n = it->p.of->n, left = chunk_stages(&it->p) - q;
	if (left == 0) {
		add_split(it, first);
		return;
	}
	for (int j = left == 1 ? n : first[q] + 1; j <= n - left + 1; j++) {
		first[q + 1] = j;
		enumerate(it, first, q + 1);
	}
}

/* Arbitrary numbers, or sums over layers. */
static intervals *draw_intervals(arena *a, draw *d, int n, bool any)
{
	intervals *t = intervals_new(a, n, false);
	int layer[MAX_LAYERS][4];
	t->running = intervals_table(a, n);
	for (int i = 0; i < n; i++)
		for (int c = 0; c < 4; c++)
			layer[i][c] = draw_int(d, 0, 12);
	for (int j = 1; j <= n; j++)
		for (int i = j - 1; i >= 0; i--) {
			size_t x = interval_at(i, j);
			size_t y = interval_at(i + 1 < j ? i + 1 : i, j);
			double *of[] = {t->time, t->kept, t->running, t->fixed};
			for (int c = 0; c < 4; c++)
				of[c][x] = any ? draw_int(d, 0, 20)
					       : (x == y ? 0 : of[c][y]) +
							   layer[i][c];
			if (any || x == y)
				t->fixed[x] += t->running[x];
			else
				t->fixed[x] += layer[i][2];
		}
	intervals_finish(a, t);
	return t;
}

static void simulate(arena *a, draw *d, instance *it)
{
	int n = chunk_stages(&it->p);
	int64_t *ns[4];
	for (int k = 0; k < 4; k++) {
		ns[k] = ARENA_ARRAY(a, int64_t, n);
		for (int q = 0; q < n; q++)
			ns[k][q] = draw_int(d, 0, 9);
	}
	pipeline p = {SCHEDULE_INTERLEAVED,
		      it->p.ndevices,
		      it->p.chunks,
		      it->p.micro_batches,
		      ns[0],
		      ns[1],
		      ns[2],
		      ns[3]};
	it->run = pipeline_simulate(a, &p);
}

static instance *draw_instance(arena *a, draw *d)
{
	instance *it = ARENA_NEW(a, instance);
	int n = draw_int(d, 1, MAX_LAYERS), S = 0, V = 0;
	int first[MAX_LAYERS + 1] = {0};
	do {
		S = draw_int(d, 1, 4);
		V = draw_int(d, 1, 3);
	} while (S * V > n);
	it->p = chunk_problem_new(a, draw_intervals(a, d, n, draw_int(d, 0, 1)),
				  S, V, draw_int(d, 1, 6 * S), INFINITY);
	simulate(a, d, it);
	enumerate(it, first, 0);
	if (draw_int(d, 0, 1)) {
		int i = draw_int(d, 0, it->all.n - 1);
		it->p.cap = it->all.at[i][CHUNKS_PEAK] - draw_int(d, 0, 1);
		it->all.n = 0;
		enumerate(it, first, 0);
	}
	return it;
}

/* The least of all splits by these measures, one after the other; NULL if there
 * are none. */
static const double *first_by(const every *e, const int *order, int n)
{
	const double *best = NULL;
	for (int i = 0; i < e->n; i++)
		for (int k = 0; k < n; k++) {
			if (!best || e->at[i][order[k]] < best[order[k]])
				best = e->at[i];
			if (e->at[i][order[k]] != best[order[k]])
				break;
		}
	return best;
}

static void check_goal(instance *it, chunk_measure goal, const int *order,
		       int n)
{
	arena *a = arena_new();
	const double *want = first_by(&it->all, order, n);
	chunk_split got;
	bool found = chunks_best(a, &it->p, goal, &got);
	ck_assert_int_eq(found, want != NULL);
	ck_assert(got.proven && (!found || got.all_proven));
	const double at[] = {got.s.peak, got.s.bottleneck, got.s.step};
	for (int k = 0; k < n && found; k++)
		ck_assert_msg(at[order[k]] == want[order[k]],
			      "measure %d: %g, not %g", order[k], at[order[k]],
			      want[order[k]]);
	ck_assert(!found || got.bound == want[goal]);
	split again = got.s;
	chunk_split_measure(&it->p, &again);
	ck_assert(again.peak == at[0] && again.bottleneck == at[1] &&
		  again.step == at[2]);
	arena_free(a);
}

START_TEST(as_enumerated)
{
	static const int peak[] = {CHUNKS_PEAK, CHUNKS_STEP};
	static const int step[] = {CHUNKS_STEP, CHUNKS_PEAK};
	static const int bottleneck[] = {CHUNKS_BOTTLENECK, CHUNKS_PEAK,
					 CHUNKS_STEP};
	draw d = {17};
	int none = 0;
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		instance *it = draw_instance(a, &d);
		none += it->all.n == 0;
		check_goal(it, CHUNKS_PEAK, peak, 2);
		check_goal(it, CHUNKS_BOTTLENECK, bottleneck, 3);
		check_goal(it, CHUNKS_STEP, step, 2);
		arena_free(a);
	}
	ck_assert_int_gt(none, 20);
}
END_TEST

/* A split that no other one is below in both, and the number of such pairs. */
static bool on_frontier(const every *e, int i, chunk_measure m)
{
	for (int k = 0; k < e->n; k++) {
		double peak = e->at[k][CHUNKS_PEAK] - e->at[i][CHUNKS_PEAK];
		double other = e->at[k][m] - e->at[i][m];
		if (peak <= 0 && other <= 0 && (peak < 0 || other < 0 || k < i))
			return false;
	}
	return true;
}

START_TEST(frontiers_as_enumerated)
{
	draw d = {19};
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		instance *it = draw_instance(a, &d);
		chunk_measure m = i % 2 ? CHUNKS_STEP : CHUNKS_BOTTLENECK;
		split_list f;
		int n = 0;
		ck_assert(chunks_frontier(a, &it->p, m, &f));
		for (int e = 0; e < it->all.n; e++) {
			const double *at = it->all.at[e];
			bool has = false;
			if (!on_frontier(&it->all, e, m))
				continue;
			n++;
			for (int k = 0; k < f.n; k++)
				has |= f.at[k].peak == at[CHUNKS_PEAK] &&
				       (i % 2 ? f.at[k].step
					      : f.at[k].bottleneck) == at[m];
			ck_assert(has);
		}
		ck_assert_int_eq(n, f.n);
		arena_free(a);
	}
}
END_TEST

/* A chain that is too long to be proven: the bound is below, and every value is
 * that of the split. */
START_TEST(bounds_of_long_chains)
{
	draw d = {23};
	arena *a = arena_new();
	enum { N = 40 };
	intervals *t = intervals_new(a, N, false);
	t->running = intervals_table(a, N);
	for (int j = 1; j <= N; j++)
		for (int i = 0; i < j; i++) {
			size_t x = interval_at(i, j);
			t->time[x] = draw_int(&d, 1, 1000) + 100 * (j - i);
			t->fixed[x] = draw_int(&d, 1, 1000) + 200 * (j - i);
			t->kept[x] = draw_int(&d, 1, 1000);
		}
	intervals_finish(a, t);
	chunk_problem p = chunk_problem_new(a, t, 4, 3, 8, INFINITY);
	chunk_split s;
	ck_assert(chunks_best(a, &p, CHUNKS_PEAK, &s));
	split again = s.s;
	chunk_split_measure(&p, &again);
	ck_assert(s.bound > 0 && s.bound <= s.s.peak);
	ck_assert(again.peak == s.s.peak && again.step == s.s.step);
	ck_assert(s.proven == (s.bound == s.s.peak));
	arena_free(a);
}
END_TEST

/* Every pass of a simulated step is covered by an instant, and the greatest
 * sums over chunks are those of the formula, or less where micro-batches do not
 * fill the last round. */
static void check_instants(int S, int V, int M)
{
	arena *a = arena_new();
	int64_t *one = ARENA_ARRAY(a, int64_t, S * V);
	pipeline p = { SCHEDULE_INTERLEAVED, S, V, M, one, one, one, NULL };
	const pipeline_run *run = pipeline_simulate(a, &p);
	int *now = ARENA_ARRAY(a, int, V);
	for (int s = 0; s < S; s++) {
		chunk_counts c = schedule_chunk_counts(a, s, S, V, M);
		int most = 0;
		for (int i = 0; i < run->nsteps[s]; i++) {
			const pipeline_step *t = &run->steps[s][i];
			bool covered = false;
			now[t->chunk] += t->kind == STEP_F;
			for (int k = 0; k < c.n && !covered; k++) {
				covered = c.running[k] == t->chunk;
				for (int v = 0; v < V; v++)
					covered &= c.in_flight[k * V + v] >=
						   now[v];
			}
			ck_assert(covered);
			now[t->chunk] -= t->kind != STEP_F;
		}
		for (int k = 0; k < c.n; k++) {
			int sum = 0;
			for (int v = 0; v < V; v++)
				sum += c.in_flight[k * V + v];
			most = sum > most ? sum : most;
		}
		ck_assert_int_eq(most, run->in_flight[s]);
		int formula = schedule_in_flight(SCHEDULE_INTERLEAVED, s, S, V,
						 M);
		ck_assert_int_le(most, formula);
		ck_assert(most == formula || M % S);
	}
	arena_free(a);
}

START_TEST(instants)
{
	for (int S = 1; S <= 6; S++)
		for (int V = 1; V <= 4; V++)
			for (int M = 1; M <= 8 * S; M++)
				check_instants(S, V, M);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("chunks");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, as_enumerated);
	tcase_add_test(t, frontiers_as_enumerated);
	tcase_add_test(t, bounds_of_long_chains);
	tcase_add_test(t, instants);
	suite_add_tcase(s, t);
	return s;
}
