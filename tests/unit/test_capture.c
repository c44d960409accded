/* Tests: compiler/placement */
/* compiler/placement: plans over replicas, tensors, stages, against
 * enumeration of all plans and all splits. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "compiler/placement/capture.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_LAYERS = 6, MAX_FOUND = 1 << 15 };

typedef struct found {
	double peak, step, cost;
} found;

typedef struct search {
	const layer_table *t;
	const capture_request *r;
	int D, d, tp, p, u, m;
	bool rec;
	int cut[MAX_LAYERS + 1];
	found *at;
	int n;
} search;

static double bw(const layer_table *t, int span)
{
	return span <= t->node ? t->intra : t->inter;
}

static int in_flight(const search *s, int stage)
{
	int n = s->p - stage;
	if (s->r->schedule == SCHEDULE_GPIPE)
		return s->m;
	return s->m < n ? s->m : n;
}

/* A stage from the definition: its time; peak and exchange are raised. */
static double stage(const search *s, int k, double *peak, double *sync)
{
	const layer_table *t = s->t;
	double P = 0, F = 0, A = 0, R = 0, AR = 0, n = s->tp;
	int i = s->cut[k], j = s->cut[k + 1];
	for (int l = i; l < j; l++) {
		P += t->at[l].params;
		F += t->at[l].flops;
		A += t->at[l].act;
		R += t->at[l].rep;
		AR += t->at[l].ar;
	}
	double in = i ? t->at[i - 1].edge : 0;
	double out = j < t->n ? t->at[j - 1].edge : 0;
	double time = s->u * (s->rec ? 4 : 3) * F / (n * t->flops);
	time += (s->rec ? 6 : 4) * 2 * (n - 1) / n * s->u * AR / bw(t, s->tp);
	if (s->p > 1)
		time += 2 * s->u * (in + out) / bw(t, 2 * s->d * s->tp);
	double acts = s->u * (A / n + R), kept = s->u * in;
	double bytes = 2 * P / n +
		s->r->optimizer * P / n / (s->r->zero ? s->d : 1);
	if (s->rec)
		bytes += acts;
	else
		kept += acts;
	bytes += in_flight(s, k) * kept;
	*peak = fmax(*peak, bytes);
	*sync = fmax(*sync, 2.0 * (s->d - 1) / s->d * P / n /
		     bw(t, s->d * s->tp));
	return time;
}

static void splits(search *s, int k)
{
	if (k == s->p - 1) {
		double peak = 0, sync = 0, sum = 0, most = 0;
		s->cut[s->p] = s->t->n;
		for (int i = 0; i < s->p; i++) {
			double time = stage(s, i, &peak, &sync);
			sum += time;
			most = fmax(most, time);
		}
		double step = sum + (s->m - 1) * most + sync;
		if (peak > s->r->cap)
			return;
		ck_assert_int_lt(s->n, MAX_FOUND);
		s->at[s->n++] = (found){ peak, step, step * s->D };
		return;
	}
	for (int c = s->cut[k] + 1; c <= s->t->n - (s->p - 1 - k); c++) {
		s->cut[k + 1] = c;
		splits(s, k + 1);
	}
}

static void enumerate(search *s)
{
	const layer_table *t = s->t;
	int B = t->batch;
	s->D = s->r->objective == CAPTURE_COST ? 1 : s->r->devices;
	for (; s->D <= s->r->devices; s->D++)
		for (s->tp = 1; s->tp <= 8 && s->tp <= t->node; s->tp *= 2)
			for (s->d = 1; s->d * s->tp <= s->D; s->d++)
				for (s->u = 1; s->u * s->d <= B; s->u++)
					for (int rec = 0; rec < 2; rec++) {
						s->rec = rec;
						s->p = s->D / s->d / s->tp;
						s->m = B / s->d / s->u;
						if (s->p * s->d * s->tp !=
						    s->D || s->p > t->n ||
						    s->m * s->d * s->u != B)
							continue;
						splits(s, 0);
					}
}

static layer_table *draw_table(arena *a, draw *d)
{
	layer_table *t = ARENA_NEW(a, layer_table);
	t->n = draw_int(d, 2, MAX_LAYERS);
	t->at = ARENA_ARRAY(a, layer, t->n);
	for (int i = 0; i < t->n; i++)
		t->at[i] = (layer){ draw_int(d, 1, 30), 10 * draw_int(d, 1, 30),
				    2 * draw_int(d, 1, 30), draw_int(d, 1, 30),
				    draw_int(d, 1, 30), draw_int(d, 1, 30) };
	t->devices = draw_int(d, 1, 6);
	t->node = 4;
	t->flops = 100;
	t->intra = 50;
	t->inter = 10;
	t->batch = 8;
	return t;
}

static bool near(double x, double y)
{
	return fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y));
}

static double value(const capture_request *r, const found *f)
{
	return r->objective == CAPTURE_PEAK ? f->peak :
		r->objective == CAPTURE_TIME ? f->step : f->cost;
}

static void check_best(arena *a, const search *s)
{
	capture_plan best;
	const found *least = NULL;
	bool any = capture_best(a, s->t, s->r, &best);
	ck_assert_int_eq(any, s->n > 0);
	if (!any)
		return;
	found got = { best.split.peak, best.split.step,
		      best.split.step * best.devices };
	for (int i = 0; i < s->n; i++)
		if (!least || value(s->r, &s->at[i]) < value(s->r, least))
			least = &s->at[i];
	ck_assert_msg(near(value(s->r, least), value(s->r, &got)),
		      "%g, not %g", value(s->r, &got), value(s->r, least));
	bool there = false;
	for (int i = 0; i < s->n; i++)
		there |= near(s->at[i].peak, got.peak) &&
			near(s->at[i].step, got.step);
	ck_assert(there);
}

/* Nothing is clearly below the frontier, and it is made of plans. */
static void check_frontier(arena *a, const search *s)
{
	capture_plans f = capture_frontier(a, s->t, s->r);
	for (int i = 0; i < s->n; i++) {
		bool below = false;
		for (int k = 0; k < f.n; k++)
			below |= f.at[k].split.peak <=
				s->at[i].peak * (1 + 1e-9) &&
				f.at[k].split.step <=
				s->at[i].step * (1 + 1e-9);
		ck_assert(below);
	}
	for (int k = 0; k < f.n; k++) {
		bool there = false;
		for (int i = 0; i < s->n; i++)
			there |= near(s->at[i].peak, f.at[k].split.peak) &&
				near(s->at[i].step, f.at[k].split.step);
		ck_assert(there);
		ck_assert(k == 0 || (f.at[k].split.peak >
				     f.at[k - 1].split.peak &&
				     f.at[k].split.step <
				     f.at[k - 1].split.step));
	}
	ck_assert_int_eq(f.n > 0, s->n > 0);
}

START_TEST(as_enumerated)
{
	draw d = { 17 };
	found *room = calloc(MAX_FOUND, sizeof(*room));
	for (int i = 0; i < 1500; i++) {
		arena *a = arena_new();
		layer_table *t = draw_table(a, &d);
		capture_request r = {
			.objective = (capture_objective)(i % 3),
			.schedule = draw_int(&d, 0, 1) ? SCHEDULE_1F1B :
				SCHEDULE_GPIPE,
			.devices = t->devices,
			.cap = draw_int(&d, 0, 2) == 0 ? INFINITY :
				draw_int(&d, 0, 1) ? 400 : 900,
			.optimizer = draw_int(&d, 0, 1) ? 2 : 6,
			.zero = draw_int(&d, 0, 1),
			.plain = true, .recompute = true,
		};
		search s = { .t = t, .r = &r, .at = room };
		enumerate(&s);
		check_best(a, &s);
		if (r.objective != CAPTURE_COST)
			check_frontier(a, &s);
		arena_free(a);
	}
	free(room);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("capture");
	TCase *t = tcase_create("all");
	tcase_add_test(t, as_enumerated);
	suite_add_tcase(s, t);
	return s;
}
