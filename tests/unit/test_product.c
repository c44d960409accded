/* Tests: include/tdl
 *
 * The loop of products, tdl/product.h, beside sums in f64: factors that lie in
 * memory in either order, with gaps or in images, or that are packed, of more
 * rows, columns and terms than blocks have; also where columns are read in a
 * window for which there are no planes.  The functions of tdl/scalar.h that
 * keep a NaN and the sign of 0. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tdl/kernels.h"
#include "tests/unit/suite.h"

static uint64_t state = 88172645463325252u;

static int64_t pick(int64_t lo, int64_t hi)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return lo + (int64_t)(state % (uint64_t)(hi - lo));
}

/* A factor of n rows or columns: element (d, i) at x[d * depth + i * step], of
 * each `run' of them, which are `far' apart. */
typedef struct factor {
	float *x;
	int64_t depth, step, run, far;
} factor;

typedef struct product {
	factor f[2];
	int64_t rows, cols, depth;
	float *out;
} product;

/* The product that a pack or a store is for. */
static const product *the(const tdl_product *p)
{
	return p->args->in[0].data;
}

static int64_t place(const factor *f, int64_t d, int64_t i)
{
	return d * f->depth + i / f->run * f->far + i % f->run * f->step;
}

static factor random_factor(int64_t n, int64_t depth)
{
	int64_t gap = pick(0, 3) ? 0 : pick(1, 40), inner = pick(0, 4) ? 1 : 2;
	int64_t run = pick(0, 3) && n > 0 ? n : pick(1, 70);
	int64_t images = (n + run - 1) / run;
	factor f = { .depth = inner, .step = inner * (depth + gap) };
	if (pick(0, 2))
		f = (factor){ .step = inner, .depth = inner * (run + gap) };
	f.run = run;
	f.far = inner * (run + gap) * (depth + gap);
	size_t size = (size_t)(images * f.far + 1);
	f.x = malloc(size * sizeof(*f.x));
	ck_assert_ptr_nonnull(f.x);
	for (size_t i = 0; i < size; i++)
		f.x[i] = (float)pick(-1000, 1001) / 1000;
	return f;
}

static void pack(const factor *f, int64_t depth, int64_t ndepth, int64_t first,
		 int64_t n, int64_t width, float *to)
{
	for (int64_t d = 0; d < ndepth; d++)
		for (int64_t i = 0; i < n; i++)
			to[d * width + i] = f->x[place(f, depth + d,
						       first + i)];
}

static void pack_rows(const tdl_product *p, int64_t depth, int64_t ndepth,
		      int64_t first, int64_t n, void *to)
{
	pack(&the(p)->f[0], depth, ndepth, first, n, TDL_ROWS, to);
}

static void pack_cols(const tdl_product *p, int64_t depth, int64_t ndepth,
		      int64_t first, int64_t n, void *to)
{
	pack(&the(p)->f[1], depth, ndepth, first, n, TDL_COLS(float), to);
}

/* Each element is stored once. */
static void store(const tdl_product *p, int64_t row, int64_t nrows, int64_t col,
		  int64_t ncols, const void *tile)
{
	const product *m = the(p);
	for (int64_t r = 0; r < nrows; r++)
		for (int64_t c = 0; c < ncols; c++) {
			float *to = &m->out[(row + r) * m->cols + col + c];
			ck_assert(isnan(*to));
			*to = ((const float *)tile)[r * TDL_COLS(float) + c];
		}
}

/* No panel is laid out in planes. */
static int64_t no_planes(const tdl_window *w, int64_t depth, int64_t ndepth,
			 int64_t first, int64_t n, void *planes, int64_t *place)
{
	(void)w, (void)depth, (void)ndepth, (void)first, (void)n;
	(void)planes, (void)place;
	return 0;
}

static void check_element(const product *m, int64_t r, int64_t c)
{
	const factor *x = &m->f[0], *y = &m->f[1];
	double sum = 0, got = m->out[r * m->cols + c];
	for (int64_t d = 0; d < m->depth; d++)
		sum += (double)x->x[place(x, d, r)] *
		       (double)y->x[place(y, d, c)];
	if (isnan(sum) || isinf(sum)) {
		ck_assert_msg(isnan(sum) ? isnan(got) : got == sum,
			      "%g, not %g: %d %d of %d x %d", got, sum, (int)r,
			      (int)c, (int)m->rows, (int)m->cols);
		return;
	}
	ck_assert_msg(fabs(got - sum) <=
			      0x1p-23 * (8 + 8 * sqrt((double)m->depth)),
		      "%g, not %g: %d %d of %d x %d, %d terms", got, sum,
		      (int)r, (int)c, (int)m->rows, (int)m->cols,
		      (int)m->depth);
}

/* Makes an element of the last terms of a factor of columns infinite. */
static void make_infinite(const product *m)
{
	const factor *f = &m->f[1];
	f->x[place(f, m->depth - 1 - pick(0, 64), pick(0, m->cols))] =
		INFINITY;
}

static void check_product(product *m, bool infinite, void *scratch)
{
	tdl_block in = { .data = m };
	tdl_args args = { .in = &in, .scratch = scratch };
	tdl_product p = { .args = &args, .rows = m->rows, .cols = m->cols,
			  .depth = m->depth, .store = store };
	for (int i = 0; i < 2; i++) {
		tdl_factor *f = i ? &p.right : &p.left;
		m->f[i] = random_factor(i ? m->cols : m->rows, m->depth);
		f->pack = i ? pack_cols : pack_rows;
		if (pick(0, 3))
			*f = (tdl_factor){ f->pack, m->f[i].x, m->f[i].depth,
					   m->f[i].step,
					   m->f[i].run < (i ? m->cols : m->rows)
						   ? m->f[i].run
						   : 0,
					   m->f[i].far };
	}
	if (infinite)
		make_infinite(m);
	if (!pick(0, 4))
		p.right.planes = no_planes;
	m->out = malloc((size_t)(m->rows * m->cols + 1) * sizeof(float));
	for (int64_t i = 0; i < m->rows * m->cols; i++)
		m->out[i] = NAN;
	memset(scratch, 0xff, sizeof(tdl_panels_f32));
	tdl_product_f32(&p);
	for (int64_t r = 0; r < m->rows; r++)
		for (int64_t c = 0; c < m->cols; c += m->rows > 64 ? 7 : 1)
			check_element(m, r, c);
	free(m->out);
	free(m->f[0].x);
	free(m->f[1].x);
}

/* Many of one of the three, few of the others. */
START_TEST(random_products)
{
	void *scratch = aligned_alloc(64, sizeof(tdl_panels_f32));
	for (int i = 0; i < 120; i++) {
		int64_t n[3];
		int most = (int)pick(0, 4);
		for (int j = 0; j < 3; j++)
			n[j] = pick(0, most == j ? 1500 : 40);
		product m = { .rows = n[0], .cols = n[1], .depth = n[2] };
		if (i % 8 == 0)
			m = (product){ .rows = pick(450, 1000),
				       .cols = pick(1, 300),
				       .depth = pick(200, 600) };
		if (sampled(i))
			check_product(&m, false, scratch);
	}
	free(scratch);
}
END_TEST

/* An infinite element stays in its column, and makes no NaN in rows that
 * several tiles have, whatever their number. */
START_TEST(infinite_elements)
{
	void *scratch = aligned_alloc(64, sizeof(tdl_panels_f32));
	for (int i = 1; i < 54; i++) {
		product m = { .rows = i, .cols = pick(1, 40),
			      .depth = pick(257, 600) };
		if (sampled(i))
			check_product(&m, true, scratch);
	}
	free(scratch);
}
END_TEST

/* Compares also the signs of zeros. */
static bool is_same(float x, float y)
{
	return isnan(y) ? isnan(x) : !memcmp(&x, &y, sizeof(x));
}

START_TEST(least_and_largest)
{
	static const float x[] = { -INFINITY, -1, -0.f, 0, 1, INFINITY, NAN };
	enum { N = sizeof(x) / sizeof(*x) };
	for (int i = 0; i < N * N; i++) {
		const float a = x[i / N], b = x[i % N];
		const float none = isnan(a) ? a : b;
		const bool both = !isnan(a) && !isnan(b);
		const float least = both && a < b ? a : none;
		const float largest = both && a > b ? a : none;
		ck_assert(is_same(tdl_min_f32(a, b), least));
		ck_assert(is_same(tdl_max_f32(a, b), largest));
		ck_assert(is_same((float)tdl_min_f64(a, b), least));
		ck_assert(is_same((float)tdl_max_f64(a, b), largest));
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("product");
	TCase *c = tcase_create("product");
	const char *seed = getenv("TDL_SEED");
	if (seed && atoll(seed))
		state = (uint64_t)atoll(seed);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, random_products);
	tcase_add_test(c, infinite_elements);
	tcase_add_test(c, least_and_largest);
	suite_add_tcase(s, c);
	return s;
}
