/* Tests: kernel layout */
/* kernel/region and kernel/access: boxes against enumeration, blocks, and the
 * regions that random kernels read against the reads that they make. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "kernel/linearity.h"
#include "layout/mesh.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum { KERNELS = 3000, PARTS = 4 };

/* ---- boxes against enumeration ----------------------------------------- */

static box small_box(rng *r, int n)
{
	box b = { .n = n };
	for (int d = 0; d < n; d++) {
		b.lo[d] = pick(r, -2, 3);
		b.hi[d] = b.lo[d] + pick(r, 0, 4);
	}
	if (!box_is_empty(&b))
		return b;
	return box_empty(n);
}

static bool holds(const box *b, const int64_t *p)
{
	for (int d = 0; d < b->n; d++)
		if (p[d] < b->lo[d] || p[d] >= b->hi[d])
			return false;
	return true;
}

static bool next_point(int64_t *p, int n, int64_t lo, int64_t hi)
{
	for (int d = n; d-- > 0;) {
		if (++p[d] < hi)
			return true;
		p[d] = lo;
	}
	return false;
}

START_TEST(boxes)
{
	rng r = { (uint64_t)_i };
	int n = pick(&r, 0, 3);
	box a = small_box(&r, n), b = small_box(&r, n);
	box both = box_intersect(&a, &b), hull = box_hull(&a, &b);
	int64_t in_a = 0, in_both = 0, lo[4], hi[4], p[4] = { -3, -3, -3, -3 };
	bool some = false;
	do {
		in_a += holds(&a, p);
		in_both += holds(&a, p) && holds(&b, p);
		ck_assert_msg(holds(&both, p) == (holds(&a, p) &&
						  holds(&b, p)),
			      "intersection, seed %d", _i);
		if (!holds(&a, p) && !holds(&b, p))
			continue;
		for (int d = 0; d < n; d++) {
			lo[d] = some && lo[d] < p[d] ? lo[d] : p[d];
			hi[d] = some && hi[d] > p[d] ? hi[d] : p[d] + 1;
		}
		some = true;
	} while (next_point(p, n, -3, 8));
	ck_assert_msg(box_volume(&a) == in_a, "volume, seed %d", _i);
	ck_assert_msg(box_volume_less(&a, &b) == in_a - in_both,
		      "difference, seed %d", _i);
	ck_assert_msg(box_is_empty(&hull) == !some, "hull, seed %d", _i);
	for (int d = 0; some && d < n; d++)
		ck_assert_msg(hull.lo[d] == lo[d] && hull.hi[d] == hi[d],
			      "hull, seed %d", _i);
	ck_assert_msg(box_contains(&a, &b) ==
		      (box_volume_less(&b, &a) == 0), "inside, seed %d", _i);
	ck_assert(box_equal(&a, &a) && box_contains(&hull, &a));
	ck_assert_msg(box_equal(&a, &b) ==
		      (box_contains(&a, &b) && box_contains(&b, &a)),
		      "equality, seed %d", _i);
}
END_TEST

START_TEST(counting)
{
	rng r = { (uint64_t)_i };
	int n = pick(&r, 0, 4);
	box outer = small_box(&r, n), other = small_box(&r, n);
	box inner = box_intersect(&outer, &other);
	int64_t seen = 0, count = 0, p[4] = { 0 };
	for (int d = 0; d < n; d++)
		p[d] = outer.lo[d];
	ck_assert_int_eq(box_count_before(&outer, &inner, -1), 0);
	ck_assert_int_eq(box_count_before(&outer, &inner, 0), 0);
	for (bool more = !box_is_empty(&outer); more;) {
		count += holds(&inner, p);
		seen++;
		ck_assert_msg(box_count_before(&outer, &inner, seen) == count,
			      "first %d, seed %d", (int)seen, _i);
		more = false;
		for (int d = n; d-- > 0 && !more;) {
			more = ++p[d] < outer.hi[d];
			if (!more)
				p[d] = outer.lo[d];
		}
	}
	ck_assert_int_eq(box_count_before(&outer, &inner, seen + 5), count);
}
END_TEST

START_TEST(whole_and_huge)
{
	int64_t dims[] = { 3, 0, 2 }, huge[] = { INT64_MAX / 2, 7 };
	box empty = box_whole(dims, 3), scalar = box_whole(dims, 0);
	ck_assert(box_is_empty(&empty));
	for (int d = 0; d < 3; d++)
		ck_assert(empty.lo[d] == 0 && empty.hi[d] == 0);
	ck_assert_int_eq(box_volume(&scalar), 1);
	ck_assert_int_eq(box_count_before(&scalar, &scalar, 1), 1);
	box h = box_whole(huge, 2);
	ck_assert_int_eq(box_volume(&h), INT64_MAX);
}
END_TEST

/* ---- blocks ------------------------------------------------------------ */

START_TEST(blocks)
{
	rng r = { (uint64_t)_i };
	mesh m = { .naxes = pick(&r, 0, 4) };
	int64_t dims[3], counts[9 * 9 * 9] = { 0 };
	cuts c = cuts_none();
	for (int d = 0; d < 3; d++)
		dims[d] = pick(&r, 0, 9);
	for (int a = 0; a < m.naxes; a++) {
		m.size[a] = pick(&r, 1, 4);
		c.dim[a] = (signed char)pick(&r, CUT_NONE, 2);
	}
	box whole = box_whole(dims, 3);
	int naxes = pick(&r, 0, m.naxes);
	int64_t smallest[3] = { INT64_MAX, INT64_MAX, INT64_MAX };
	int copies = 1, coords[MAX_AXES];
	for (int a = 0; a < m.naxes; a++)
		copies *= a >= naxes || c.dim[a] == CUT_NONE ? m.size[a] : 1;
	for (int w = 0; w < mesh_workers(&m); w++) {
		mesh_coords(&m, w, coords);
		ck_assert_int_eq(mesh_worker(&m, coords), w);
		box b = cuts_block(&whole, &m, &c, naxes, coords);
		ck_assert(box_contains(&whole, &b));
		for (int d = 0; d < 3; d++) {
			int64_t n = b.hi[d] - b.lo[d];
			smallest[d] = n < smallest[d] ? n : smallest[d];
		}
		for (int64_t i = b.lo[0]; i < b.hi[0]; i++)
			for (int64_t j = b.lo[1]; j < b.hi[1]; j++)
				for (int64_t l = b.lo[2]; l < b.hi[2]; l++)
					counts[(i * 9 + j) * 9 + l]++;
	}
	for (int64_t i = 0; i < 9 * 9 * 9; i++) {
		int64_t p[] = { i / 81, i / 9 % 9, i % 9 };
		ck_assert_msg(counts[i] == (holds(&whole, p) ? copies : 0),
			      "the blocks are no partition, seed %d", _i);
	}
	for (int d = 0; d < 3; d++) {
		int64_t s = cuts_smallest(dims[d], &m, &c, naxes, d);
		if (!box_is_empty(&whole) && smallest[d] > 0)
			ck_assert_msg(s == smallest[d],
				      "the smallest block, seed %d", _i);
	}
}
END_TEST

START_TEST(block_bounds)
{
	int64_t lo, hi, huge = (int64_t)1 << 60;
	mesh m = { 2, { 2, 3 } };
	cuts c = cuts_none();
	c.dim[0] = c.dim[1] = 0;
	box whole = box_whole((int64_t[]){ 7 }, 1);
	box b = cuts_block(&whole, &m, &c, 2, (int[]){ 1, 2 });
	ck_assert(b.lo[0] == 5 && b.hi[0] == 7);
	b = cuts_block(&whole, &m, &c, 2, (int[]){ 0, 1 });
	ck_assert(b.lo[0] == 1 && b.hi[0] == 2);
	ck_assert_int_eq(cuts_smallest(7, &m, &c, 2, 0), 1);
	ck_assert_int_eq(cuts_smallest(7, &m, &c, 1, 0), 3);
	ck_assert_int_eq(cuts_smallest(7, &m, &c, 2, 1), 7);
	block(10, 17, 1, 3, &lo, &hi);
	ck_assert(lo == 12 && hi == 14);
	block(0, huge, 1023, 1024, &lo, &hi);
	ck_assert(lo == huge / 1024 * 1023 && hi == huge);
}
END_TEST

/* ---- what kernels read ------------------------------------------------- */

/* Per read of the body, the least and greatest of each index where it is
 * made. */
typedef struct sight {
	const kexpr *read;
	int64_t lo[MAX_NDIM], hi[MAX_NDIM];
} sight;

typedef struct sights {
	const kernel *k;
	int n;
	sight at[256];
	box elements[MAX_NINPUTS]; /* around what is inside the input */
	bool some[MAX_NINPUTS];
} sights;

static void extend(int64_t *lo, int64_t *hi, int64_t i, bool first)
{
	*lo = first || i < *lo ? i : *lo;
	*hi = first || i + 1 > *hi ? i + 1 : *hi;
}

static void see(void *ctx, const kexpr *read, const int64_t *index)
{
	sights *s = ctx;
	const kinput *in = &s->k->inputs[read->input];
	int i = 0;
	bool inside = true;
	while (i < s->n && s->at[i].read != read)
		i++;
	bool first = i == s->n;
	if (first) {
		ck_assert_int_lt(s->n, 256);
		s->at[s->n++].read = read;
	}
	for (int d = 0; d < in->ndim; d++) {
		extend(&s->at[i].lo[d], &s->at[i].hi[d], index[d], first);
		inside &= index[d] >= 0 && index[d] < in->dims[d];
	}
	if (!inside)
		return;
	box *b = &s->elements[read->input];
	for (int d = 0; d < in->ndim; d++)
		extend(&b->lo[d], &b->hi[d], index[d],
		       !s->some[read->input]);
	s->some[read->input] = true;
}

static void watch(arena *a, rng *r, const kernel *k, const box *space,
		  sights *s)
{
	oracle o = { .k = k, .space = space, .seen = see, .ctx = s,
		     .data = random_data(a, r, k) };
	int n = oracle_loops(k);
	*s = (sights){ .k = k };
	for (int i = 0; i < k->ninputs; i++)
		s->elements[i] = box_empty(k->inputs[i].ndim);
	for (bool more = oracle_start(&o, 0, n); more;
	     more = oracle_next(&o, 0, n))
		oracle_value(&o, k->body);
}

/* The box of the index expressions, clipped to the input. */
static box expected(const sights *s, int input)
{
	const kinput *in = &s->k->inputs[input];
	box all = box_empty(in->ndim);
	bool some = false;
	for (int i = 0; i < s->n; i++) {
		const sight *at = &s->at[i];
		if (at->read->input != input)
			continue;
		box b = { .n = in->ndim }, dims = box_whole(in->dims, b.n);
		for (int d = 0; d < b.n; d++) {
			b.lo[d] = at->lo[d];
			b.hi[d] = at->hi[d];
		}
		b = box_intersect(&b, &dims);
		all = some ? box_hull(&all, &b) : b;
		some = true;
	}
	return all;
}

static void check_needs(rng *r, const recipe *how, bool exact, int seed)
{
	arena *a = arena_new();
	kernel *k = random_kernel(a, r, how);
	if (how->data)
		kernel_derive(a, k);
	kernel_finish(a, k);
	box needs[MAX_NINPUTS];
	sights *s = ARENA_NEW(a, sights);
	for (int part = 0; part < PARTS; part++) {
		box space = random_part(r, k);
		watch(a, r, k, &space, s);
		kernel_needs(k, &space, needs);
		for (int i = 0; i < k->ninputs; i++) {
			box one = kernel_need(k, &space, i);
			box truth = expected(s, i);
			ck_assert(box_equal(&one, &needs[i]));
			ck_assert_msg(!s->some[i] || box_contains(&needs[i],
							&s->elements[i]),
				      "input %d is read outside: %.900s, "
				      "seed %d", i, kernel_text(a, k), seed);
			ck_assert_msg(!exact || box_equal(&needs[i], &truth),
				      "input %d, dim 0: %d..%d, not %d..%d: "
				      "%.900s, seed %d", i, (int)needs[i].lo[0],
				      (int)needs[i].hi[0], (int)truth.lo[0],
				      (int)truth.hi[0], kernel_text(a, k),
				      seed);
		}
	}
	arena_free(a);
}

START_TEST(affine_is_exact)
{
	recipe how = { .max_extent = 6, .reduce = true };
	rng r = { (uint64_t)_i * 1000003 };
	for (int i = 0; i < KERNELS / 20; i++)
		check_needs(&r, &how, true, _i);
}
END_TEST

START_TEST(conditions_are_exact)
{
	recipe how = { .max_extent = 6, .reduce = true, .conditions = true };
	rng r = { (uint64_t)_i * 1000003 + 1 };
	for (int i = 0; i < KERNELS / 20; i++)
		check_needs(&r, &how, true, _i);
}
END_TEST

START_TEST(reads_are_contained)
{
	recipe how = { .max_extent = 5, .reduce = true, .quasi = _i & 1,
		       .joint = true, .conditions = _i & 2, .data = _i & 4 };
	rng r = { (uint64_t)_i * 1000003 + 2 };
	for (int i = 0; i < KERNELS / 40; i++)
		check_needs(&r, &how, false, _i);
}
END_TEST

/* ---- by hand ----------------------------------------------------------- */

/* out[i, j] of extents 8, 8 reads t at one index, under a condition or not. */
static kernel *reader(arena *a, kexpr *index, kexpr *when, int64_t size)
{
	kernel *k = ARENA_NEW(a, kernel);
	k->nvars = k->nout = 2;
	k->vars = ARENA_ARRAY(a, kvar, 2);
	k->vars[0] = (kvar){ .name = "i", .extent = 8 };
	k->vars[1] = (kvar){ .name = "j", .extent = 8 };
	k->type = DT_I64;
	k->ninputs = 1;
	k->inputs = ARENA_ARRAY(a, kinput, 1);
	k->inputs[0] = (kinput){ "t", DT_I64, 1, { size } };
	k->body = kx_read(a, 0, DT_I64, 1, &index, NULL);
	if (when)
		k->body = kx_select(a, when, k->body, kx_int(a, 0, DT_I64));
	kernel_finish(a, k);
	return k;
}

#define I kx_var(a, 0)
#define J kx_var(a, 1)
#define N(n) kx_int(a, n, DT_I64)
#define F(f, x, y) kx_fn2(a, FN_##f, x, y)

START_TEST(known_regions)
{
	arena *a = arena_new();
	struct {
		kexpr *index, *when;
		int64_t ilo, ihi, jlo, jhi; /* the part */
		int64_t lo, hi;		    /* of a tensor of 100 */
	} cases[] = {
		/* One period of a remainder is exact, else it is whole. */
		{ F(MOD, I, N(4)), NULL, 4, 6, 0, 8, 0, 2 },
		{ F(MOD, I, N(4)), NULL, 5, 8, 0, 8, 1, 4 },
		{ F(MOD, I, N(4)), NULL, 3, 5, 0, 8, 0, 4 },
		{ F(DIV, I, N(3)), NULL, 3, 7, 0, 8, 1, 3 },
		/* A variable that occurs twice. */
		{ F(SUB, F(ADD, I, J), I), NULL, 2, 7, 3, 4, 3, 4 },
		/* A negative coefficient swaps the bounds. */
		{ F(SUB, N(20), F(MUL, N(2), I)), NULL, 2, 5, 0, 8, 12, 17 },
		/* 16 (i, j) is a row of 16: exact through / and %. */
		{ F(DIV, F(ADD, F(MUL, N(16), I), J), N(16)), NULL,
		  2, 5, 0, 8, 2, 5 },
		{ F(MOD, F(ADD, F(MUL, N(16), I), J), N(16)), NULL,
		  2, 5, 3, 6, 3, 6 },
		{ F(MIN, I, N(3)), NULL, 1, 8, 0, 8, 1, 4 },
		{ F(MAX, I, J), NULL, 1, 3, 2, 6, 2, 6 },
		{ kx_fn1(a, FN_ABS, F(SUB, I, N(4))), NULL,
		  1, 6, 0, 8, 0, 4 },
		/* Conditions. */
		{ I, F(LT, I, N(3)), 0, 8, 0, 8, 0, 3 },
		{ I, F(LT, I, N(3)), 3, 8, 0, 8, 0, 0 },
		{ I, F(LT, I, J), 0, 8, 0, 4, 0, 3 },
		{ I, F(EQ, I, J), 2, 8, 0, 5, 2, 5 },
		{ I, F(NE, I, N(0)), 0, 3, 0, 8, 1, 3 },
		{ I, F(AND, F(GE, I, N(2)), F(LE, I, N(5))), 0, 8, 0, 8,
		  2, 6 },
		{ I, F(OR, F(LT, I, N(2)), F(EQ, I, N(4))), 0, 8, 0, 8, 0, 5 },
		{ I, F(LT, F(DIV, I, N(3)), N(2)), 0, 8, 0, 8, 0, 6 },
		{ I, F(EQ, F(MOD, I, N(3)), N(1)), 2, 7, 0, 8, 4, 5 },
		{ J, F(GE, F(MAX, I, J), N(3)), 0, 4, 0, 4, 0, 4 },
		{ J, F(GE, F(MAX, I, J), N(4)), 0, 4, 0, 8, 4, 8 },
		{ I, F(GE, F(MAX, I, J), N(4)), 0, 8, 0, 4, 4, 8 },
		{ J, F(LE, F(MIN, I, J), N(3)), 3, 8, 3, 8, 3, 8 },
		{ J, F(LE, F(MIN, I, J), N(3)), 4, 8, 0, 8, 0, 4 },
		{ I, F(LT, kx_fn1(a, FN_ABS, F(SUB, I, N(4))), N(2)),
		  0, 8, 0, 8, 3, 6 },
		/* A condition on the index as a whole. */
		{ F(ADD, I, J), F(LT, F(ADD, I, J), N(5)), 0, 8, 0, 8, 0, 5 },
		{ F(ADD, I, J), F(GE, N(9), F(ADD, F(MUL, N(2), I),
					      F(MUL, N(2), J))),
		  1, 8, 1, 8, 2, 5 },
		/* A choice inside the index. */
		{ kx_select(a, F(LT, I, N(4)), F(ADD, I, N(50)), I), NULL,
		  2, 4, 0, 8, 52, 54 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kernel *k = reader(a, cases[i].index, cases[i].when, 100);
		box part = { 2, { cases[i].ilo, cases[i].jlo },
			     { cases[i].ihi, cases[i].jhi } };
		box need = kernel_need(k, &part, 0);
		ck_assert_msg(need.lo[0] == cases[i].lo &&
			      need.hi[0] == cases[i].hi,
			      "case %zu: %s reads [%d, %d), not [%d, %d)", i,
			      kernel_text(a, k), (int)need.lo[0],
			      (int)need.hi[0], (int)cases[i].lo,
			      (int)cases[i].hi);
	}
	arena_free(a);
}
END_TEST

START_TEST(leaving_reads)
{
	arena *a = arena_new();
	outside o;
	kernel *k = reader(a, F(ADD, I, J), NULL, 15);
	ck_assert(!kernel_reads_outside(k, &o));
	k = reader(a, F(ADD, I, J), NULL, 14);
	ck_assert(kernel_reads_outside(k, &o));
	ck_assert(o.read == k->body && o.dim == 0 && o.known);
	ck_assert(o.lo == 0 && o.hi == 15 && o.size == 14);
	k = reader(a, F(SUB, I, N(1)), NULL, 14);
	ck_assert(kernel_reads_outside(k, &o) && o.lo == -1);
	k = reader(a, F(ADD, I, J), F(LT, F(ADD, I, J), N(14)), 14);
	ck_assert(!kernel_reads_outside(k, &o));
	k = reader(a, F(SUB, I, N(1)), F(GT, I, N(0)), 14);
	ck_assert(!kernel_reads_outside(k, &o));
	k = reader(a, F(SUB, I, N(1)), F(LT, I, N(-1)), 14);
	ck_assert(!kernel_reads_outside(k, &o));
	/* The interval of each term alone reaches below 0. */
	k = reader(a, F(SUB, I, F(DIV, I, N(2))), NULL, 14);
	ck_assert(!kernel_reads_outside(k, &o));
	k = reader(a, F(SUB, F(DIV, I, N(2)), I), NULL, 14);
	ck_assert(kernel_reads_outside(k, &o));
	k = reader(a, F(POW, I, N(2)), NULL, 14);
	ck_assert(kernel_reads_outside(k, &o) && !o.known);
	arena_free(a);
}
END_TEST

/* Indices whose values do not fit are followed no further: the input is
 * needed whole. */
START_TEST(huge_indices)
{
	arena *a = arena_new();
	kexpr *e = I;
	for (int n = 0; n < 40; n++)
		e = F(MUL, e, N(1000003));
	kernel *k = reader(a, e, F(LT, e, N(5)), 9);
	box space = kernel_space(k), need = kernel_need(k, &space, 0);
	ck_assert(need.lo[0] == 0 && need.hi[0] == 9);
	k = reader(a, F(ADD, F(MUL, N(INT64_MAX), I), J), NULL, 9);
	need = kernel_need(k, &space, 0);
	ck_assert(need.lo[0] == 0 && need.hi[0] == 9);
	k = reader(a, F(MOD, I, N(INT64_MIN)), NULL, 9);
	need = kernel_need(k, &space, 0);
	ck_assert(need.lo[0] == 0 && need.hi[0] == 9);
	arena_free(a);
}
END_TEST

/* Conditions in conditions, and minima in minima, to the depth that an
 * expression may have: neither time nor stack may explode. */
START_TEST(deep_indices)
{
	arena *a = arena_new();
	kexpr *choice = I, *least = I, *cond = F(LT, I, N(3));
	for (int n = 0; n < MAX_KEXPR_DEPTH / 4; n++) {
		choice = kx_select(a, F(LT, choice, N(n)), I, J);
		least = F(MIN, F(ADD, I, N(n)), F(MAX, least, N(-n)));
		cond = F(AND, F(LT, J, N(n + 1)),
			 F(OR, F(EQ, I, N(n)), cond));
	}
	kernel *k = reader(a, choice, cond, 100);
	box space = kernel_space(k), need = kernel_need(k, &space, 0);
	ck_assert_int_eq(need.n, 1);
	k = reader(a, least, F(LT, least, N(3)), 100);
	need = kernel_need(k, &space, 0);
	ck_assert(need.lo[0] == 0 && need.hi[0] == 3);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("region");
	TCase *t = tcase_create("region");
	tcase_add_loop_test(t, boxes, 0, 400);
	tcase_add_loop_test(t, counting, 0, 200);
	tcase_add_test(t, whole_and_huge);
	tcase_add_loop_test(t, blocks, 0, 300);
	tcase_add_test(t, block_bounds);
	tcase_add_loop_test(t, affine_is_exact, 0, 10);
	tcase_add_loop_test(t, conditions_are_exact, 0, 10);
	tcase_add_loop_test(t, reads_are_contained, 0, 32);
	tcase_add_test(t, known_regions);
	tcase_add_test(t, leaving_reads);
	tcase_add_test(t, huge_indices);
	tcase_add_test(t, deep_indices);
	suite_add_tcase(s, t);
	return s;
}
