/* Tests: runtime/cpu */
/* Runs that oneDNN computes, against the interpreter: random products of
 * matrices and convolutions, whole and in parts, with factors that are kept and
 * poison around all that is written. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/contraction.h"
#include "runtime/cpu/onednn.h"
#include "tests/unit/random_convolution.h"
#include "tests/unit/suite.h"

static arena *mem;

static void setup(void)
{
	mem = arena_new();
}

static void teardown(void)
{
	arena_free(mem);
}

#ifdef HAVE_ONEDNN
enum { THREADS = 3, MARGIN = 64 };

/* ---- random products --------------------------------------------------- */

/* A read of some variables, in any order. */
static kexpr *read_of(kernel *k, rng *r, dtype t, uint32_t vars)
{
	kinput *in = &k->inputs[k->ninputs];
	kexpr *index[MAX_NDIM];
	in->name = k->ninputs ? "b" : "a";
	in->type = t;
	in->ndim = 0;
	while (vars) {
		int v = pick(r, 0, k->nvars - 1);
		if (!(vars >> v & 1))
			continue;
		vars &= ~(UINT32_C(1) << v);
		in->dims[in->ndim] = k->vars[v].extent;
		index[in->ndim++] = kx_var(mem, v);
	}
	return kx_read(mem, k->ninputs++, t, in->ndim, index, NULL);
}

/* Sums of products: of the variables of the result one is in the first factor,
 * one in the second, others in one or in both; some extents are 0 and 1. */
static kernel *random_product(rng *r, dtype t, dtype out)
{
	kernel *k = ARENA_NEW(mem, kernel);
	uint32_t left = 0, right = 0;
	*k = (kernel){ .name = "product", .type = out, .reducer = RED_SUM,
		       .inputs = ARENA_ARRAY(mem, kinput, 2),
		       .vars = ARENA_ARRAY(mem, kvar, MAX_NVARS) };
	k->nout = pick(r, 2, 4);
	k->nvars = k->nout + pick(r, 1, 2);
	for (int v = 0; v < k->nvars; v++) {
		int in = v < 2 ? 1 + v : v < k->nout ? pick(r, 1, 3) : 3;
		k->vars[v].name = arena_printf(mem, "v%d", v);
		k->vars[v].kind = v < k->nout ? KVAR_OUTPUT : KVAR_REDUCE;
		k->vars[v].extent = chance(r, 3)  ? 0 :
				    chance(r, 10) ? 1 : pick(r, 2, 19);
		left |= (uint32_t)(in & 1) << v;
		right |= (uint32_t)(in >> 1) << v;
	}
	kexpr *x = read_of(k, r, t, left), *y = read_of(k, r, t, right);
	k->body = kx_fn2(mem, FN_MUL, t == out ? x : kx_cast(mem, x, out),
			 t == out ? y : kx_cast(mem, y, out));
	kernel_finish(mem, k);
	return k;
}

/* ---- runs -------------------------------------------------------------- */

typedef struct block {
	char *base;
	view v;
	int64_t nbytes;
} memory_block;

static memory_block block_of(dtype t, const box *at)
{
	memory_block b = { .nbytes = box_volume(at) * (int64_t)dtype_size(t) };
	b.base = arena_alloc(mem, (size_t)b.nbytes + 2 * MARGIN);
	memset(b.base, 0xff, (size_t)b.nbytes + 2 * MARGIN);
	b.v = view_dense(b.base + MARGIN, t, at);
	return b;
}

static memory_block random_block(rng *r, dtype t, const box *at)
{
	memory_block b = block_of(t, at);
	for (int64_t i = 0; i < box_volume(at); i++)
		elem_set_f64(t, b.v.data, i, pick(r, -64, 64) / 64.0);
	return b;
}

static void expect_margins(const memory_block *b)
{
	for (int i = 0; i < MARGIN; i++) {
		ck_assert_int_eq((unsigned char)b->base[i], 0xff);
		ck_assert_int_eq((unsigned char)b->base[MARGIN + b->nbytes + i],
				 0xff);
	}
}

static double unit(dtype t)
{
	return t == DT_BF16 ? 0x1p-8 : 0x1p-23;
}

/* Terms are at most 1; sums of f32 are rounded once for each. */
static void expect_near(const kernel *k, const memory_block *got,
			const memory_block *want)
{
	int64_t n = box_volume(&got->v.at);
	double terms = 1;
	for (int v = k->nout; v < k->nvars; v++)
		terms *= (double)k->vars[v].extent;
	for (int64_t i = 0; i < n; i++) {
		double x = elem_get_f64(k->type, got->v.data, i);
		double y = elem_get_f64(k->type, want->v.data, i);
		double most = unit(k->type) * (fabs(y) * 4 + 1) +
			      0x1p-24 * terms * sqrt(terms);
		ck_assert_msg(fabs(x - y) <= most,
			      "%s: element %d: %.9g, not %.9g",
			      kernel_text(mem, k), (int)i, x, y);
	}
	expect_margins(got);
}

/* A place where a worker keeps the second factor, or too little room for it. */
typedef struct shelf {
	char *slot;
	int64_t nbytes;
	const void *as;
	tdl_keeps keeps[KEPT_SIDES];
} shelf;

static shelf shelf_of(rng *r, const kernel *k)
{
	shelf s = { .nbytes = (int64_t)pick(r, 0, 3) << pick(r, 8, 16) };
	int input = pick(r, 0, k->ninputs - 1);
	s.nbytes = s.nbytes / 64 * 64;
	s.slot = arena_alloc(mem, (size_t)s.nbytes + 128);
	s.slot += 64 - (uintptr_t)s.slot % 64;
	memset(s.slot, 0xff, (size_t)s.nbytes);
	s.keeps[KEPT_COLS].inputs = UINT32_C(1) << input;
	return s;
}

/* Parts of a run along a variable of the result. */
static int divide(rng *r, const kernel *k, const box *space, box *parts)
{
	int n = pick(r, 1, THREADS), v = pick(r, 0, k->nout - 1);
	int64_t lo = space->lo[v], extent = space->hi[v] - lo;
	n = extent < n ? 1 : n;
	for (int i = 0; i < n; i++) {
		parts[i] = *space;
		parts[i].lo[v] = lo + extent * i / n;
		parts[i].hi[v] = lo + extent * (i + 1) / n;
	}
	return n;
}

static void compute(onednn_run *x, const onednn_job *j)
{
	if (onednn_fills(x, j))
		for (int i = 0; i < j->nparts; i++)
			ck_assert(onednn_pack(x, j, i));
	for (int i = 0; i < j->nparts; i++)
		ck_assert(onednn_compute(x, j, i));
}

/* A run, twice, of which the second does not pack anew; whether oneDNN computes
 * it. */
static bool try_run(onednn *o, rng *r, const kernel *k, int number,
		    const box *space)
{
	memory_block in[2];
	box made = kernel_produces(k, space), parts[THREADS];
	view views[2];
	eval_fault fault;
	shelf s = shelf_of(r, k);
	for (int i = 0; i < k->ninputs; i++) {
		box need = kernel_need(k, space, i);
		in[i] = random_block(r, k->inputs[i].type, &need);
		views[i] = in[i].v;
	}
	memory_block want = block_of(k->type, &made);
	memory_block got = block_of(k->type, &made);
	kernel_run run = { .kernel = number, .space = space, .inputs = views,
			   .out = &got.v };
	if (s.nbytes > 0) {
		run.kept[KEPT_COLS] = s.slot;
		run.kept_bytes[KEPT_COLS] = s.nbytes;
		run.kept_as[KEPT_COLS] = &s.as;
		run.fill = 1u << KEPT_COLS;
	}
	onednn_job j = { k, &run, s.keeps, divide(r, k, space, parts), parts };
	onednn_run *x = onednn_find(o, 0, &j);
	if (!x)
		return false;
	ck_assert_int_eq(kernel_eval(k, space, views, &want.v, NULL, &fault),
			 EVAL_OK);
	for (int i = 0; i < 2; i++) {
		memset(got.v.data, 0xff, (size_t)got.nbytes);
		compute(x, &j);
		expect_near(k, &got, &want);
		run.fill = 0;
	}
	ck_assert_ptr_eq(onednn_find(o, 0, &j), x);
	return true;
}

/* The share, of 100, of kernels that oneDNN computes whole. */
static int try_kernels(kernel *make(rng *r), uint64_t salt)
{
	failure f = { 0 };
	onednn *o = onednn_open(1, THREADS, &f);
	int done = 0, tried = 0;
	ck_assert_msg(o != NULL, "%s", f.text);
	for (int i = cases_from(), n = cases_asked(100); n > 0; i++, n--) {
		rng r = { ((uint64_t)i + 1) * 131 + salt };
		kernel *k = make(&r);
		box whole = kernel_space(k), part = random_part(&r, k);
		tried++;
		done += try_run(o, &r, k, 2 * i, &whole);
		try_run(o, &r, k, 2 * i + 1, &part);
	}
	onednn_close(o);
	return 100 * done / tried;
}

static kernel *product(rng *r)
{
	return random_product(r, DT_F32, DT_F32);
}

static kernel *product_of_halves(rng *r)
{
	return random_product(r, DT_BF16, chance(r, 50) ? DT_F32 : DT_BF16);
}

static kernel *convolution_of_floats(rng *r)
{
	const convolution_recipe how = { DT_F32, 20, 1 };
	return random_convolution(mem, r, &how);
}

static kernel *in_groups(rng *r)
{
	const convolution_recipe how = { DT_F32, chance(r, 50) ? 1 : 9, 20 };
	return random_convolution(mem, r, &how);
}

START_TEST(products)
{
	ck_assert_int_gt(try_kernels(product, 1), 20);
}
END_TEST

/* Where the processor has instructions for them. */
START_TEST(products_of_halves)
{
	ck_assert_int_ge(try_kernels(product_of_halves, 2), 0);
}
END_TEST

START_TEST(convolutions)
{
	ck_assert_int_gt(try_kernels(convolution_of_floats, 3), 40);
}
END_TEST

START_TEST(convolutions_in_groups)
{
	ck_assert_int_gt(try_kernels(in_groups, 4), 40);
}
END_TEST
#else
START_TEST(is_not_there)
{
	failure f = { 0 };
	ck_assert_ptr_null(onednn_open(1, 1, &f));
	ck_assert(strstr(f.text, "--kernels generated") != NULL);
}
END_TEST
#endif

Suite *suite(void)
{
	Suite *s = suite_create("onednn");
	TCase *tc = tcase_create("onednn");
	tcase_add_checked_fixture(tc, setup, teardown);
#ifdef HAVE_ONEDNN
	tcase_add_test(tc, products);
	tcase_add_test(tc, products_of_halves);
	tcase_add_test(tc, convolutions);
	tcase_add_test(tc, convolutions_in_groups);
#else
	tcase_add_test(tc, is_not_there);
#endif
	suite_add_tcase(s, tc);
	return s;
}
