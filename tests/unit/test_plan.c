/* Tests: plan */
/* The plan file: written and read again it is the same, and no file, however
 * broken, does more than give one clear message. */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "compiler/lower/lower.h"
#include "plan/base64.h"
#include "tests/unit/plan_of_seed.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

START_TEST(round_trip)
{
	for (int seed = 0; seed < 100; seed++) {
		arena *a = arena_new();
		plan *p = plan_of_seed(a, seed);
		size_t n, m;
		diag_sink *s;
		char *text = plan_text(a, p, "x.plan", &n);
		plan *q = parse_plan(a, text, n, &s);
		if (!q)
			diag_print(s, stderr, false);
		ck_assert_ptr_nonnull(q);
		char *again = plan_text(a, q, "x.plan", &m);
		ck_assert_int_eq(n, m);
		ck_assert_mem_eq(text, again, n);
		ck_assert_int_eq(plan_one_device(a, q)->arena_bytes,
				 plan_one_device(a, p)->arena_bytes);
		for (int k = 0; k < p->nkernels; k++)
			ck_assert(kernel_equal(p->kernels[k].kernel,
					       q->kernels[k].kernel));
		arena_free(a);
	}
}
END_TEST

/* The text of a plan that was read from other text. */
static char *text_again(arena *a, const char *text, size_t len, size_t *n)
{
	diag_sink *s;
	plan *q = parse_plan(a, text, len, &s);
	if (!q)
		diag_print(s, stderr, false);
	ck_assert_ptr_nonnull(q);
	return plan_text(a, q, "x.plan", n);
}

/* Rows need no lines of their own, and members no order. */
START_TEST(other_layouts)
{
	static const size_t flags[] = { 0, JSON_COMPACT | JSON_SORT_KEYS,
					JSON_INDENT(3), JSON_ENSURE_ASCII };
	for (int seed = 0; seed < 20; seed++) {
		arena *a = arena_new();
		size_t n, m;
		char *text = plan_text(a, plan_of_seed(a, seed), "x.plan", &n);
		json_t *j = json_loadb(text, n, 0, NULL);
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
			char *other = json_dumps(j, flags[i]);
			char *again = text_again(a, other, strlen(other), &m);
			ck_assert_int_eq(n, m);
			ck_assert_mem_eq(text, again, n);
			free(other);
		}
		json_decref(j);
		arena_free(a);
	}
}
END_TEST

/* ---- constants --------------------------------------------------------- */

START_TEST(base64)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = { { "", "" },	  { "f", "Zg==" },
		      { "fo", "Zm8=" },	  { "foo", "Zm9v" },
		      { "foob", "Zm9vYg==" } }; /* RFC 4648, section 10 */
	arena *a = arena_new();
	char back[8];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = strlen(cases[i].bytes);
		ck_assert_str_eq(base64_encode(a, cases[i].bytes, n),
				 cases[i].text);
		ck_assert(base64_decode(cases[i].text, back, n));
		ck_assert_mem_eq(back, cases[i].bytes, n);
		ck_assert(!base64_decode(cases[i].text, back, n + 3));
	}
	ck_assert(!base64_decode("Zh==", back, 1));
	ck_assert(!base64_decode("Zm9=", back, 2));
	ck_assert(!base64_decode("Z===", back, 1));
	ck_assert(!base64_decode("Zm*v", back, 3));
	arena_free(a);
}
END_TEST

/* A tensor of random elements. */
static plan_tensor drawn(dtype type, plan_law law, double a, double b)
{
	plan_tensor t = { .type = type, .ndim = 3, .dims = { 40, 50, 7 } };
	t.constant = (plan_constant){ .kind = PLAN_CONST_RANDOM, .law = law,
				      .a = a, .b = b,
				      .key = 0x0123456789abcdef };
	return t;
}

static double mean_of(const double *x, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

/* Moments of 14,000 elements, five deviations off at most. */
START_TEST(random_laws)
{
	enum { N = 40 * 50 * 7 };
	static double x[N], square[N];
	box all = { 3, { 0, 0, 0 }, { 40, 50, 7 } };
	plan_tensor t = drawn(DT_F64, PLAN_UNIFORM, -2, 6);
	plan_constant_box(&t, &all, x);
	for (int i = 0; i < N; i++) {
		ck_assert(-2 < x[i] && x[i] < 6);
		square[i] = (x[i] - 2) * (x[i] - 2);
	}
	ck_assert_double_eq_tol(mean_of(x, N), 2, 0.1);
	ck_assert_double_eq_tol(mean_of(square, N), 64.0 / 12, 0.25);
	t = drawn(DT_F64, PLAN_NORMAL, 3, 2);
	plan_constant_box(&t, &all, x);
	for (int i = 0; i < N; i++)
		square[i] = (x[i] - 3) * (x[i] - 3);
	ck_assert_double_eq_tol(mean_of(x, N), 3, 0.09);
	ck_assert_double_eq_tol(mean_of(square, N), 4, 0.25);
}
END_TEST

/* Philox under the key: the first words are 32-bit halves of known answers,
 * and elements are rounded once to their type. */
START_TEST(random_elements)
{
	box all = { 3, { 0, 0, 0 }, { 40, 50, 7 } };
	static double wide[40 * 50 * 7];
	static float narrow[40 * 50 * 7];
	plan_tensor t = drawn(DT_F64, PLAN_UNIFORM, 0, 1);
	t.constant.key = 0;
	plan_constant_box(&t, &all, wide);
	/* Philox4x32-10 of counter 0 and key 0, Random123's kat_vectors. */
	ck_assert(wide[0] == (0x6627e8d5 + 0.5) * 0x1p-32);
	ck_assert(wide[1] == (0xe169c58d + 0.5) * 0x1p-32);
	ck_assert(wide[2] == (0xbc57ac4c + 0.5) * 0x1p-32);
	ck_assert(wide[3] == (0x9b00dbd8 + 0.5) * 0x1p-32);
	t.type = DT_F32;
	plan_constant_box(&t, &all, narrow);
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		ck_assert(narrow[i] == (float)wide[i]);
}
END_TEST

/* A worker's part of a constant does not depend on how it is cut. */
START_TEST(constant_parts)
{
	static const dtype types[] = { DT_F32, DT_F64, DT_F16, DT_BF16 };
	rng r = rng_new(8);
	for (int i = 0; i < 400; i++) {
		arena *a = arena_new();
		dtype type = types[rng_below(&r, 4)];
		plan_tensor t = drawn(type, i % 2 ? PLAN_NORMAL : PLAN_UNIFORM,
				      0, 1);
		if (i % 5 == 0)
			t.constant.kind = PLAN_CONST_INLINE;
		box all = box_whole(t.dims, 3), part = all;
		size_t size = dtype_size(type), n = (size_t)box_volume(&all);
		char *whole = arena_alloc(a, n * size), *at;
		if (i % 5 == 0) {
			for (size_t j = 0; j < n * size; j++)
				whole[j] = (char)rng_below(&r, 256);
			t.constant.data = arena_memdup(a, whole, n * size);
		}
		plan_constant_box(&t, &all, whole);
		for (int d = 0; d < 3; d++) {
			part.lo[d] = rng_below(&r, (int)t.dims[d]);
			part.hi[d] = part.lo[d] + 1 +
				     rng_below(&r, (int)(t.dims[d] -
							 part.lo[d]));
		}
		at = arena_alloc(a, (size_t)box_volume(&part) * size);
		plan_constant_box(&t, &part, at);
		for (int64_t x = part.lo[0]; x < part.hi[0]; x++)
			for (int64_t y = part.lo[1]; y < part.hi[1]; y++) {
				size_t row = (size_t)(part.hi[2] - part.lo[2]);
				int64_t from = (x * 50 + y) * 7 + part.lo[2];
				ck_assert_mem_eq(at,
						 whole + (size_t)from * size,
						 row * size);
				at += row * size;
			}
		arena_free(a);
	}
}
END_TEST

/* A matmul's weights in a file beside the plan. */
static plan *plan_with_file(arena *a, const char *weights, int64_t offset)
{
	graph *g = matmul_graph(a, 8, 16, 12);
	g->tensors[1].constant = (constant){ .path = weights,
					     .offset = offset };
	assignment as = { .mesh = { 0, { 0 } } };
	as.tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors);
	as.node_cuts = ARENA_ARRAY(a, cuts, g->nnodes);
	for (int t = 0; t < g->ntensors; t++)
		as.tensor_cuts[t] = cuts_none();
	for (int n = 0; n < g->nnodes; n++)
		as.node_cuts[n] = cuts_none();
	const lower_options o = { .algorithm = "hand", .checksums = true };
	return lower_plan(a, g, &as, &o, diag_sink_new(a));
}

START_TEST(weights_in_a_file)
{
	enum { OFFSET = 12, SIZE = 16 * 12 * 4 };
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	char folder[] = "test_plan.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(folder));
	char *weights = path_join(a, folder, "w.bin");
	char *path = path_join(a, folder, "x.plan");
	unsigned char data[OFFSET + SIZE], read[SIZE];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	ck_assert(file_write(weights, data, sizeof(data)));
	ck_assert_ptr_null(plan_with_file(a, weights, OFFSET + 1));
	plan *p = plan_with_file(a, weights, OFFSET);
	ck_assert_ptr_nonnull(p);
	ck_assert(plan_write(p, path));
	size_t n;
	char *text = file_read(a, s, path, 1 << 20, &n);
	ck_assert_ptr_nonnull(strstr(text, "\"file\":\"w.bin\""));
	plan *q = plan_read(a, s, path);
	ck_assert_ptr_nonnull(q);
	ck_assert(plan_constant_read(q, 1, read, s));
	ck_assert_mem_eq(read, data + OFFSET, SIZE);
	data[OFFSET + 5] ^= 1;
	ck_assert(file_write(weights, data, sizeof(data)));
	ck_assert(!plan_constant_read(q, 1, read, s));
	ck_assert(file_write(weights, data, SIZE));
	ck_assert(!plan_constant_read(q, 1, read, s));
	unlink(weights);
	ck_assert(!plan_constant_read(q, 1, read, s));
	ck_assert_int_eq(mkfifo(weights, 0600), 0);
	ck_assert(!plan_constant_read(q, 1, read, s));
	ck_assert_int_eq(diag_errors(s), 4);
	unlink(weights);
	unlink(path);
	rmdir(folder);
	arena_free(a);
}
END_TEST

START_TEST(cannot_write)
{
	arena *a = arena_new();
	plan *p = plan_of_seed(a, 1);
	ck_assert(!plan_write(p, "no/such/folder/x.plan"));
	arena_free(a);
}
END_TEST

/* A plan is written only if the reader takes as long a text and as many
 * nodes. */
START_TEST(readable)
{
	arena *a = arena_new();
	plan p = { .nnodes = 1 << 20 };
	const size_t most = 128 << 20;
	char *text = arena_alloc(a, most + 1);
	memset(text, ' ', most + 1);
	ck_assert(plan_is_readable(&p, text, most));
	ck_assert(!plan_is_readable(&p, text, most + 1));
	memset(text, '[', most / 16);
	ck_assert(!plan_is_readable(&p, text, most));
	ck_assert(plan_is_readable(&p, "", 0));
	p.nnodes++;
	ck_assert(!plan_is_readable(&p, "", 0));
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("plan");
	TCase *t = tcase_create("plan");
	tcase_add_test(t, round_trip);
	tcase_add_test(t, other_layouts);
	tcase_add_test(t, readable);
	tcase_add_test(t, base64);
	tcase_add_test(t, random_laws);
	tcase_add_test(t, random_elements);
	tcase_add_test(t, constant_parts);
	tcase_add_test(t, weights_in_a_file);
	tcase_add_test(t, cannot_write);
	suite_add_tcase(s, t);
	return s;
}
