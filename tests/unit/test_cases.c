/* Tests: compiler/codegen */
/* Choices that indices around the innermost loop decide, against the
 * interpreter. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/check_kernel.h"
#include "tests/unit/suite.h"

static kexpr *random_condition(kexpr *const *v)
{
	kexpr *x = v[pick(0, 3)];
	switch (pick(0, 4)) {
	case 0:
		return kx_fn2(mem, FN_LT, x, num(pick(0, 4)));
	case 1:
		return kx_fn2(mem, FN_EQ, x, v[pick(0, 3)]);
	default:
		return kx_fn2(mem, FN_EQ, x, num(pick(0, 4)));
	}
}

static kexpr *random_value(const kernel *k, kexpr *const *v)
{
	static const fn functions[] = { FN_EXP, FN_TANH, FN_NEG };
	int in = (int)pick(0, 2);
	kexpr *x = in ? READ(k, 1, NULL, v[2]) :
			READ(k, 0, NULL, v[0], v[1], v[2]);
	return pick(0, 4) ? kx_fn1(mem, functions[pick(0, 3)], x)
			  : constant(DT_F32, 0);
}

static kexpr *random_choice(const kernel *k, kexpr *const *v, int depth)
{
	kexpr *other = depth && pick(0, 2) ? random_choice(k, v, depth - 1)
					   : random_value(k, v);
	return kx_select(mem, random_condition(v), random_value(k, v), other);
}

/* out[i, j, k] = (if j == 1 then exp(x[i, j, k]) else ..) + .. */
static kernel *random_cases(int unused)
{
	static const char *const names[] = { "i", "j", "k" };
	kernel *k = begin("cases", RED_NONE, DT_F32);
	kexpr *v[3], *e = NULL;
	int n[3];
	(void)unused;
	for (int i = 0; i < 3; i++) {
		n[i] = (int)(pick(0, 20) ? pick(1, i < 2 ? 5 : 40) : 0);
		v[i] = add_var(k, names[i], KVAR_OUTPUT, n[i]);
	}
	add_input(k, "x", DT_F32, 3, n[0], n[1], n[2]);
	add_input(k, "y", DT_F32, 1, n[2]);
	for (int terms = (int)pick(1, 5); terms > 0; terms--) {
		kexpr *one = random_choice(k, v, 2);
		e = e ? add(e, one) : one;
	}
	k->body = e;
	return k;
}

START_TEST(random_choices)
{
	check_drawn(40, random_cases);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("cases");
	TCase *c = kernel_case(s, "cases");
	tcase_add_test(c, random_choices);
	return s;
}
