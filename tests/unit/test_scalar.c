/* Tests: kernel */
/* Scalar functions and conversions of the interpreter, by hand. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "kernel/elem.h"
#include "kernel/random.h"
#include "tests/unit/hand_kernels.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

#define V(v) kx_var(a, v)
#define N(n) kx_int(a, n, DT_I64)
#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })
#define INDEX(...) ((kexpr *[]){ __VA_ARGS__ })

/* f applied to n elements of type t; results of type u. */
static void map(fn f, dtype t, dtype u, const void *x, const void *y, int n,
		void *out)
{
	arena *a = arena_new();
	kernel *k = make_kernel(a, u, 1, 1, DIMS(n));
	kexpr *args[2];
	for (int i = 0; i < fn_nargs(f); i++) {
		add_kernel_input(k, t, 1, DIMS(n));
		args[i] = kx_read(a, i, t, 1, INDEX(V(0)), NULL);
	}
	k->body = kx_fn(a, f, fn_nargs(f), args);
	ck_assert_int_eq(evaluate(a, k, (void *[]){ (void *)x, (void *)y },
				  out, NULL), EVAL_OK);
	arena_free(a);
}

#define CHECK_MAP(ctype, type, f, n, x, y, want)                            \
	do {                                                                \
		ctype out_[n];                                              \
		map(FN_##f, type, type, (ctype[])x, (ctype[])y, n, out_);   \
		for (int i_ = 0; i_ < n; i_++)                              \
			ck_assert_msg(out_[i_] == ((ctype[])want)[i_],      \
				      #f " of " #type ", element %d", i_);  \
	} while (0)

#define L(...) { __VA_ARGS__ }

START_TEST(integers)
{
	CHECK_MAP(int64_t, DT_I64, DIV, 6, L(7, -7, 7, -7, 5, INT64_MIN),
		  L(2, 2, -2, -2, 0, -1), L(3, -4, -4, 3, 0, INT64_MIN));
	CHECK_MAP(int64_t, DT_I64, MOD, 6, L(7, -7, 7, -7, 5, INT64_MIN),
		  L(3, 3, -3, -3, 0, -1), L(1, 2, -2, -1, 0, 0));
	CHECK_MAP(int64_t, DT_I64, FMOD, 5, L(7, -7, 7, -7, 5),
		  L(3, 3, -3, -3, 0), L(1, -1, 1, -1, 0));
	CHECK_MAP(uint64_t, DT_U64, DIV, 2, L(UINT64_MAX, 9), L(2, 0),
		  L(UINT64_MAX / 2, 0));
	CHECK_MAP(uint64_t, DT_U64, MAX, 2, L(UINT64_MAX, 1), L(2, 3),
		  L(UINT64_MAX, 3));
	CHECK_MAP(uint8_t, DT_U8, SUB, 2, L(3, 9), L(5, 4), L(254, 5));
	CHECK_MAP(int8_t, DT_I8, ADD, 2, L(127, -128), L(1, -1), L(-128, 127));
	CHECK_MAP(int32_t, DT_I32, MUL, 1, L(1 << 20), L(1 << 20), L(0));
	CHECK_MAP(int32_t, DT_I32, POW, 5, L(3, -2, 2, 1, -1),
		  L(4, 3, -1, -5, -3), L(81, -8, 0, 1, -1));
	CHECK_MAP(int32_t, DT_I32, SHIFT_LEFT, 4, L(1, 1, 1, 3),
		  L(4, 32, -1, 31), L(16, 0, 0, INT32_MIN));
	CHECK_MAP(int32_t, DT_I32, SHIFT_RIGHT, 4, L(-8, -8, 8, 8),
		  L(1, 99, 99, -1), L(-4, -1, 0, 0));
	CHECK_MAP(uint32_t, DT_U32, SHIFT_RIGHT, 2, L(0x80000000u, 5),
		  L(31, 32), L(1, 0));
	CHECK_MAP(uint16_t, DT_U16, BIT_NOT, 1, L(1), L(0), L(0xfffe));
	CHECK_MAP(int16_t, DT_I16, ABS, 2, L(-5, INT16_MIN), L(0, 0),
		  L(5, INT16_MIN));
	CHECK_MAP(int64_t, DT_I64, SIGN, 3, L(-5, 0, 9), L(0), L(-1, 0, 1));
	CHECK_MAP(uint64_t, DT_U64, SIGN, 1, L(UINT64_MAX), L(0), L(1));
	uint8_t less[2];
	map(FN_LT, DT_U64, DT_BOOL, (uint64_t[]){ 1, UINT64_MAX },
	    (uint64_t[]){ UINT64_MAX, 1 }, 2, less);
	ck_assert(less[0] == 1 && less[1] == 0);
}
END_TEST

START_TEST(floats)
{
	double inf = INFINITY, nan = NAN, out[3];
	CHECK_MAP(double, DT_F64, DIV, 2, L(1, -1), L(4, 0), L(0.25, -inf));
	CHECK_MAP(double, DT_F64, MOD, 4, L(7, -7, 7, -7.5), L(3, 3, -3, -2),
		  L(1, 2, -2, -1.5));
	CHECK_MAP(double, DT_F64, FMOD, 2, L(-7, 7), L(3, -3), L(-1, 1));
	CHECK_MAP(double, DT_F64, ROUND, 4, L(0.5, 1.5, -2.5, 2.6), L(0),
		  L(0, 2, -2, 3));
	CHECK_MAP(double, DT_F64, SIGN, 3, L(-inf, 0, 3), L(0), L(-1, 0, 1));
	CHECK_MAP(double, DT_F64, SIGMOID, 3, L(0, 1000, -1000), L(0),
		  L(0.5, 1, 0));
	CHECK_MAP(double, DT_F64, SOFTPLUS, 2, L(1000, -1000), L(0),
		  L(1000, 0));
	CHECK_MAP(double, DT_F64, RSQRT, 2, L(4, 0), L(0), L(0.5, inf));
	CHECK_MAP(double, DT_F64, POW, 2, L(2, 9), L(10, 0.5), L(1024, 3));
	CHECK_MAP(double, DT_F64, LOG2, 3, L(8, 0.25, 0), L(0), L(3, -2, -inf));
	CHECK_MAP(double, DT_F64, HYPOT, 3, L(3, 3e300, -inf), L(4, 4e300, nan),
		  L(5, 5e300, inf));
	CHECK_MAP(double, DT_F64, SINPI, 6, L(0.5, 1, 1.5, 2, -3.5, 1e9 + 0.5),
		  L(0), L(1, 0, -1, 0, 1, 1));
	map(FN_MAX, DT_F64, DT_F64, (double[]){ nan, 1, 2 },
	    (double[]){ 1, nan, 3 }, 3, out);
	ck_assert(isnan(out[0]) && isnan(out[1]) && out[2] == 3);
	map(FN_MIN, DT_F64, DT_F64, (double[]){ nan, 1, 2 },
	    (double[]){ 1, nan, 3 }, 3, out);
	ck_assert(isnan(out[0]) && isnan(out[1]) && out[2] == 2);
	uint8_t is[3];
	map(FN_ISNAN, DT_F64, DT_BOOL, (double[]){ nan, inf, 0 }, NULL, 3, is);
	ck_assert(is[0] && !is[1] && !is[2]);
	map(FN_ISINF, DT_F64, DT_BOOL, (double[]){ nan, -inf, 0 }, NULL, 3,
	    is);
	ck_assert(!is[0] && is[1] && !is[2]);
	map(FN_NE, DT_F64, DT_BOOL, (double[]){ nan, 1, 2 },
	    (double[]){ nan, 1, 3 }, 3, is);
	ck_assert(is[0] && !is[1] && is[2]);
}
END_TEST

START_TEST(small_floats)
{
	static const struct {
		double v;
		uint16_t half, brain;
	} cases[] = {
		{ 0.0, 0x0000, 0x0000 },
		{ -0.0, 0x8000, 0x8000 },
		{ 1.0, 0x3c00, 0x3f80 },
		{ -2.5, 0xc100, 0xc020 },
		{ 65504, 0x7bff, 0x4780 },
		{ 65519.99, 0x7bff, 0x4780 },
		{ 65520, 0x7c00, 0x4780 },
		{ 1e39, 0x7c00, 0x7f80 },
		{ -1e39, 0xfc00, 0xff80 },
		{ 5.9604644775390625e-8, 0x0001, 0x3380 },
		{ 2.98023223876953125e-8, 0x0000, 0x3300 },
		{ 2.9802322387695316e-8, 0x0001, 0x3300 },
		{ 6.103515625e-5, 0x0400, 0x3880 },
		/* Halfway between two halves, and just above it: rounding to
		 * f32 on the way would lose the difference. */
		{ 1.00048828125, 0x3c00, 0x3f80 },
		{ 1.0004882812500002, 0x3c01, 0x3f80 },
		{ 1.00390625, 0x3c04, 0x3f80 },
		{ 1.01171875, 0x3c0c, 0x3f82 },
		{ 9.2e-41, 0x0000, 0x0001 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double v = cases[i].v;
		ck_assert_msg(elem_encode(DT_F16, v) == cases[i].half,
			      "%.17g as f16", v);
		ck_assert_msg(elem_encode(DT_BF16, v) == cases[i].brain,
			      "%.17g as bf16", v);
	}
	for (int bits = 0; bits < 1 << 16; bits++) {
		uint16_t b = (uint16_t)bits;
		double h = elem_decode(DT_F16, b), w = elem_decode(DT_BF16, b);
		ck_assert(isnan(h) || elem_encode(DT_F16, h) == b);
		ck_assert(isnan(w) || elem_encode(DT_BF16, w) == b);
	}
	ck_assert(isnan(elem_decode(DT_F16, elem_encode(DT_F16, NAN))));
	ck_assert(isnan(elem_decode(DT_BF16, elem_encode(DT_BF16, NAN))));
}
END_TEST

static const dtype byte_floats[] = {
	DT_F8E4M3FN, DT_F8E4M3FNUZ, DT_F8E5M2, DT_F8E5M2FNUZ,
	DT_F8E8M0, DT_F6E2M3, DT_F6E3M2, DT_F4E2M1,
};

/* Every code is a number that has this code, or NaN, or the other zero; the
 * next number is where the halfway point between two rounds to the even one. */
START_TEST(floats_of_eight_bits_and_less)
{
	dtype t = byte_floats[_i];
	int n = 1 << dtype_bits(t);
	for (int code = 0; code < n; code++) {
		double v = elem_decode(t, (uint64_t)code);
		if (!isnan(v))
			ck_assert_int_eq(elem_encode(t, v), code);
	}
	double top = elem_greatest(t), bottom = elem_least(t);
	ck_assert_double_eq(elem_beside(t, top, true), top);
	ck_assert_double_eq(elem_beside(t, bottom, false), bottom);
	for (int code = 0; code + 1 < n / 2; code++) {
		double x = elem_decode(t, (uint64_t)code);
		double y = elem_decode(t, (uint64_t)code + 1);
		if (!(x < y) || isinf(y))
			continue;
		double half = (x + y) / 2;
		uint64_t even = t == DT_F8E8M0 || code % 2 ?
			(uint64_t)code + 1 : (uint64_t)code;
		ck_assert_int_eq(elem_encode(t, half), even);
		ck_assert_int_eq(elem_encode(t, nextafter(half, x)), code);
		ck_assert_int_eq(elem_encode(t, nextafter(half, y)), code + 1);
		ck_assert_double_eq(elem_beside(t, half, false), x);
		ck_assert_double_eq(elem_beside(t, half, true), y);
	}
}
END_TEST

START_TEST(floats_out_of_range)
{
	static const struct {
		dtype t;
		double v;
		uint64_t bits;
	} cases[] = {
		{ DT_F8E4M3FN, 464, 0x7e },    { DT_F8E4M3FN, 465, 0x7f },
		{ DT_F8E4M3FN, -1e9, 0xff },   { DT_F8E4M3FN, NAN, 0x7f },
		{ DT_F8E4M3FNUZ, 1e9, 0x80 },  { DT_F8E4M3FNUZ, -0.0, 0 },
		{ DT_F8E4M3FNUZ, -1e-9, 0 },   { DT_F8E5M2, 61439, 0x7b },
		{ DT_F8E5M2, 61440, 0x7c },    { DT_F8E5M2, -INFINITY, 0xfc },
		{ DT_F8E5M2FNUZ, NAN, 0x80 },  { DT_F8E8M0, 0, 255 },
		{ DT_F8E8M0, -1, 255 },	       { DT_F8E8M0, 1e-300, 0 },
		{ DT_F8E8M0, 2.5e38, 254 },    { DT_F8E8M0, 2.6e38, 255 },
		{ DT_F6E2M3, INFINITY, 0x1f }, { DT_F6E3M2, -99, 0x3f },
		{ DT_F4E2M1, 99, 0x7 },	       { DT_F4E2M1, NAN, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(elem_encode(cases[i].t, cases[i].v) ==
				      cases[i].bits,
			      "%g as %s", cases[i].v,
			      dtype_name(cases[i].t));
}
END_TEST

/* The first four are the paper's own known answers. */
START_TEST(philox)
{
	static const struct {
		uint64_t seed, n;
		uint32_t word;
	} cases[] = {
		{ 0, 0, 0x6627e8d5 },
		{ 0, 1, 0xe169c58d },
		{ 0, 2, 0xbc57ac4c },
		{ 0, 3, 0x9b00dbd8 },
		{ 0x0123456789abcdef, 0, 0xb850222e },
		{ 0x0123456789abcdef, 5, 0x523e0d85 },
		{ 0x0123456789abcdef, 0x123456789abcdef2, 0xe1539669 },
		{ 0x0123456789abcdef, UINT64_MAX, 0xef9ceea3 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_uint_eq(random_word(cases[i].seed, cases[i].n),
				  cases[i].word);
}
END_TEST

/* cast(x[i], to) for one element. */
static void cast(dtype from, dtype to, const void *x, void *out)
{
	arena *a = arena_new();
	kernel *k = make_kernel(a, to, 1, 1, DIMS(1));
	add_kernel_input(k, from, 1, DIMS(1));
	k->body = kx_cast(a, kx_read(a, 0, from, 1, INDEX(V(0)), NULL), to);
	ck_assert_int_eq(evaluate(a, k, (void *[]){ (void *)x }, out, NULL),
			 EVAL_OK);
	arena_free(a);
}

#define CHECK_CAST(from, ctype, x, to, otype, want)                          \
	do {                                                                 \
		otype got_;                                                  \
		cast(from, to, (ctype[]){ x }, &got_);                       \
		ck_assert_msg(got_ == (otype)(want), #x " as " #to);         \
	} while (0)

START_TEST(casts)
{
	CHECK_CAST(DT_F64, double, 2.9, DT_I64, int64_t, 2);
	CHECK_CAST(DT_F64, double, -2.9, DT_I32, int32_t, -2);
	CHECK_CAST(DT_F64, double, 1e30, DT_I64, int64_t, INT64_MAX);
	CHECK_CAST(DT_F64, double, -1e30, DT_I64, int64_t, INT64_MIN);
	CHECK_CAST(DT_F64, double, NAN, DT_I64, int64_t, 0);
	CHECK_CAST(DT_F64, double, 300, DT_U8, uint8_t, 255);
	CHECK_CAST(DT_F64, double, -3, DT_U64, uint64_t, 0);
	CHECK_CAST(DT_F64, double, 1.5e19, DT_U64, uint64_t,
		   15000000000000000000u);
	CHECK_CAST(DT_U64, uint64_t, UINT64_MAX, DT_F64, double,
		   18446744073709551616.0);
	CHECK_CAST(DT_I64, int64_t, 257, DT_U8, uint8_t, 1);
	CHECK_CAST(DT_I64, int64_t, 255, DT_I8, int8_t, -1);
	CHECK_CAST(DT_I64, int64_t, 256, DT_BOOL, uint8_t, 1);
	CHECK_CAST(DT_F64, double, 0.25, DT_BOOL, uint8_t, 1);
	CHECK_CAST(DT_BOOL, uint8_t, 1, DT_F32, float, 1);
	CHECK_CAST(DT_F64, double, 0.1, DT_F32, float, 0.1f);
	CHECK_CAST(DT_F64, double, 65504, DT_F16, uint16_t, 0x7bff);
	CHECK_CAST(DT_BF16, uint16_t, 0x3f80, DT_F64, double, 1);
	CHECK_CAST(DT_I64, int64_t, 9, DT_I4, int8_t, -7);
	CHECK_CAST(DT_I64, int64_t, -1, DT_U4, uint8_t, 15);
	CHECK_CAST(DT_I64, int64_t, 6, DT_I2, int8_t, -2);
	CHECK_CAST(DT_F64, double, 9.9, DT_I4, int8_t, 7);
	CHECK_CAST(DT_F64, double, -9.9, DT_U2, uint8_t, 0);
	CHECK_CAST(DT_F64, double, 3.2, DT_F4E2M1, uint8_t, 0x5);
}
END_TEST

/* A cast rounds in the middle of an expression, too. */
START_TEST(casts_round)
{
	arena *a = arena_new();
	kernel *k = make_kernel(a, DT_F64, 0, 0, NULL);
	double x = 0.1, out;
	add_kernel_input(k, DT_F64, 0, NULL);
	kexpr *read = kx_read(a, 0, DT_F64, 0, NULL, NULL);
	k->body = kx_fn2(a, FN_SUB, read,
			 kx_cast(a, kx_cast(a, read, DT_F32), DT_F64));
	ck_assert_int_eq(evaluate(a, k, (void *[]){ &x }, &out, NULL),
			 EVAL_OK);
	ck_assert_double_eq(out, 0.1 - (double)0.1f);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("scalar");
	TCase *t = tcase_create("scalar");
	tcase_add_test(t, integers);
	tcase_add_test(t, floats);
	tcase_add_test(t, small_floats);
	tcase_add_loop_test(t, floats_of_eight_bits_and_less, 0,
			    sizeof(byte_floats) / sizeof(byte_floats[0]));
	tcase_add_test(t, floats_out_of_range);
	tcase_add_test(t, philox);
	tcase_add_test(t, casts);
	tcase_add_test(t, casts_round);
	suite_add_tcase(s, t);
	return s;
}
