/* Tests: compiler/codegen */
/* Reductions of few terms that are read in windows, against the interpreter. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/check_kernel.h"
#include "tests/unit/suite.h"

/* An index that a loop of the result moves in steps, and one that reduces: back
 * or forth, from before the input or from within it. */
static kexpr *random_place(kexpr *out, kexpr *reduced)
{
	kexpr *x = mul(num(pick(1, 4)), out);
	kexpr *y = mul(num(pick(0, 4) ? pick(1, 4) : -1), reduced);
	return add(add(x, y), num(pick(-4, 3)));
}

/* out[n, i, j] = Sum(r, s) (x[n, i + r, j + s] else c) * w[n, r, s], or without
 * w, with steps of all kinds; or the largest of them. */
static kernel *random_window(void)
{
	static const int64_t extents[5][4] = {
		{1, 2, 3, 5}, {1, 3, 17, 40}, {7, 31, 130, 700},
		{1, 2, 3, 5}, {1, 2, 3, 7},
	};
	static const char *const names[] = {"n", "i", "j", "r", "s"};
	dtype t = pick(0, 3) ? DT_F32 : DT_F64;
	bool weighted = pick(0, 3);
	kernel *k = begin("window", weighted || pick(0, 2) ? RED_SUM : RED_MAX,
			  t);
	kexpr *v[5];
	for (int i = 0; i < 5; i++)
		v[i] = add_var(k, names[i], i < 3 ? KVAR_OUTPUT : KVAR_REDUCE,
			       pick(0, 40) ? extents[i][pick(0, 4)] : 0);
	add_input(k, "x", t, 3, (int)k->vars[0].extent,
		  (int)k->vars[1].extent + (int)pick(0, 4),
		  (int)k->vars[2].extent + (int)pick(0, 9));
	k->body = READ(k, 0, constant(t, pick(0, 3) ? 0 : -1), v[0],
		       random_place(v[1], v[3]), random_place(v[2], v[4]));
	if (!weighted)
		return k;
	add_input(k, "w", t, 3, (int)k->vars[0].extent,
		  (int)k->vars[3].extent, (int)k->vars[4].extent);
	k->body = mul(k->body, READ(k, 1, NULL, v[0], v[3], v[4]));
	return k;
}

START_TEST(random_windows)
{
	kernels all = {0};
	for (int i = 0; i < 24; i++) {
		kernel *k = random_window();
		if (sampled(i))
			vec_push(mem, &all, k);
	}
	check_all(&all);
}
END_TEST

static void begin_test(void)
{
	mem = arena_new();
}

static void end_test(void)
{
	arena_free(mem);
}

Suite *suite(void)
{
	Suite *s = suite_create("windows");
	TCase *c = tcase_create("windows");
	const char *seed = getenv("TDL_SEED");
	if (seed && atoll(seed))
		random_state = (uint64_t)atoll(seed);
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, random_windows);
	suite_add_tcase(s, c);
	return s;
}
