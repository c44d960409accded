/* Tests: runtime/cpu */
/* The threads' shares of a run: of random kernels the parts are the whole, in
 * whole tiles of what is kept; of products the variable is the one by which a
 * thread has least to read. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "runtime/cpu/shares.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum { CASES = 3000, MOST = 5 };

/* A run and what it reads. */
typedef struct scene {
	box space;
	view inputs[MAX_NINPUTS];
	tdl_keeps keeps[KEPT_SIDES];
	kernel_run run;
} scene;

static void set_up(const kernel *k, const box *space, scene *s)
{
	*s = (scene){ .space = *space };
	for (int i = 0; i < k->ninputs; i++)
		s->inputs[i].at = kernel_need(k, space, i);
	s->run = (kernel_run){ .space = &s->space, .inputs = s->inputs };
}

/* Each variable is of one factor at most. */
static void keep_some(rng *r, const kernel *k, scene *s)
{
	static char slot;
	uint32_t seen = 0;
	for (int i = 0; i < KEPT_SIDES; i++) {
		uint32_t own = 0;
		for (int v = 0; v < k->nout; v++)
			own |= (uint32_t)chance(r, 50) << v;
		own &= ~seen;
		seen |= own;
		s->keeps[i] = (tdl_keeps){ .inputs = 1, .own = own,
					   .tile = pick(r, 1, 16) };
		s->run.kept[i] = own && chance(r, 50) ? &slot : NULL;
	}
}

/* The elements of a factor's own variables ahead of a point are whole tiles, in
 * row-major order, and nothing else is. */
static void expect_tiles(const kernel *k, const scene *s, const shares *d,
			 const box *part)
{
	for (int i = 0; i < KEPT_SIDES; i++) {
		int64_t before = part->lo[d->var] - s->space.lo[d->var];
		uint32_t own = s->keeps[i].own;
		if (!s->run.kept[i] || !(own >> d->var & 1))
			continue;
		for (int v = 0; v < k->nout; v++) {
			int64_t n = s->space.hi[v] - s->space.lo[v];
			if (!(own >> v & 1) || v == d->var)
				continue;
			ck_assert(v > d->var || n <= 1);
			before *= v > d->var ? n : 1;
		}
		ck_assert_int_eq(before % s->keeps[i].tile, 0);
	}
}

static void expect_whole(const kernel *k, const scene *s, const shares *d)
{
	int64_t at = s->space.lo[d->var];
	for (int i = 0; i < d->nparts; i++) {
		box part = shares_part(d, &s->space, i);
		for (int v = 0; v < k->nvars; v++)
			if (v != d->var || d->nparts == 1) {
				ck_assert_int_eq(part.lo[v], s->space.lo[v]);
				ck_assert_int_eq(part.hi[v], s->space.hi[v]);
			}
		if (d->nparts == 1)
			return;
		ck_assert_int_eq(part.lo[d->var], at);
		ck_assert_int_gt(part.hi[d->var], at);
		at = part.hi[d->var];
		expect_tiles(k, s, d, &part);
	}
	ck_assert_int_eq(at, s->space.hi[d->var]);
}

START_TEST(parts_are_the_whole)
{
	const recipe how = { .conditions = true, .reduce = true,
			     .max_extent = 40 };
	int ndivided = 0;
	for (int seed = 0; seed < CASES; seed++) {
		arena *a = arena_new();
		rng r = { (uint64_t)seed };
		kernel *k = random_kernel(a, &r, &how);
		kernel_finish(a, k);
		box space = random_part(&r, k);
		int n = pick(&r, 1, MOST);
		scene s;
		set_up(k, &space, &s);
		keep_some(&r, k, &s);
		shares d = shares_of(k, &s.run, shares_reads(a, k), s.keeps, n);
		ck_assert_int_ge(d.nparts, 1);
		ck_assert_int_le(d.nparts, n);
		expect_whole(k, &s, &d);
		ndivided += d.nparts > 1;
		arena_free(a);
	}
	ck_assert_int_gt(ndivided, CASES / 4);
}
END_TEST

/* c[i, j] = sum of a[i, p] * b[p, j] */
static kernel *product(arena *a, int64_t rows, int64_t cols, int64_t depth)
{
	kernel *k = ARENA_NEW(a, kernel);
	const int64_t extents[] = { rows, cols, depth };
	kexpr *i = kx_var(a, 0), *j = kx_var(a, 1), *p = kx_var(a, 2);
	*k = (kernel){ .name = "product", .type = DT_F32, .reducer = RED_SUM,
		       .nvars = 3, .nout = 2, .ninputs = 2,
		       .vars = ARENA_ARRAY(a, kvar, 3),
		       .inputs = ARENA_ARRAY(a, kinput, 2) };
	for (int v = 0; v < 3; v++)
		k->vars[v] = (kvar){ .name = "v", .extent = extents[v],
				     .kind = v < 2 ? KVAR_OUTPUT :
						     KVAR_REDUCE };
	k->inputs[0] = (kinput){ "a", DT_F32, 2, { rows, depth } };
	k->inputs[1] = (kinput){ "b", DT_F32, 2, { depth, cols } };
	k->body = kx_fn2(a, FN_MUL,
			 kx_read(a, 0, DT_F32, 2, (kexpr *[]){ i, p }, NULL),
			 kx_read(a, 1, DT_F32, 2, (kexpr *[]){ p, j }, NULL));
	kernel_finish(a, k);
	return k;
}

START_TEST(products)
{
	static const struct {
		int64_t rows, cols, depth;
		int n, var, nparts;
	} cases[] = {
		{ 8, 4096, 64, 2, 1, 2 }, /* most is read of columns */
		{ 4096, 8, 64, 2, 0, 2 },
		{ 7, 512, 64, 2, 1, 2 },
		{ 3, 4, 100000, 4, 1, 4 }, /* all have a part of these */
		{ 1, 5, 9, 4, 1, 4 },
		{ 1, 1, 900, 4, 0, 1 },
		{ 64, 64, 64, 1, 0, 1 },
		{ 0, 64, 64, 3, 1, 3 },
	};
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		arena *a = arena_new();
		kernel *k = product(a, cases[c].rows, cases[c].cols,
				    cases[c].depth);
		box space = kernel_space(k);
		scene s;
		set_up(k, &space, &s);
		shares d = shares_of(k, &s.run, shares_reads(a, k), s.keeps,
				     cases[c].n);
		ck_assert_int_eq(d.nparts, cases[c].nparts);
		ck_assert(d.nparts == 1 || d.var == cases[c].var);
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("shares");
	TCase *c = tcase_create("shares");
	tcase_add_test(c, parts_are_the_whole);
	tcase_add_test(c, products);
	suite_add_tcase(s, c);
	return s;
}
