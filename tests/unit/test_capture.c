/* Tests: compiler/placement */
/* compiler/placement: plans over replicas, tensors, stages, even and uneven,
 * with tied parameters and skips, against enumeration of all plans. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/placement/capture.h"
#include "compiler/placement/stage_search.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_LAYERS = 6, MAX_STAGES = MAX_LAYERS, MAX_FOUND = 1 << 19 };

typedef struct found {
	double peak, step, cost;
} found;

/* A plan that is being made, and all that were. */
typedef struct search {
	const layer_table *t;
	const capture_request *r;
	int U, M, S; /* samples of a micro-batch, of all replicas; .. */
	int first[MAX_STAGES + 1], d[MAX_STAGES], tp[MAX_STAGES];
	bool rec[MAX_STAGES];
	found *at;
	int n;
} search;

/* ---- the judge ----------------------------------------------------------- */

static double bw(const layer_table *t, int span)
{
	return span <= t->node ? t->intra : t->inter;
}

static int in_flight(const search *s, int k)
{
	int n = s->r->schedule == SCHEDULE_GPIPE ? s->M :
		s->r->schedule == SCHEDULE_ZB	 ? s->S :
						   s->S - k;
	return n < s->M ? n : s->M;
}

static int stage_with(const search *s, int i)
{
	int k = 0;
	while (s->first[k + 1] <= i)
		k++;
	return k;
}

static int devices(const search *s)
{
	int n = 0;
	for (int k = 0; k < s->S; k++)
		n += s->d[k] * s->tp[k];
	return n;
}

/* Bytes of weights: those of a tie at its first layer in the stage. */
static double weights(const search *s, int k)
{
	double sum = 0;
	for (int i = s->first[k]; i < s->first[k + 1]; i++) {
		bool again = false;
		for (int l = s->first[k]; l < i; l++)
			again |= s->t->at[i].tie > 0 &&
				s->t->at[l].tie == s->t->at[i].tie;
		sum += again ? 0 : s->t->at[i].params;
	}
	return sum;
}

static bool has_tie(const search *s, int from, int to, int tie)
{
	for (int i = s->first[from]; i < s->first[to]; i++)
		if (s->t->at[i].tie == tie)
			return true;
	return false;
}

/* Bytes of gradients that a stage receives of stages with its ties. */
static double tied(const search *s, int k)
{
	double sum = 0;
	for (int tie = 1; tie <= s->t->nties; tie++) {
		double bytes = 0;
		for (int i = 0; i < s->t->n; i++)
			if (s->t->at[i].tie == tie)
				bytes = s->t->at[i].params;
		if (has_tie(s, k, k + 1, tie))
			sum += bytes * (has_tie(s, 0, k, tie) +
					has_tie(s, k + 1, s->S, tie));
	}
	return sum;
}

/* Of a sample: bytes of skips to a stage, from it, and of copies that wait. */
static void skips(const search *s, int k, double *in, double *out,
		  double *waiting)
{
	*in = *out = *waiting = 0;
	for (int i = 0; i < s->t->nskips; i++) {
		const layer_skip *x = &s->t->skips[i];
		int from = stage_with(s, x->from), to = stage_with(s, x->to);
		if (from == to)
			continue;
		if (to == k)
			*in += x->act;
		if (from == k) {
			*out += x->act;
			*waiting += x->act * (in_flight(s, k) -
					      in_flight(s, to));
		}
	}
}

/* The time of stage k; raises peak and exchange. */
static double stage(const search *s, int k, double *peak, double *sync)
{
	const layer_table *t = s->t;
	double F = 0, A = 0, R = 0, AR = 0, n = s->tp[k], d = s->d[k];
	double P = weights(s, k), to, from, waiting, u = s->U / d;
	int i = s->first[k], j = s->first[k + 1];
	for (int l = i; l < j; l++) {
		F += t->at[l].flops;
		A += t->at[l].act;
		R += t->at[l].rep;
		AR += t->at[l].ar;
	}
	skips(s, k, &to, &from, &waiting);
	double in = i ? t->at[i - 1].edge : 0;
	double out = j < t->n ? t->at[j - 1].edge : 0;
	double time = u * (s->rec[k] ? 4 : 3) * F / (n * t->flops);
	time += (s->rec[k] ? 6 : 4) * 2 * (n - 1) / n * u * AR /
		bw(t, s->tp[k]);
	time += 2 * u * (in + out) / bw(t, 2 * s->d[k] * s->tp[k]);
	time += 2 * u * (to + from) / bw(t, devices(s));
	double acts = u * (A / n + R), kept = u * (in + to);
	double bytes = 2 * P / n + s->r->optimizer * P / n /
		(s->r->zero ? d : 1) + u * waiting;
	if (s->rec[k])
		bytes += acts;
	else
		kept += acts;
	bytes += in_flight(s, k) * kept;
	*peak = fmax(*peak, bytes);
	*sync = fmax(*sync, 2.0 * (d - 1) / d * P / n /
		     bw(t, s->d[k] * s->tp[k]) +
		     tied(s, k) / n / bw(t, devices(s)));
	return time;
}

static void judge(search *s)
{
	double peak = 0, sync = 0, sum = 0, most = 0;
	for (int k = 0; k < s->S; k++) {
		double time = stage(s, k, &peak, &sync);
		sum += time;
		most = fmax(most, time);
	}
	double step = sum + (s->M - 1) * most + sync;
	if (peak > s->r->cap)
		return;
	ck_assert_int_lt(s->n, MAX_FOUND);
	s->at[s->n++] = (found){ peak, step, step * devices(s) };
}

/* ---- all plans ----------------------------------------------------------- */

static void even_splits(search *s, int k)
{
	if (k == s->S) {
		judge(s);
		return;
	}
	for (int c = s->first[k - 1] + 1; c <= s->t->n - (s->S - k); c++) {
		s->first[k] = c;
		even_splits(s, k + 1);
	}
}

static void even_plans(search *s, int D, int tp, int d)
{
	s->S = D / tp / d;
	if (s->S * tp * d != D || s->S > s->t->n || s->U % d)
		return;
	for (int rec = 0; rec < 2; rec++) {
		if (!(rec ? s->r->recompute : s->r->plain))
			continue;
		for (int k = 0; k < s->S; k++) {
			s->tp[k] = tp;
			s->d[k] = d;
			s->rec[k] = rec;
		}
		s->first[s->S] = s->t->n;
		even_splits(s, 1);
	}
}

static void even(search *s)
{
	int D = s->r->objective == CAPTURE_COST ? 1 : s->r->devices;
	for (; D <= s->r->devices; D++)
		for (int tp = 1; tp <= 8 && tp <= s->t->node; tp *= 2)
			for (int d = 1; d * tp <= D; d++)
				even_plans(s, D, tp, d);
}

static void uneven(search *s, int k, int left)
{
	if (s->first[k] == s->t->n) {
		s->S = k;
		judge(s);
		return;
	}
	for (int rec = !s->r->plain; rec <= s->r->recompute; rec++)
		for (int tp = 1; tp <= 8 && tp <= s->t->node; tp *= 2)
			for (int d = 1; d * tp <= left; d++) {
				if (s->U % d)
					continue;
				s->tp[k] = tp;
				s->d[k] = d;
				s->rec[k] = rec;
				for (int j = s->first[k] + 1; j <= s->t->n;
				     j++) {
					s->first[k + 1] = j;
					uneven(s, k + 1, left - d * tp);
				}
			}
}

static void enumerate(search *s)
{
	s->n = 0;
	for (s->M = 1; s->M <= s->t->batch; s->M++) {
		s->U = s->t->batch / s->M;
		if (s->U * s->M != s->t->batch || (s->r->micro_batches &&
						   s->r->micro_batches != s->M))
			continue;
		if (s->r->uneven)
			uneven(s, 0, s->r->devices);
		else
			even(s);
	}
}

/* ---- comparison ---------------------------------------------------------- */

static bool near(double x, double y)
{
	return fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y));
}

static double value(const capture_request *r, const found *f)
{
	return r->objective == CAPTURE_PEAK ? f->peak :
		r->objective == CAPTURE_TIME ? f->step : f->cost;
}

/* The figure that decides between plans of equal value. */
static double second(const capture_request *r, const found *f)
{
	return r->objective == CAPTURE_PEAK ? f->step : f->peak;
}

static found figures(const capture_plan *p)
{
	return (found){ p->peak, p->step, p->step * p->devices };
}

static void check_plan(const search *s, const capture_plan *p)
{
	bool there = false;
	int layers = 0, used = 0;
	for (int i = 0; i < s->n; i++)
		there |= near(s->at[i].peak, p->peak) &&
			near(s->at[i].step, p->step);
	ck_assert(there);
	for (int k = 0; k < p->nstages; k++) {
		layers += p->at[k].nlayers;
		used += p->at[k].way.replicas * p->at[k].way.tensor;
		ck_assert(p->at[k].peak <= p->peak);
		ck_assert(p->at[k].seconds <= p->bottleneck);
	}
	ck_assert_int_eq(layers, s->t->n);
	ck_assert_int_eq(used, p->devices);
	ck_assert_int_eq(p->samples * p->micro_batches, s->t->batch);
}

static void check_best(arena *a, const search *s)
{
	capture_plan best;
	const found *least = NULL;
	bool any = capture_best(a, s->t, s->r, &best);
	ck_assert_int_eq(any, s->n > 0);
	if (!any)
		return;
	ck_assert(best.proven);
	check_plan(s, &best);
	found got = figures(&best);
	for (int i = 0; i < s->n; i++)
		if (!least || value(s->r, &s->at[i]) < value(s->r, least))
			least = &s->at[i];
	ck_assert_msg(near(value(s->r, least), value(s->r, &got)),
		      "%g, not %g", value(s->r, &got), value(s->r, least));
	for (int i = 0; i < s->n; i++)
		ck_assert_msg(!near(value(s->r, &s->at[i]),
				    value(s->r, &got)) ||
			      second(s->r, &s->at[i]) >=
			      second(s->r, &got) * (1 - 1e-9) ||
			      !s->r->uneven, "%g, not %g, of value %g",
			      second(s->r, &got), second(s->r, &s->at[i]),
			      value(s->r, &got));
}

/* Nothing is clearly below the frontier, and it is made of plans. */
static void check_frontier(arena *a, const search *s)
{
	capture_plans f = capture_frontier(a, s->t, s->r);
	for (int i = 0; i < s->n; i++) {
		bool below = false;
		for (int k = 0; k < f.n; k++)
			below |= f.at[k].peak <= s->at[i].peak * (1 + 1e-9) &&
				f.at[k].step <= s->at[i].step * (1 + 1e-9);
		ck_assert(below);
	}
	for (int k = 0; k < f.n; k++) {
		check_plan(s, &f.at[k]);
		ck_assert(k == 0 || (f.at[k].peak > f.at[k - 1].peak &&
				     f.at[k].step < f.at[k - 1].step));
	}
	ck_assert_int_eq(f.n > 0, s->n > 0);
}

/* ---- random tables ------------------------------------------------------- */

/* Two or more layers share their parameters. */
static void draw_ties(layer_table *t, draw *d)
{
	t->nties = draw_int(d, 0, t->n / 2);
	for (int tie = 1; tie <= t->nties; tie++)
		for (int i = 0; i < t->n; i++)
			if (i / 2 + 1 == tie ||
			    (i >= 2 * t->nties && draw_int(d, 1, t->nties + 1)
			     == tie))
				t->at[i].tie = tie;
	for (int i = t->n; i-- > 1;) { /* a random order */
		int k = draw_int(d, 0, i), tie = t->at[i].tie;
		t->at[i].tie = t->at[k].tie;
		t->at[k].tie = tie;
	}
	for (int i = 0; i < t->n; i++)
		if (t->at[i].tie > 0)
			t->at[i].params = 11 * t->at[i].tie;
}

static void draw_skips(arena *a, layer_table *t, draw *d)
{
	t->nskips = draw_int(d, 0, 3);
	t->skips = ARENA_ARRAY(a, layer_skip, t->nskips);
	for (int k = 0; k < t->nskips; k++) {
		int from = draw_int(d, 0, t->n - 2);
		t->skips[k] = (layer_skip){ from, draw_int(d, from + 1,
							   t->n - 1),
					    draw_int(d, 0, 40) };
	}
}

static layer_table *draw_table(arena *a, draw *d, int layers, int most)
{
	static const int batches[] = { 1, 2, 3, 4, 6, 8 };
	layer_table *t = ARENA_NEW(a, layer_table);
	t->n = draw_int(d, 1, layers);
	t->at = ARENA_ARRAY(a, layer, t->n);
	for (int i = 0; i < t->n; i++)
		t->at[i] = (layer){ draw_int(d, 0, 30), 10 * draw_int(d, 0, 30),
				    2 * draw_int(d, 0, 30), draw_int(d, 0, 30),
				    draw_int(d, 0, 30), draw_int(d, 0, 30),
				    0 };
	if (draw_int(d, 0, 1))
		draw_ties(t, d);
	if (t->n > 1 && draw_int(d, 0, 1))
		draw_skips(a, t, d);
	t->devices = draw_int(d, 1, most);
	t->node = 1 << draw_int(d, 0, 2);
	t->flops = 100;
	t->intra = 50;
	t->inter = 10;
	t->batch = batches[draw_int(d, 0, 5)];
	return t;
}

static capture_request draw_request(const layer_table *t, draw *d)
{
	static const pipeline_schedule kinds[] = {
		SCHEDULE_1F1B, SCHEDULE_1F1B, SCHEDULE_GPIPE, SCHEDULE_ZB,
	};
	capture_request r = {
		.objective = (capture_objective)draw_int(d, 0, 2),
		.schedule = kinds[draw_int(d, 0, 3)],
		.devices = t->devices, .cap = INFINITY,
		.optimizer = draw_int(d, 0, 1) ? 2 : 6,
		.zero = draw_int(d, 0, 1), .plain = draw_int(d, 0, 3) > 0,
		.recompute = true,
	};
	if (draw_int(d, 0, 3) == 0)
		r.recompute = !r.plain;
	if (draw_int(d, 0, 4) == 0)
		r.micro_batches = draw_int(d, 1, 4);
	return r;
}

/* A limit between the least and the greatest peak, or below all. */
static void limit(search *s, capture_request *r, draw *d)
{
	if (s->n > 0 && draw_int(d, 0, 2) > 0)
		r->cap = s->at[draw_int(d, 0, s->n - 1)].peak * (1 + 1e-6);
	if (s->n > 0 && draw_int(d, 0, 1))
		r->cap = fmin(r->cap, s->at[draw_int(d, 0, s->n - 1)].peak *
			      (draw_int(d, 0, 9) ? 1 + 1e-6 : 0.7));
}

/* Checks many random tables; draws few layers and devices for uneven plans,
 * which are many. */
static void check_random(int rounds, bool is_uneven, uint64_t seed)
{
	draw d = { seed };
	found *room = calloc(MAX_FOUND, sizeof(*room));
	int none = 0, all = 0;
	for (int i = 0; i < rounds; i++) {
		arena *a = arena_new();
		layer_table *t = draw_table(a, &d, is_uneven ? 5 : MAX_LAYERS,
					    is_uneven ? 4 : 6);
		capture_request r = draw_request(t, &d);
		r.uneven = is_uneven;
		search s = { .t = t, .r = &r, .at = room };
		enumerate(&s);
		limit(&s, &r, &d);
		enumerate(&s);
		none += s.n == 0;
		all += s.n;
		ck_assert(capture_fits(t, &r));
		check_best(a, &s);
		if (r.objective != CAPTURE_COST)
			check_frontier(a, &s);
		arena_free(a);
	}
	ck_assert_int_gt(none, 0);
	ck_assert_int_gt(all, 10 * rounds);
	free(room);
}

START_TEST(even_as_enumerated)
{
	check_random(1500, false, 17);
}
END_TEST

START_TEST(uneven_as_enumerated)
{
	check_random(1000, true, 18);
}
END_TEST

/* Where the work for skips is not enough there is a plan all the same, no
 * better than the best one, and it is said. */
START_TEST(too_little_work)
{
	static const stage_way ways[] = {
		{ 1, 1, false }, { 1, 1, true }, { 1, 2, false },
	};
	draw d = { 19 };
	int worse = 0;
	for (int i = 0; i < 500; i++) {
		arena *a = arena_new();
		layer_table *t = draw_table(a, &d, MAX_LAYERS, 6);
		stage_costs costs = stage_costs_new(a, t, 6, false);
		int64_t enough = STAGE_MAX_WORK, none = 0;
		stage_problem p = { &costs, ways, 3, SCHEDULE_1F1B,
				    draw_int(&d, 1, 6), 4, 6, 0, 1, t->n,
				    INFINITY };
		stage_found best, other;
		ck_assert(stage_search_peak(a, &p, INFINITY, &best, &enough));
		ck_assert(stage_search_peak(a, &p, INFINITY, &other, &none));
		ck_assert_int_ge(enough, 0);
		ck_assert_int_eq(none, t->nskips > 0 ? -1 : 0);
		ck_assert(other.peak >= best.peak);
		ck_assert(t->nskips > 0 || other.peak == best.peak);
		worse += other.peak > best.peak;
		arena_free(a);
	}
	ck_assert_int_gt(worse, 0);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("capture");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, even_as_enumerated);
	tcase_add_test(t, uneven_as_enumerated);
	tcase_add_test(t, too_little_work);
	suite_add_tcase(s, t);
	return s;
}
