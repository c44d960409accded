/* Tests: kernel */
/* The operations of kernels on their input's elements, as libraries apply
 * them. */
#include "config.h"

#include <check.h>

#include "kernel/epilogue.h"
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

enum { X, BIAS, OTHER };

/* out[i, j] of x[3, 4], bias[4], other[3, 4]; all of a type. */
static kernel *kernel_of(dtype t)
{
	kernel *k = ARENA_NEW(mem, kernel);
	k->name = "k";
	k->type = t;
	k->nout = k->nvars = 2;
	k->vars = ARENA_ARRAY(mem, kvar, 2);
	k->vars[0] = (kvar){ .name = "i", .kind = KVAR_OUTPUT, .extent = 3 };
	k->vars[1] = (kvar){ .name = "j", .kind = KVAR_OUTPUT, .extent = 4 };
	k->ninputs = 3;
	k->inputs = ARENA_ARRAY(mem, kinput, 3);
	k->inputs[X] = (kinput){ "x", t, 2, { 3, 4 } };
	k->inputs[BIAS] = (kinput){ "bias", t, 1, { 4 } };
	k->inputs[OTHER] = (kinput){ "other", t, 2, { 3, 4 } };
	return k;
}

static kexpr *read2(dtype t, int input, int i, int j)
{
	kexpr *at[] = { kx_var(mem, i), kx_var(mem, j) };
	return kx_read(mem, input, t, 2, at, NULL);
}

static kexpr *read1(dtype t, int input, int i)
{
	kexpr *at[] = { kx_var(mem, i) };
	return kx_read(mem, input, t, 1, at, NULL);
}

static bool finds(dtype t, kexpr *body, epilogue *e)
{
	kernel *k = kernel_of(t);
	k->body = body;
	kernel_finish(mem, k);
	return epilogue_of(k, X, e);
}

START_TEST(found)
{
	static const dtype types[] = { DT_F32, DT_BF16, DT_F16, DT_F64 };
	for (int i = 0; i < 4; i++) {
		dtype t = types[i];
		epilogue e;
		kexpr *x = read2(t, X, 0, 1), *b = read1(t, BIAS, 1);
		kexpr *sum = kx_fn2(mem, FN_ADD, x, b);
		kexpr *swapped = kx_fn2(mem, FN_ADD, b, x);
		ck_assert(finds(t, sum, &e));
		ck_assert(e.bias == BIAS && e.dim == 1);
		ck_assert(finds(t, kx_cast(mem, swapped, t), &e));
		ck_assert(e.bias == BIAS && e.dim == 1);
	}
}
END_TEST

START_TEST(not_found)
{
	dtype t = DT_F32;
	epilogue e;
	kexpr *x = read2(t, X, 0, 1), *b = read1(t, BIAS, 1);
	kexpr *one = kx_float(mem, 1, t);
	ck_assert(!finds(t, x, &e));
	ck_assert(!finds(t, b, &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_ADD, x, x), &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_ADD, x, one), &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_ADD, x, read2(t, OTHER, 0, 1)),
			 &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_SUB, x, b), &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_MUL, x, b), &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_MAX, kx_fn2(mem, FN_ADD, x, b),
				   kx_float(mem, 0, t)), &e));
	ck_assert(!finds(t, kx_fn2(mem, FN_ADD, read2(t, X, 1, 0), b), &e));
	/* A result stored in another type is rounded. */
	ck_assert(!finds(t, kx_fn2(mem, FN_ADD, kx_cast(mem, kx_cast(
		  mem, x, DT_F16), t), b), &e));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("epilogue");
	TCase *tc = tcase_create("epilogue");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, found);
	tcase_add_test(tc, not_found);
	suite_add_tcase(s, tc);
	return s;
}
