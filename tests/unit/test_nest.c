/* Tests: layout kernel */
/* nests: what the parts of two have in common, against a visit of all workers;
 * the spans of reads, against the needs of parts. */
#include "config.h"

#include <check.h>

#include "layout/layout.h"
#include "layout/nest.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum { TRIALS = 40000, MOST_NDIM = 3 };

typedef struct scene {
	rng r;
	mesh m;
	uint32_t axes; /* that may cut */
	int n;
	int64_t extent[MOST_NDIM];
	nest x[MOST_NDIM], y[MOST_NDIM];
} scene;

static void draw_nests(scene *s, nest *to)
{
	int order[MAX_AXES];
	for (int d = 0; d < s->n; d++)
		to[d] = nest_none();
	for (int a = 0; a < s->m.naxes; a++)
		order[a] = a;
	for (int a = s->m.naxes - 1; a > 0 && chance(&s->r, 30); a--) {
		int i = pick(&s->r, 0, a), was = order[a];
		order[a] = order[i];
		order[i] = was;
	}
	for (int a = 0; a < s->m.naxes; a++) {
		int d = pick(&s->r, -1, s->n - 1);
		uint32_t one = UINT32_C(1) << order[a];
		if (d >= 0 && (s->axes & one))
			nest_add(&to[d], &s->m, one);
	}
}

static void draw_scene(scene *s)
{
	static const int64_t extents[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12,
					   16, 24, 36, 48 };
	bool alike = chance(&s->r, 60);
	s->m.naxes = pick(&s->r, 1, 5);
	for (int a = 0; a < s->m.naxes; a++)
		s->m.size[a] = alike ? 2 : pick(&s->r, 1, 3);
	s->axes = (UINT32_C(1) << s->m.naxes) - 1;
	if (chance(&s->r, 20))
		s->axes &= ~(UINT32_C(1) << pick(&s->r, 0, s->m.naxes - 1));
	s->n = pick(&s->r, 0, MOST_NDIM);
	for (int d = 0; d < s->n; d++)
		s->extent[d] = extents[pick(&s->r, 0, 14)];
	draw_nests(s, s->x);
	if (chance(&s->r, 30))
		for (int d = 0; d < s->n; d++)
			s->y[d] = s->x[d];
	else
		draw_nests(s, s->y);
}

/* The part of [0, extent) at some coordinates, by the definition of a block. */
static void part_of(const scene *s, const nest *x, int64_t extent,
		    const int *coords, int64_t *lo, int64_t *hi)
{
	*lo = 0;
	*hi = extent;
	for (int i = 0; i < x->n; i++) {
		int a = x->axis[i];
		int64_t from = *lo, n = *hi - *lo;
		*lo = from + n * coords[a] / s->m.size[a];
		*hi = from + n * (coords[a] + 1) / s->m.size[a];
	}
}

typedef struct visit {
	int64_t sum;
	bool covers, empty;
} visit;

static visit visit_all(const scene *s)
{
	int coords[MAX_AXES] = { 0 };
	visit v = { 0, true, false };
	do {
		int64_t n = 1;
		for (int d = 0; d < s->n; d++) {
			int64_t lo, hi, from, to;
			part_of(s, &s->x[d], s->extent[d], coords, &lo, &hi);
			part_of(s, &s->y[d], s->extent[d], coords, &from, &to);
			v.covers = v.covers && lo <= from && hi >= to;
			v.empty = v.empty || lo == hi || from == to;
			lo = lo > from ? lo : from;
			hi = hi < to ? hi : to;
			n *= hi > lo ? hi - lo : 0;
		}
		v.sum += n;
	} while (mesh_next(&s->m, s->axes, coords));
	return v;
}

START_TEST(nests_equal_visits)
{
	int known = 0, crossed = 0, uneven = 0, covered = 0;
	for (int seed = 0; seed < TRIALS; seed++) {
		scene s = { .r = { (uint64_t)seed } };
		const nest *x[MOST_NDIM], *y[MOST_NDIM];
		int64_t sum;
		bool covers = true, even = true;
		if (!sampled(seed))
			continue;
		draw_scene(&s);
		for (int d = 0; d < s.n; d++) {
			x[d] = &s.x[d];
			y[d] = &s.y[d];
			covers = covers && nest_covers(x[d], y[d]);
			even = even && s.extent[d] % x[d]->parts == 0 &&
			       s.extent[d] % y[d]->parts == 0;
		}
		const visit v = visit_all(&s);
		if (!v.empty)
			ck_assert_int_eq(covers, v.covers);
		covered += !v.empty && covers;
		if (!nest_common(&s.m, s.axes, s.n, s.extent, x, y, &sum))
			continue;
		ck_assert_int_eq(sum, v.sum);
		known++;
		crossed += !covers && v.sum > 0;
		uneven += !even;
	}
	ck_assert_int_gt(known, at_least(15000));
	ck_assert_int_gt(crossed, at_least(2000));
	ck_assert_int_gt(uneven, at_least(1000));
	ck_assert_int_gt(covered, at_least(2000));
}
END_TEST

/* ---- spans ------------------------------------------------------------- */

/* Makes all variables and dimensions equally long. */
static void level(kernel *k, int extent)
{
	for (int v = 0; v < k->nvars; v++)
		k->vars[v].extent = extent;
	for (int i = 0; i < k->ninputs; i++)
		for (int d = 0; d < k->inputs[i].ndim; d++)
			k->inputs[i].dims[d] = extent;
}

/* Compares the spans of one input with what a part of the space needs. */
static int check_spans(const kernel *k, const box *part, int input)
{
	int spans[MAX_NVARS], known = 0;
	box need = kernel_need(k, part, input);
	kernel_need_spans(k, input, spans);
	for (int d = 0; d < need.n && !box_is_empty(&need); d++) {
		int v = spans[d];
		if (v == NEED_OTHER)
			continue;
		known += v != NEED_ALL;
		int64_t size = k->inputs[input].dims[d];
		ck_assert_int_eq(need.lo[d], v == NEED_ALL ? 0 : part->lo[v]);
		ck_assert_int_eq(need.hi[d],
				 v == NEED_ALL ? size : part->hi[v]);
	}
	return known;
}

START_TEST(spans_are_needs)
{
	int known = 0;
	for (int seed = 0; seed < TRIALS; seed++) {
		if (!sampled(seed))
			continue;
		rng r = { (uint64_t)seed };
		arena *a = arena_new();
		recipe how = { .max_extent = 7 };
		how.quasi = chance(&r, 40);
		how.conditions = chance(&r, 50);
		how.data = chance(&r, 40);
		how.reduce = chance(&r, 70);
		kernel *k = random_kernel(a, &r, &how);
		if (chance(&r, 70))
			level(k, pick(&r, 1, 7));
		kernel_finish(a, k);
		box part = kernel_space(k);
		for (int v = 0; v < k->nvars; v++) {
			if (part.hi[v] == 0)
				continue;
			part.lo[v] = pick(&r, 0, (int)part.hi[v] - 1);
			part.hi[v] = pick(&r, (int)part.lo[v] + 1,
					  (int)part.hi[v]);
		}
		for (int i = 0; i < k->ninputs; i++)
			known += check_spans(k, &part, i);
		arena_free(a);
	}
	ck_assert_int_gt(known, at_least(500));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("nest");
	TCase *t = tcase_create("nest");
	tcase_add_test(t, nests_equal_visits);
	tcase_add_test(t, spans_are_needs);
	suite_add_tcase(s, t);
	return s;
}
