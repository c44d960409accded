/* Tests: kernel */
/* Convolutions and their gradients in kernels: found where they are, and the
 * calls that they become compute the kernel. */
#include "config.h"

#include <check.h>
#include <string.h>

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

/* ---- running them ------------------------------------------------------ */

static double *element(double *const *data, const conv_call *x, conv_side s,
		       int64_t i, int64_t j, const int64_t *at)
{
	const conv_operand *o = &x->on[s];
	double *p = data[s] + o->at + i * o->strides[0] + j * o->strides[1];
	for (int a = 0; a < x->nspatial; a++)
		p += at[a] * o->strides[2 + a];
	return p;
}

/* One term of the sum, which goes to where the kind says; c is of the group of
 * filter k. */
static void add_term(const conv_call *x, double *const *data, int64_t n,
		     int64_t k, int64_t c, const int64_t *i, const int64_t *r)
{
	int64_t group = k / (x->on[CONV_W].dims[0] / x->groups);
	int64_t h[CONV_MAX_SPATIAL];
	for (int a = 0; a < x->nspatial; a++) {
		h[a] = x->stride[a] * i[a] + x->dilation[a] * r[a] - x->pad[a];
		if (h[a] < 0 || h[a] >= x->on[CONV_X].dims[2 + a])
			return;
	}
	double *px = element(data, x, CONV_X, n,
			     group * x->on[CONV_W].dims[1] + c, h);
	double *pw = element(data, x, CONV_W, k, c, r);
	double *py = element(data, x, CONV_Y, n, k, i);
	if (x->kind == CONV_FORWARD)
		*py += *px * *pw;
	else if (x->kind == CONV_DATA)
		*px += *py * *pw;
	else
		*pw += *py * *px;
}

static void run(const conv_call *x, double *const *data)
{
	const int64_t *y = x->on[CONV_Y].dims, *w = x->on[CONV_W].dims;
	int64_t rows = y[2], cols = x->nspatial > 1 ? y[3] : 1;
	int64_t rtaps = w[2], ctaps = x->nspatial > 1 ? w[3] : 1;
	for (int64_t at = 0; at < y[0] * y[1] * w[1] * rows * cols * rtaps *
				     ctaps; at++) {
		int64_t t = at, n = t % y[0], k = (t /= y[0]) % y[1];
		int64_t c = (t /= y[1]) % w[1], i[2], r[2];
		t /= w[1];
		i[0] = t % rows;
		i[1] = (t /= rows) % cols;
		r[0] = (t /= cols) % rtaps;
		r[1] = t / rtaps;
		add_term(x, data, n, k, c, i, r);
	}
}

/* Returns whether there is a call for the part. */
static bool expect_equal(rng *r, const kernel *k, const convolution *c,
			 const box *space)
{
	view in[2], want, got;
	conv_call call;
	eval_fault fault;
	for (int i = 0; i < 2; i++) {
		box need = kernel_need(k, space, i);
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		in[i] = random_view(mem, r, chance(r, 50) ? &need : &whole);
	}
	box made = kernel_produces(k, space);
	int64_t n = box_volume(&made);
	double *zero = ARENA_ARRAY(mem, double, n + 1);
	double *other = ARENA_ARRAY(mem, double, n + 1);
	memset(zero, 0, (size_t)n * sizeof(*zero));
	want = view_dense(other, DT_F64, &made);
	got = view_dense(zero, DT_F64, &made);
	ck_assert_int_eq(kernel_eval(k, space, in, &want, NULL, &fault),
			 EVAL_OK);
	if (!convolution_call(k, c, space, in, &got, &call))
		return false;
	double *data[CONV_SIDES];
	for (int s = 0; s < CONV_SIDES; s++)
		data[s] = c->operand[s] < 2 ? in[c->operand[s]].data : zero;
	run(&call, data);
	for (int64_t i = 0; i < n; i++)
		ck_assert_msg(zero[i] == other[i],
			      "%s, kind %d: element %d: %g, not %g",
			      kernel_text(mem, k), (int)c->kind, (int)i,
			      zero[i], other[i]);
	return true;
}

/* Of 3,000 kernels the whole and two parts each.  Those in groups are
 * simplified, and a window of one place is no window then. */
static void try_calls(const convolution_recipe *how, int *done, int *missed)
{
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		rng r = { seed * 131 };
		kernel *k = random_convolution(mem, &r, how);
		convolution c;
		if (!convolution_in_groups(k, &c)) {
			ck_assert_msg(how->groups > 1, "%s",
				      kernel_text(mem, k));
			++*missed;
			continue;
		}
		ck_assert(convolution_of(k, &c) == (c.groups == 1));
		for (int i = 0; i < 3; i++) {
			box part = i ? random_part(&r, k) : kernel_space(k);
			bool had = expect_equal(&r, k, &c, &part);
			done[c.kind] += had &&
					(c.groups > 1 || how->groups == 1);
			*missed += !had && i == 0;
		}
	}
}

START_TEST(calls_compute_the_kernel)
{
	const convolution_recipe how = { DT_F64, 3, 1 };
	int done[3] = { 0 }, missed = 0;
	try_calls(&how, done, &missed);
	for (int kind = 0; kind < 3; kind++)
		ck_assert_int_gt(done[kind], 500);
	ck_assert_int_lt(missed, 600);
}
END_TEST

START_TEST(groups_are_found)
{
	const convolution_recipe how = { DT_F64, 3, 4 };
	int done[3] = { 0 }, missed = 0;
	try_calls(&how, done, &missed);
	for (int kind = 0; kind < 3; kind++)
		ck_assert_int_gt(done[kind], 500);
	ck_assert_int_lt(missed, 1000);
}
END_TEST

/* ---- what is none ------------------------------------------------------ */

START_TEST(others_are_not_found)
{
	const convolution_recipe how = { DT_F64, 3, 1 };
	for (uint64_t seed = 1; seed <= 300; seed++) {
		rng r = { seed * 131 };
		kernel *k = random_convolution(mem, &r, &how);
		convolution c;
		kexpr *body = k->body, *x = body->args[0], *y = body->args[1];

		k->reducer = RED_MAX;
		ck_assert(!convolution_of(k, &c));
		k->reducer = RED_SUM;

		k->body = kx_fn2(mem, FN_ADD, x, y);
		ck_assert(!convolution_of(k, &c));
		k->body = kx_fn2(mem, FN_MUL, x, x);
		ck_assert(!convolution_of(k, &c));

		/* Something else than 0 outside. */
		kexpr *read = x->kind == KX_SELECT ? x->args[1] : x;
		kexpr **other = &read->args[read->nargs - 1];
		*other = kx_float(mem, 1, DT_F64);
		k->body = body;
		ck_assert(!convolution_of(k, &c));
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("convolution");
	TCase *tc = tcase_create("convolution");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, calls_compute_the_kernel);
	tcase_add_test(tc, groups_are_found);
	tcase_add_test(tc, others_are_not_found);
	suite_add_tcase(s, tc);
	return s;
}
