/* Tests: kernel */
/* kx_simplify: values stay, reshapes become affine; kx_text, equality. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "base/checked.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum { EXPRESSIONS = 300 };

/* ---- values stay ------------------------------------------------------- */

static void check_same(arena *a, const kernel *k, const kexpr *e,
		       int64_t **data, int seed)
{
	const kexpr *s = kx_simplify(a, e, k->vars);
	const kexpr *again = kx_simplify(a, s, k->vars);
	box space = kernel_space(k);
	oracle o = { .k = k, .space = &space, .data = data };
	ck_assert(s->type == e->type);
	ck_assert_msg(kx_equal(s, again),
		      "%.900s becomes %.900s, then %.900s, seed %d",
		      kx_text(a, k, e), kx_text(a, k, s),
		      kx_text(a, k, again), seed);
	for (bool more = oracle_start(&o, 0, k->nvars); more;
	     more = oracle_next(&o, 0, k->nvars)) {
		int64_t x = oracle_value(&o, e), y = oracle_value(&o, s);
		ck_assert_msg(x == y, "%.900s is %d, but %.900s is %d, seed %d",
			      kx_text(a, k, e), (int)x, kx_text(a, k, s),
			      (int)y, seed);
	}
}

START_TEST(values_stay)
{
	recipe how = { .max_extent = 5, .reduce = true, .quasi = true,
		       .joint = true, .conditions = true, .data = true };
	rng r = { (uint64_t)_i * 7919 };
	for (int i = 0; i < EXPRESSIONS; i++) {
		arena *a = arena_new();
		kernel *k = random_kernel(a, &r, &how);
		int64_t **data = random_data(a, &r, k);
		check_same(a, k, k->body, data, _i);
		for (int n = 0; n < 4; n++)
			check_same(a, k, random_index(a, &r, k, &how), data,
				   _i);
		arena_free(a);
	}
}
END_TEST

/* ---- by hand ----------------------------------------------------------- */

/* Variables n c h w e with these extents, inputs x and y. */
static kernel *letters(arena *a)
{
	static const int64_t extents[] = { 2, 6, 5, 7, 6 * 5 * 7 };
	static const char *const names[] = { "n", "c", "h", "w", "e" };
	kernel *k = ARENA_NEW(a, kernel);
	k->nvars = k->nout = 5;
	k->vars = ARENA_ARRAY(a, kvar, 5);
	for (int v = 0; v < 5; v++)
		k->vars[v] = (kvar){ .name = names[v], .extent = extents[v] };
	k->ninputs = 2;
	k->inputs = ARENA_ARRAY(a, kinput, 2);
	k->inputs[0] = (kinput){ "x", DT_F32, 1, { 10 } };
	k->inputs[1] = (kinput){ "y", DT_I64, 0, { 0 } };
	return k;
}

#define V(v) kx_var(a, v)
#define N(n) kx_int(a, n, DT_I64)
#define R(f) kx_float(a, f, DT_F32)
#define F(f, x, y) kx_fn2(a, FN_##f, x, y)
#define G(f, x) kx_fn1(a, FN_##f, x)

static kexpr *flat(arena *a)
{
	return F(ADD, F(MUL, F(ADD, F(MUL, F(ADD, F(MUL, V(0), N(6)), V(1)),
				      N(5)), V(2)), N(7)), V(3));
}

START_TEST(known_forms)
{
	arena *a = arena_new();
	kernel *k = letters(a);
	kexpr *read = kx_read(a, 0, DT_F32, 1, (kexpr *[]){ V(1) }, NULL);
	kexpr *scalar = kx_read(a, 1, DT_I64, 0, NULL, NULL);
	const struct {
		kexpr *e;
		const char *want;
	} cases[] = {
		{ F(ADD, V(0), N(0)), "n" },
		{ F(SUB, F(ADD, V(2), V(1)), V(2)), "c" },
		{ F(ADD, N(3), F(ADD, V(2), N(-3))), "h" },
		{ F(ADD, V(3), F(ADD, V(0), V(3))), "n + 2 * w" },
		{ F(SUB, N(4), V(1)), "-c + 4" },
		{ F(MUL, F(ADD, V(1), N(2)), N(3)), "3 * c + 6" },
		/* Flattened and taken apart again. */
		{ F(DIV, flat(a), N(210)), "n" },
		{ F(MOD, F(DIV, flat(a), N(35)), N(6)), "c" },
		{ F(MOD, F(DIV, flat(a), N(7)), N(5)), "h" },
		{ F(MOD, flat(a), N(7)), "w" },
		{ F(DIV, F(MOD, flat(a), N(210)), N(35)), "c" },
		{ F(MOD, flat(a), N(210)), "35 * c + 7 * h + w" },
		/* [N, C, H, W] as [N, 2, C/2, H, W]. */
		{ F(MOD, F(DIV, V(1), N(3)), N(2)), "c / 3" },
		{ F(ADD, F(MUL, N(3), F(DIV, V(1), N(3))),
		    F(MOD, V(1), N(3))), "c" },
		/* Taken apart and flattened again. */
		{ F(ADD, F(MUL, N(35), F(DIV, V(4), N(35))),
		    F(ADD, F(MUL, N(7), F(MOD, F(DIV, V(4), N(7)), N(5))),
		      F(MOD, V(4), N(7)))), "e" },
		{ F(SUB, V(4), F(MUL, N(7), F(DIV, V(4), N(7)))), "e % 7" },
		{ F(DIV, F(DIV, V(4), N(5)), N(6)), "e / 30" },
		{ F(MOD, F(MOD, V(4), N(15)), N(5)), "e % 5" },
		{ F(DIV, F(ADD, F(MUL, N(4), V(4)), N(6)), N(8)),
		  "(e + 1) / 2" },
		{ F(MOD, F(MUL, N(4), V(4)), N(8)), "4 * (e % 2)" },
		{ F(DIV, F(SUB, V(1), N(6)), N(6)), "-1" },
		{ F(DIV, V(1), N(6)), "0" },
		{ F(MOD, F(ADD, V(1), N(12)), N(6)), "c" },
		{ F(MIN, V(1), N(5)), "c" },
		{ F(MAX, V(1), F(ADD, V(1), N(1))), "c + 1" },
		{ F(LT, V(1), N(6)), "true" },
		{ F(EQ, V(1), N(6)), "false" },
		{ F(LT, V(1), N(5)), "c < 5" },
		{ kx_select(a, F(GE, V(0), N(0)), V(1), V(2)), "c" },
		/* Where a side wraps around, only whether they differ. */
		{ F(GT, F(ADD, F(MUL, N(INT64_MAX), V(4)), N(1)),
		    F(MUL, N(INT64_MAX), V(4))),
		  "9223372036854775807 * e + 1 > 9223372036854775807 * e" },
		{ F(NE, F(ADD, F(MUL, N(INT64_MAX), V(4)), N(1)),
		    F(MUL, N(INT64_MAX), V(4))), "true" },
		{ F(GE, F(MUL, N(INT64_MAX), V(4)), F(MUL, N(INT64_MAX), V(4))),
		  "true" },
		{ F(MAX, F(MUL, N(INT64_MIN), V(4)),
		    F(SUB, F(MUL, N(INT64_MIN), V(4)), N(1))),
		  "max(-9223372036854775808 * e, "
		  "-9223372036854775808 * e - 1)" },
		/* Conditions that cannot be decided stay. */
		{ F(DIV, V(4), N(7)), "e / 7" },
		{ F(DIV, V(4), N(0)), "e / 0" },
		{ F(MOD, V(4), V(1)), "e % c" },
		{ F(MUL, V(4), V(1)), "e * c" },
		/* Values: only where no rounding is lost. */
		{ F(MUL, read, R(1)), "x[c]" },
		{ F(ADD, read, R(0)), "x[c] + 0.0" },
		{ F(SUB, read, R(0)), "x[c]" },
		{ F(ADD, R(0.5), R(0.25)), "0.75" },
		{ F(DIV, R(1), R(3)), "1.0 / 3.0" },
		{ F(DIV, R(1), R(4)), "0.25" },
		{ G(SQRT, R(9)), "3.0" },
		{ G(EXP, R(1)), "exp(1.0)" },
		{ F(LT, R(1), R(2)), "true" },
		{ kx_cast(a, N(3), DT_F32), "3.0" },
		{ kx_cast(a, R(2.75), DT_I64), "2" },
		{ kx_cast(a, read, DT_F32), "x[c]" },
		{ F(ADD, scalar, N(0)), "y" },
		{ F(AND, F(LT, scalar, N(3)), F(GE, V(0), N(0))), "y < 3" },
		{ kx_int(a, 3, DT_U8), "3" },
		{ F(SUB, kx_int(a, 3, DT_U8), kx_int(a, 5, DT_U8)), "254" },
		{ F(MUL, N(INT64_MAX), F(ADD, V(0), V(1))),
		  "9223372036854775807 * n + 9223372036854775807 * c" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kexpr *s = kx_simplify(a, cases[i].e, k->vars);
		ck_assert_msg(!strcmp(kx_text(a, k, s), cases[i].want),
			      "case %zu: %s gives %s, not %s", i,
			      kx_text(a, k, cases[i].e), kx_text(a, k, s),
			      cases[i].want);
	}
	arena_free(a);
}
END_TEST

/* Chains as deep as an expression may be, and sums with more atoms than the
 * normal form takes: quick, and the values stay. */
START_TEST(deep_chains)
{
	arena *a = arena_new();
	kernel *k = letters(a);
	kexpr *chain = V(4), *sum = V(4), *choice = V(4);
	for (int n = 1; n < MAX_KEXPR_DEPTH / 3; n++) {
		chain = F(MOD, F(ADD, F(MUL, N(3), chain), V(n % 5)),
			  N(1000 + n));
		if (n % 7 == 0)
			chain = F(DIV, F(ADD, chain, V(1)), N(2));
		sum = F(ADD, F(MUL, N(n), F(MOD, V(4), N(2 + n))), sum);
		choice = kx_select(a, F(LT, choice, N(n)), V(n % 5), V(1));
	}
	kernel small = *k;
	small.nvars = 5;
	for (int v = 0; v < 4; v++)
		small.vars[v].extent = 2;
	small.vars[4].extent = 11;
	check_same(a, &small, chain, NULL, 0);
	check_same(a, &small, sum, NULL, 0);
	check_same(a, &small, choice, NULL, 0);
	arena_free(a);
}
END_TEST

START_TEST(texts)
{
	arena *a = arena_new();
	kernel *k = letters(a);
	kexpr *index[] = { F(SUB, V(1), N(1)) };
	kexpr *guarded = kx_read(a, 0, DT_F32, 1, index, R(-INFINITY));
	const struct {
		kexpr *e;
		const char *want;
	} cases[] = {
		{ F(MUL, F(ADD, V(0), N(1)), V(1)), "(n + 1) * c" },
		{ F(SUB, V(0), F(SUB, V(1), V(2))), "n - (c - h)" },
		{ F(SUB, F(SUB, V(0), V(1)), V(2)), "n - c - h" },
		{ F(DIV, V(0), F(MUL, V(1), V(2))), "n / (c * h)" },
		{ G(NEG, F(ADD, V(0), V(1))), "-(n + c)" },
		{ G(NEG, N(-3)), "-(-3)" },
		{ F(OR, F(AND, F(LT, V(0), V(1)), G(NOT, F(EQ, V(0), N(2)))),
		    F(GE, V(2), N(1))),
		  "n < c and not n == 2 or h >= 1" },
		{ F(AND, F(OR, F(LT, V(0), V(1)), F(LT, V(1), V(2))),
		    F(LT, V(2), V(3))), "(n < c or c < h) and h < w" },
		{ guarded, "(x[c - 1] else -inf)" },
		{ F(ADD, R(1),
		    kx_select(a, F(LT, V(0), N(1)), guarded, R(0.1))),
		  "1.0 + (if n < 1 then (x[c - 1] else -inf) else 0.1)" },
		{ F(POW, guarded, R(1e30)),
		  "pow((x[c - 1] else -inf), 1e+30)" },
		{ kx_cast(a, V(0), DT_BF16), "cast(n, bf16)" },
		{ kx_read(a, 1, DT_I64, 0, NULL, NULL), "y" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(kx_text(a, k, cases[i].e), cases[i].want);
	k->body = guarded;
	k->reducer = RED_MAX;
	k->nout = 2;
	for (int v = 2; v < 5; v++)
		k->vars[v].kind = KVAR_REDUCE;
	ck_assert_str_eq(kernel_text(a, k),
			 "out[n, c] = Max(h, w, e) (x[c - 1] else -inf)");
	k->reducer = RED_NONE;
	k->opaque = "f";
	k->nhidden = 1;
	k->nslices = 1;
	k->slices = &(kslice){ 0, 1, { NULL } };
	ck_assert_str_eq(kernel_text(a, k), "out[n, c] = f(x[:])[c]");
	arena_free(a);
}
END_TEST

START_TEST(equality)
{
	arena *a = arena_new();
	kernel *k = letters(a), *other = letters(a);
	kexpr *x = F(ADD, V(0), N(1)), *y = F(ADD, V(0), N(1));
	ck_assert(kx_equal(x, y) && kx_hash(1, x) == kx_hash(1, y));
	ck_assert(!kx_equal(x, F(ADD, V(0), N(2))));
	ck_assert(!kx_equal(x, F(SUB, V(0), N(1))));
	ck_assert(!kx_equal(R(0.0), R(-0.0)) && kx_equal(R(NAN), R(NAN)));
	ck_assert(!kx_equal(N(1), kx_int(a, 1, DT_I32)));
	k->body = x;
	other->body = y;
	other->name = "other";
	other->vars[0].name = "q";
	other->inputs[0].name = "p";
	ck_assert(kernel_equal(k, other));
	ck_assert(kernel_hash(k) == kernel_hash(other));
	other->inputs[0].dims[0]++;
	ck_assert(!kernel_equal(k, other));
	ck_assert(kernel_hash(k) != kernel_hash(other));
	other->inputs[0].dims[0]--;
	other->vars[1].extent++;
	ck_assert(!kernel_equal(k, other));
	arena_free(a);
}
END_TEST

START_TEST(tables)
{
	for (int f = 0; f < FN_COUNT; f++) {
		ck_assert_int_eq(fn_parse(fn_name((fn)f)), f);
		ck_assert(fn_nargs((fn)f) == 1 || fn_nargs((fn)f) == 2);
	}
	for (int r = 0; r < RED_COUNT; r++)
		ck_assert_int_eq(reducer_parse(reducer_name((reducer)r)), r);
	ck_assert_int_eq(fn_parse("no"), -1);
	ck_assert_int_eq(reducer_parse("sum"), -1);
}
END_TEST

START_TEST(counts)
{
	arena *a = arena_new();
	kernel *k = letters(a);
	kexpr *x = kx_read(a, 0, DT_F32, 1, (kexpr *[]){
			F(MOD, F(ADD, V(1), V(2)), N(10)) }, R(0));
	k->body = F(MUL, x, x);
	k->reducer = RED_SUM;
	ck_assert_int_eq(kernel_flops_per_point(k), 2);
	ck_assert_int_eq(kernel_points(k), 2 * 6 * 5 * 7 * 210);
	k->reducer = RED_NONE;
	k->body = kx_select(a, F(LT, V(0), N(1)), x, G(SIGMOID, x));
	ck_assert_int_eq(kernel_flops_per_point(k), 4);
	k->vars[0].extent = k->vars[1].extent = INT64_MAX / 2;
	ck_assert_int_eq(kernel_points(k), -1);
	k->vars[2].extent = 0;
	ck_assert_int_eq(kernel_points(k), 0);
	arena_free(a);
}
END_TEST

/* The greatest common divisor, of every number. */
START_TEST(divisors)
{
	const struct {
		int64_t a, b, divisor;
	} rows[] = {
		{ 0, 0, 0 },  { 0, -6, 6 },  { 12, 18, 6 }, { -12, 18, 6 },
		{ 7, 0, 7 },  { 35, 64, 1 }, { -8, -12, 4 },
		{ INT64_MIN, 12, 4 }, { -1, INT64_MIN, 1 },
		{ INT64_MAX, INT64_MIN, 1 },
		{ 0, INT64_MIN, INT64_C(1) << 62 },
		{ INT64_MIN, INT64_MIN, INT64_C(1) << 62 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ck_assert_int_eq(common_divisor(rows[i].a, rows[i].b),
				 rows[i].divisor);
		ck_assert_int_eq(common_divisor(rows[i].b, rows[i].a),
				 rows[i].divisor);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("simplify");
	TCase *t = tcase_create("simplify");
	tcase_add_loop_test(t, values_stay, 0, 10);
	tcase_add_test(t, known_forms);
	tcase_add_test(t, deep_chains);
	tcase_add_test(t, texts);
	tcase_add_test(t, equality);
	tcase_add_test(t, tables);
	tcase_add_test(t, counts);
	tcase_add_test(t, divisors);
	suite_add_tcase(s, t);
	return s;
}
