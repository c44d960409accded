/* Tests: compiler/codegen */
/* Tensors that are read in another shape or order, against the interpreter. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/check_kernel.h"
#include "tests/unit/suite.h"

static kexpr *quotient(kexpr *x, int64_t by)
{
	return by == 1 ? x : kx_fn2(mem, FN_DIV, x, num(by));
}

static kexpr *remainder_of(kexpr *x, int64_t by)
{
	return kx_fn2(mem, FN_MOD, x, num(by));
}

/* The number of the element, of rows of n[1] x n[2], or a little off: in steps
 * that are none, or from another element on. */
static kexpr *random_element(kexpr *const *v, const int64_t *n)
{
	int64_t outer = pick(0, 5) ? n[1] * n[2] : n[1] * n[2] - 1;
	kexpr *e = add(mul(num(outer), v[0]), mul(num(n[2]), v[1]));
	return add(e, pick(0, 6) ? v[2] : mul(num(2), v[2]));
}

/* The index of dimension d of three of an element: (e / a) % m, or
 * e % (a * m) / a; of the first one, which has room for all, also e / a. */
static kexpr *random_index(kexpr *e, int64_t a, int64_t m, int d)
{
	if (d == 0 && pick(0, 4))
		return quotient(e, a);
	if (d == 0 || pick(0, 2))
		return remainder_of(quotient(e, a), m);
	return quotient(remainder_of(e, a * m), a);
}

/* out[i, j, k] = x[e / .., e / .. % .., e % ..] + y[k] */
static kernel *random_reshape(int unused)
{
	static const int64_t sizes[] = {1, 2, 3, 4, 8, 16, 20};
	static const char *const names[] = {"i", "j", "k"};
	int64_t n[3], dims[3], stride = 1;
	dtype t = pick(0, 3) ? DT_F32 : DT_BF16;
	kernel *k = begin("reshape", RED_NONE, t);
	kexpr *v[3], *at[3], *e;
	(void)unused;
	for (int i = 0; i < 3; i++) {
		n[i] = pick(0, 30) ? sizes[pick(0, 7)] : 0;
		dims[i] = sizes[pick(0, 7)];
		v[i] = add_var(k, names[i], KVAR_OUTPUT, n[i]);
	}
	dims[0] = (n[0] + 1) * (n[1] + 1) * (2 * n[2] + 1) /
			  (dims[1] * dims[2]) + 1;
	add_input(k, "x", t, 3, (int)dims[0], (int)dims[1], (int)dims[2]);
	add_input(k, "y", t, 1, (int)n[2]);
	e = random_element(v, n);
	for (int d = 2; d >= 0; d--) {
		at[d] = random_index(e, stride, dims[d], d);
		stride *= dims[d];
	}
	k->body = READ(k, 0, NULL, at[0], at[1], at[2]);
	if (pick(0, 2))
		k->body = add(k->body, READ(k, 1, NULL, v[2]));
	return k;
}

START_TEST(random_reshapes)
{
	check_drawn(40, random_reshape);
}
END_TEST

/* out[i, j, k] = x[p(i), p(j), p(k)] + .., with any order p, beside others that
 * are read in another order, under a condition, or in even steps. */
static kernel *random_order(int unused)
{
	static const int64_t sizes[] = {0, 1, 3, 8, 16, 17, 33, 48};
	static const dtype types[] = {DT_F32, DT_F64, DT_I32, DT_I64, DT_BF16};
	static const char *const names[] = {"i", "j", "k"};
	dtype t = types[pick(0, 5)];
	kernel *k = begin("order", RED_NONE, t);
	kexpr *v[3], *e = NULL;
	int n[3];
	(void)unused;
	for (int i = 0; i < 3; i++) {
		n[i] = (int)sizes[pick(pick(0, 8) ? 1 : 0, 8)];
		v[i] = add_var(k, names[i], KVAR_OUTPUT, n[i]);
	}
	for (int reads = pick(1, 4), r = 0; r < reads; r++) {
		int p = pick(0, 3), q = (p + pick(1, 3)) % 3, s = 3 - p - q;
		int step = pick(0, 5) ? 1 : 2;
		int in = add_input(k, names[r], t, 3, n[p], step * n[q] + 1,
				   n[s]);
		kexpr *one = READ(k, in, NULL, v[p],
				  add(mul(num(step), v[q]), num(1)), v[s]);
		if (!pick(0, 4))
			one = kx_select(mem, kx_fn2(mem, FN_LT, v[2], num(5)),
					one, constant(t, 1));
		e = e ? add(e, one) : one;
	}
	k->body = e;
	return k;
}

START_TEST(random_orders)
{
	check_drawn(60, random_order);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("reshaped");
	TCase *c = kernel_case(s, "reshaped");
	tcase_add_test(c, random_reshapes);
	tcase_add_test(c, random_orders);
	return s;
}
