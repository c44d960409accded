/* Tests: compiler/analysis */
/* Strategies, derived variables and facts of kernels that experts know. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "compiler/analysis/strategy.h"
#include "kernel/linearity.h"
#include "kernel/monotone.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

#define V(v) kx_var(a, v)
#define N(n) kx_int(a, n, DT_I64)
#define R(f) kx_float(a, f, DT_F32)
#define F(f, ...) kx_fn2(a, FN_##f, __VA_ARGS__)
#define READ(k, input, ...) read_input(a, k, input, (kexpr *[]){ __VA_ARGS__ })
#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })

static kernel *make(arena *a, int nout, int nvars, const int64_t *extents)
{
	kernel *k = ARENA_NEW(a, kernel);
	k->name = "made";
	k->type = DT_F32;
	k->nout = nout;
	k->nvars = nvars;
	k->vars = ARENA_ARRAY(a, kvar, nvars);
	for (int v = 0; v < nvars; v++)
		k->vars[v] = (kvar){ arena_printf(a, "v%d", v),
				     v < nout ? KVAR_OUTPUT : KVAR_REDUCE,
				     extents[v], NULL };
	k->reducer = nvars > nout ? RED_SUM : RED_NONE;
	k->inputs = ARENA_ARRAY(a, kinput, MAX_NINPUTS);
	return k;
}

static void input(kernel *k, const char *name, dtype t, int ndim,
		  const int64_t *dims)
{
	kinput *in = &k->inputs[k->ninputs++];
	*in = (kinput){ .name = name, .type = t, .ndim = ndim };
	for (int d = 0; d < ndim; d++)
		in->dims[d] = dims[d];
}

static kexpr *read_input(arena *a, const kernel *k, int i, kexpr **index)
{
	return kx_read(a, i, k->inputs[i].type, k->inputs[i].ndim, index, NULL);
}

static int count_offered(const kernel *k)
{
	int n = 0;
	for (int v = 0; v < k->nvars; v++)
		n += strategy_offered(k, v, NULL);
	return n;
}

static kernel *matmul(arena *a)
{
	kernel *k = make(a, 2, 3, DIMS(8, 6, 4));
	input(k, "x", DT_F32, 2, DIMS(8, 4));
	input(k, "y", DT_F32, 2, DIMS(4, 6));
	k->body = F(MUL, READ(k, 0, V(0), V(2)), READ(k, 1, V(2), V(1)));
	kernel_derive(a, k);
	kernel_finish(a, k);
	return k;
}

START_TEST(matmul_has_three)
{
	arena *a = arena_new();
	kernel *k = matmul(a);
	ck_assert_int_eq(k->nvars, 3);
	ck_assert_int_eq(count_offered(k), 3);
	ck_assert_int_eq(strategy_reducer(k, 0), RED_NONE);
	ck_assert_int_eq(strategy_reducer(k, 1), RED_NONE);
	ck_assert_int_eq(strategy_reducer(k, 2), RED_SUM);
	/* Dividing the reduced variable by two halves both inputs. */
	box space = kernel_space(k), needs[2];
	block(0, 4, 1, 2, &space.lo[2], &space.hi[2]);
	kernel_needs(k, &space, needs);
	ck_assert(needs[0].lo[1] == 2 && needs[0].hi[1] == 4);
	ck_assert(needs[1].lo[0] == 2 && needs[1].hi[0] == 4);
	ck_assert(needs[0].hi[0] == 8 && needs[1].hi[1] == 6);
	kernel_facts f = kernel_facts_of(k);
	ck_assert(!f.elementwise && f.linear == 3);
	ck_assert_int_eq(f.flops, 8 * 6 * 4 * 2);
	arena_free(a);
}
END_TEST

/* Tofu's conv1d: b, co and x are split, x with a halo of DX - 1; ci and dx
 * are reduced. */
START_TEST(conv1d_has_five)
{
	arena *a = arena_new();
	kernel *k = make(a, 3, 5, DIMS(8, 4, 10, 3, 5));
	input(k, "data", DT_F32, 3, DIMS(8, 3, 14));
	input(k, "filters", DT_F32, 3, DIMS(3, 4, 5));
	k->body = F(MUL, READ(k, 0, V(0), V(3), F(ADD, V(2), V(4))),
		    READ(k, 1, V(3), V(1), V(4)));
	kernel_finish(a, k);
	ck_assert_int_eq(count_offered(k), 5);
	box space = kernel_space(k), needs[2];
	block(0, 10, 1, 2, &space.lo[2], &space.hi[2]);
	kernel_needs(k, &space, needs);
	ck_assert(needs[0].lo[2] == 5 && needs[0].hi[2] == 14);
	ck_assert(box_volume(&needs[1]) == 3 * 4 * 5);
	arena_free(a);
}
END_TEST

START_TEST(extremes)
{
	arena *a = arena_new();
	kernel *k = make(a, 1, 2, DIMS(3, 9));
	const char *why = NULL;
	input(k, "x", DT_F32, 2, DIMS(3, 9));
	k->type = DT_I64;
	k->reducer = RED_ARGMAX;
	k->body = READ(k, 0, V(0), V(1));
	ck_assert(strategy_offered(k, 0, &why) && !why);
	ck_assert(!strategy_offered(k, 1, &why) && why);
	k->reducer = RED_MAX;
	ck_assert(strategy_offered(k, 1, &why) && !why);
	ck_assert_int_eq(strategy_reducer(k, 1), RED_MAX);
	k->vars[1].indivisible_reason = "hidden";
	ck_assert(!strategy_offered(k, 1, &why));
	ck_assert_str_eq(why, "hidden");
	arena_free(a);
}
END_TEST

START_TEST(opaque_hides)
{
	arena *a = arena_new();
	kernel *k = make(a, 3, 3, DIMS(4, 5, 5));
	input(k, "x", DT_F32, 3, DIMS(4, 5, 5));
	k->opaque = "cholesky";
	k->opaque_symbol = "tdl_cholesky";
	k->nhidden = 2;
	k->nslices = 1;
	k->slices = &(kslice){ 0, 3, { V(0) } };
	kernel_finish(a, k);
	const char *why = NULL;
	ck_assert(strategy_offered(k, 0, NULL));
	ck_assert(!strategy_offered(k, 1, &why) && why);
	ck_assert(!strategy_offered(k, 2, NULL));
	ck_assert(!kernel_facts_of(k).elementwise);
	arena_free(a);
}
END_TEST

/* ---- derived variables ------------------------------------------------- */

/* Bodies over table[ids[i], j], other[j] and scalar[]: which of them give a
 * variable for the table's rows? */
START_TEST(derived)
{
	arena *a = arena_new();
	kernel *k = make(a, 2, 2, DIMS(3, 4));
	input(k, "ids", DT_I64, 1, DIMS(3));
	input(k, "table", DT_F32, 2, DIMS(50, 4));
	input(k, "other", DT_F32, 1, DIMS(4));
	kexpr *id = READ(k, 0, V(0)), *index[] = { id, V(1) };
	kexpr *row = READ(k, 1, id, V(1)), *b = READ(k, 2, V(1));
	kexpr *first = READ(k, 1, N(0), V(1)), *zero = R(0);
	kexpr *odd = F(EQ, F(MOD, id, N(2)), N(1));
	const struct {
		kexpr *body;
		bool derived;
	} cases[] = {
		{ row, true },
		{ F(MUL, row, b), true },
		{ F(MUL, R(2), row), true },
		{ F(DIV, row, b), true },
		{ F(ADD, row, F(MUL, b, row)), true },
		{ F(SUB, row, F(MUL, row, R(2))), true },
		{ F(ADD, row, zero), true },
		{ kx_fn1(a, FN_NEG, row), true },
		{ kx_cast(a, row, DT_F16), true },
		{ kx_select(a, odd, row, zero), true },
		{ kx_select(a, odd, row, kx_fn1(a, FN_NEG, row)), true },
		{ F(ADD, row, b), false },
		{ F(MUL, row, row), false },
		{ F(DIV, b, row), false },
		{ F(ADD, row, first), false },
		{ F(MUL, row, first), true },
		{ kx_fn1(a, FN_EXP, row), false },
		{ F(MAX, row, zero), false },
		{ kx_select(a, odd, row, b), false },
		{ kx_select(a, F(LT, row, zero), row, zero), false },
		{ kx_cast(a, row, DT_I64), false },
		{ kx_read(a, 1, DT_F32, 2, index, zero), true },
		{ F(MUL, kx_read(a, 1, DT_F32, 2, index, zero), b), true },
		{ kx_read(a, 1, DT_F32, 2, index, b), false },
		{ kx_read(a, 1, DT_F32, 2, index, R(-INFINITY)), false },
		{ kx_read(a, 1, DT_F32, 2, index, row), false },
		{ F(MUL, row, kx_read(a, 1, DT_F32, 2, index, R(1))), false },
		{ first, false },
		{ b, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kernel copy = *k;
		copy.body = cases[i].body;
		kernel_derive(a, &copy);
		ck_assert_msg(copy.nderived == cases[i].derived,
			      "case %zu: %s", i,
			      kx_text(a, k, cases[i].body));
		if (!cases[i].derived)
			continue;
		kernel_finish(a, &copy);
		const kvar *v = &copy.vars[2];
		ck_assert(copy.nvars == 3 && copy.derived[0].var == 2);
		ck_assert(copy.derived[0].input == 1);
		ck_assert(copy.derived[0].dim == 0);
		ck_assert(v->kind == KVAR_DERIVED && v->extent == 50);
		ck_assert_str_eq(v->name, "table.0");
		ck_assert(strategy_offered(&copy, 2, NULL));
		ck_assert_int_eq(strategy_reducer(&copy, 2), RED_SUM);
		ck_assert_int_eq(kernel_points(&copy), 12);
	}
	k->body = row;
	k->reducer = RED_MAX;
	kernel_derive(a, k);
	ck_assert_int_eq(k->nderived, 0);
	arena_free(a);
}
END_TEST

/* Both dimensions of x[p[i], q[i]], each once. */
START_TEST(derived_twice)
{
	arena *a = arena_new();
	kernel *k = make(a, 1, 1, DIMS(3));
	input(k, "p", DT_I64, 1, DIMS(3));
	input(k, "q", DT_I64, 1, DIMS(3));
	input(k, "x", DT_F32, 2, DIMS(7, 9));
	k->body = READ(k, 2, READ(k, 0, V(0)), READ(k, 1, V(0)));
	kernel_derive(a, k);
	kernel_finish(a, k);
	ck_assert(k->nvars == 3 && k->nderived == 2);
	box space = kernel_space(k);
	space.hi[1] = 3;
	space.lo[2] = 4;
	box need = kernel_need(k, &space, 2);
	ck_assert(need.lo[0] == 0 && need.hi[0] == 3);
	ck_assert(need.lo[1] == 4 && need.hi[1] == 9);
	arena_free(a);
}
END_TEST

/* ---- facts ------------------------------------------------------------- */

static bool is_read(const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (is_read(e->args[i], input))
			return true;
	return false;
}

/* The inputs that are read, and may be overwritten. */
static uint32_t in_place(const kernel *k)
{
	uint32_t all = 0;
	for (int i = 0; i < k->ninputs; i++)
		if (is_read(k->body, i) && kernel_in_place(k, i))
			all |= UINT32_C(1) << i;
	return all;
}

/* Along an extent of 1 the result's own index is 0; along others it is not. */
START_TEST(in_place_of_one)
{
	arena *a = arena_new();
	kernel *k = make(a, 2, 2, DIMS(1, 4));
	input(k, "x", DT_F32, 2, DIMS(1, 4));
	k->body = READ(k, 0, N(0), V(1));
	ck_assert_uint_eq(in_place(k), 1);
	k->body = READ(k, 0, V(0), V(1));
	ck_assert_uint_eq(in_place(k), 1);
	k->body = READ(k, 0, N(0), N(0));
	ck_assert_uint_eq(in_place(k), 0);
	arena_free(a);
}
END_TEST

/* A derived variable adds no loop: an input that is read at the result's own
 * index may be overwritten, one that is read elsewhere may not. */
START_TEST(in_place_beside_derived)
{
	arena *a = arena_new();
	kernel *k = make(a, 1, 1, DIMS(3));
	input(k, "ids", DT_I64, 1, DIMS(3));
	input(k, "table", DT_F32, 1, DIMS(3));
	input(k, "x", DT_F32, 1, DIMS(3));
	kexpr *row = READ(k, 1, READ(k, 0, V(0)));
	k->body = F(MUL, row, READ(k, 2, V(0)));
	kernel_derive(a, k);
	ck_assert_int_eq(k->nderived, 1);
	ck_assert_uint_eq(in_place(k), 4);
	k->body = F(MUL, row, READ(k, 2, N(0)));
	ck_assert_uint_eq(in_place(k), 0);
	arena_free(a);
}
END_TEST

START_TEST(facts)
{
	arena *a = arena_new();
	kernel *k = make(a, 3, 3, DIMS(2, 3, 4));
	input(k, "x", DT_F32, 3, DIMS(2, 3, 4));
	input(k, "bias", DT_F32, 1, DIMS(3));
	input(k, "row", DT_F32, 2, DIMS(1, 4));
	input(k, "wide", DT_F64, 3, DIMS(2, 3, 4));
	kexpr *x = READ(k, 0, V(0), V(1), V(2)), *bias = READ(k, 1, V(1));
	kexpr *row = READ(k, 2, N(0), V(2));
	kexpr *wide = kx_cast(a, READ(k, 3, V(0), V(1), V(2)), DT_F32);
	kexpr *next = READ(k, 0, V(0), V(1), F(SUB, N(3), V(2)));
	kexpr *swap = READ(k, 2, N(0), V(1));
	const struct {
		kexpr *body;
		bool elementwise;
		uint32_t in_place, linear;
	} cases[] = {
		{ x, true, 1, 1 },
		{ F(ADD, x, bias), true, 1, 0 },
		{ F(MUL, x, bias), true, 1, 3 },
		{ F(MUL, F(ADD, x, row), bias), true, 1, 2 },
		{ kx_fn1(a, FN_EXP, x), true, 1, 0 },
		{ wide, true, 0, 8 },
		{ next, false, 0, 1 },
		{ F(ADD, x, next), false, 0, 1 },
		{ F(MUL, x, x), true, 1, 0 },
		{ F(ADD, x, swap), false, 1, 0 },
		{ kx_select(a, F(LT, bias, R(0)), x, R(0)), true, 1, 1 },
		{ R(1), true, 0, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k->body = cases[i].body;
		kernel_facts f = kernel_facts_of(k);
		ck_assert_msg(f.elementwise == cases[i].elementwise &&
			      in_place(k) == cases[i].in_place &&
			      f.linear == cases[i].linear,
			      "case %zu: %s: %d %x %x", i,
			      kx_text(a, k, k->body), (int)f.elementwise,
			      in_place(k), f.linear);
	}
	k->vars[0].extent = k->vars[1].extent = INT64_MAX / 4;
	k->body = F(ADD, x, bias);
	ck_assert_int_eq(kernel_facts_of(k).flops, -1);
	arena_free(a);
}
END_TEST

/* ---- partial values ----------------------------------------------------- */

/* By which reducer the results combine where x is partial by Sum, Max, Min;
 * none does where a part that is NaN would be lost. */
START_TEST(passing)
{
	arena *a = arena_new();
	kernel *k = make(a, 2, 2, DIMS(3, 4));
	input(k, "x", DT_F32, 2, DIMS(3, 4));
	input(k, "c", DT_F32, 1, DIMS(4));
	input(k, "on", DT_BOOL, 1, DIMS(4));
	kexpr *x = READ(k, 0, V(0), V(1)), *c = READ(k, 1, V(1));
	kexpr *y = READ(k, 0, V(0), N(0)), *on = READ(k, 2, V(1));
	kexpr *falls = kx_fn1(a, FN_NEG, x), *zero = F(DIV, R(0), c);
	const struct {
		kexpr *body;
		reducer sum, max, min;
	} cases[] = {
		{ x, RED_SUM, RED_MAX, RED_MIN },
		{ falls, RED_SUM, RED_MIN, RED_MAX },
		{ F(ADD, x, c), RED_NONE, RED_MAX, RED_MIN },
		{ F(SUB, c, x), RED_NONE, RED_MIN, RED_MAX },
		{ F(MUL, x, c), RED_SUM, RED_NONE, RED_NONE },
		{ F(MUL, x, R(2)), RED_SUM, RED_MAX, RED_MIN },
		{ F(MUL, R(-2), x), RED_SUM, RED_MIN, RED_MAX },
		{ F(MUL, x, kx_fn1(a, FN_EXP, c)), RED_SUM, RED_MAX, RED_MIN },
		{ F(MUL, x, F(MUL, c, c)), RED_SUM, RED_MAX, RED_MIN },
		{ F(DIV, x, R(-4)), RED_SUM, RED_MIN, RED_MAX },
		{ F(DIV, x, c), RED_SUM, RED_NONE, RED_NONE },
		{ F(DIV, x, F(ADD, kx_fn1(a, FN_SQRT, c), R(1))), RED_SUM,
		  RED_MAX, RED_MIN },
		{ F(DIV, R(1), x), RED_NONE, RED_NONE, RED_NONE },
		{ kx_fn1(a, FN_TANH, x), RED_NONE, RED_MAX, RED_MIN },
		{ kx_fn1(a, FN_EXP, falls), RED_NONE, RED_MIN, RED_MAX },
		{ kx_fn1(a, FN_LOG, x), RED_NONE, RED_NONE, RED_NONE },
		{ kx_fn1(a, FN_COS, x), RED_NONE, RED_NONE, RED_NONE },
		{ F(MAX, x, R(0)), RED_NONE, RED_MAX, RED_MIN },
		{ F(MAX, x, y), RED_NONE, RED_MAX, RED_NONE },
		{ F(MIN, x, y), RED_NONE, RED_NONE, RED_MIN },
		{ F(MIN, falls, falls), RED_NONE, RED_MIN, RED_NONE },
		{ F(ADD, x, y), RED_SUM, RED_NONE, RED_NONE },
		{ F(MUL, x, x), RED_NONE, RED_NONE, RED_NONE },
		{ kx_select(a, on, x, y), RED_SUM, RED_MAX, RED_MIN },
		{ kx_select(a, on, x, c), RED_NONE, RED_MAX, RED_MIN },
		{ kx_select(a, on, x, falls), RED_SUM, RED_NONE, RED_NONE },
		{ kx_select(a, F(LT, x, c), x, R(0)), RED_NONE, RED_NONE,
		  RED_NONE },
		{ kx_select(a, F(GT, x, c), c, R(-INFINITY)), RED_NONE,
		  RED_NONE, RED_MIN },
		{ F(MUL, x, F(MIN, R(0), kx_fn1(a, FN_ABS, c))), RED_SUM,
		  RED_MAX, RED_MAX },
		{ F(MUL, x, F(MIN, R(0), c)), RED_SUM, RED_MIN, RED_MAX },
		{ F(MUL, x, F(MUL, zero, zero)), RED_SUM, RED_MAX, RED_MAX },
		{ kx_select(a, F(GT, x, c), R(-INFINITY),
			    kx_fn1(a, FN_NEG, R(INFINITY))), RED_NONE,
		  RED_NONE, RED_MAX },
		{ F(LT, x, c), RED_NONE, RED_AND, RED_NONE },
		{ kx_fn1(a, FN_NOT, F(LT, x, c)), RED_NONE, RED_OR, RED_NONE },
		{ F(AND, F(GT, x, c), on), RED_NONE, RED_NONE, RED_AND },
		{ F(AND, F(GT, x, c), F(GT, y, c)), RED_NONE, RED_NONE,
		  RED_AND },
		{ kx_cast(a, x, DT_F16), RED_SUM, RED_MAX, RED_MIN },
		{ kx_cast(a, x, DT_I32), RED_NONE, RED_NONE, RED_NONE },
		{ kx_cast(a, kx_cast(a, x, DT_I32), DT_I8), RED_NONE,
		  RED_NONE, RED_NONE },
		{ F(ADD, kx_cast(a, x, DT_I32), kx_int(a, 1, DT_I32)),
		  RED_NONE, RED_NONE, RED_NONE },
		{ c, RED_NONE, RED_NONE, RED_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k->body = cases[i].body;
		k->type = k->body->type;
		const reducer got[] = { kernel_commutes_with(k, 0, RED_SUM),
					kernel_commutes_with(k, 0, RED_MAX),
					kernel_commutes_with(k, 0, RED_MIN) };
		ck_assert_msg(got[0] == cases[i].sum &&
			      got[1] == cases[i].max &&
			      got[2] == cases[i].min,
			      "case %zu: %s: %s, %s, %s", i,
			      kx_text(a, k, k->body), reducer_name(got[0]),
			      reducer_name(got[1]), reducer_name(got[2]));
		ck_assert_int_eq(kernel_commutes_with(k, 0, RED_OR), RED_NONE);
		ck_assert_int_eq(kernel_commutes_with(k, 0, RED_PROD),
				 RED_NONE);
	}
	arena_free(a);
}
END_TEST

START_TEST(passing_reductions)
{
	arena *a = arena_new();
	kernel *k = make(a, 1, 2, DIMS(3, 4));
	input(k, "x", DT_F32, 2, DIMS(3, 4));
	k->body = READ(k, 0, V(0), V(1));
	const struct {
		reducer by, sum, max, min;
	} cases[] = {
		{ RED_SUM, RED_SUM, RED_NONE, RED_NONE },
		{ RED_MAX, RED_NONE, RED_MAX, RED_NONE },
		{ RED_MIN, RED_NONE, RED_NONE, RED_MIN },
		{ RED_PROD, RED_NONE, RED_NONE, RED_NONE },
		{ RED_ARGMAX, RED_NONE, RED_NONE, RED_NONE },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		k->reducer = cases[i].by;
		ck_assert_int_eq(kernel_commutes_with(k, 0, RED_SUM),
				 cases[i].sum);
		ck_assert_int_eq(kernel_commutes_with(k, 0, RED_MAX),
				 cases[i].max);
		ck_assert_int_eq(kernel_commutes_with(k, 0, RED_MIN),
				 cases[i].min);
	}
	/* The greatest of what falls comes of the least. */
	k->reducer = RED_MAX;
	k->body = kx_fn1(a, FN_NEG, k->body);
	ck_assert_int_eq(kernel_commutes_with(k, 0, RED_MIN), RED_MAX);
	ck_assert_int_eq(kernel_commutes_with(k, 0, RED_MAX), RED_NONE);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("strategy");
	TCase *t = tcase_create("strategy");
	tcase_add_test(t, matmul_has_three);
	tcase_add_test(t, conv1d_has_five);
	tcase_add_test(t, extremes);
	tcase_add_test(t, opaque_hides);
	tcase_add_test(t, derived);
	tcase_add_test(t, derived_twice);
	tcase_add_test(t, facts);
	tcase_add_test(t, in_place_of_one);
	tcase_add_test(t, in_place_beside_derived);
	tcase_add_test(t, passing);
	tcase_add_test(t, passing_reductions);
	suite_add_tcase(s, t);
	return s;
}
