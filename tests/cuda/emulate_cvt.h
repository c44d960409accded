/* The conversions of small floats that tdl/scalar.h has as instructions of
 * PTX, by the numbers that their bits stand for; a part of
 * tests/cuda/emulate.h.  Source: PTX ISA 8.1, cvt: to nearest even; a NaN is
 * 0x7fff in 16 bits, 0x7f in 8; .satfinite is the largest number of the sign
 * where the result would be greater, or infinite. */
#ifndef TDL_TESTS_CUDA_EMULATE_CVT_H
#define TDL_TESTS_CUDA_EMULATE_CVT_H

/* A format by the bits of its mantissa and its exponent's bias. */
struct emu_format {
	int mantissa, bias;
	double largest;
	unsigned infinity, nan; /* no infinity: that of the largest number */
};

static const emu_format emu_f16 = {10, 15, 65504, 0x7c00, 0x7fff};
static const emu_format emu_bf16 = {7, 127, 0x1.fep127, 0x7f80, 0x7fff};
static const emu_format emu_e4m3 = {3, 7, 448, 0x7e, 0x7f};
static const emu_format emu_e5m2 = {2, 15, 57344, 0x7b, 0x7f};

/* The code of |x| rounded, without the sign. */
static inline unsigned emu_encode(const emu_format &t, double x)
{
	if (x != x)
		return t.nan;
	x = __builtin_fabs(x);
	if (x == 0 || x == __builtin_inf())
		return x == 0 ? 0 : t.infinity;
	int e = __builtin_ilogb(x);
	if (e < 1 - t.bias)
		e = 1 - t.bias; /* subnormal */
	/* In units of the last place, of which 2^mantissa make the first bit of
	 * a number that is not subnormal. */
	const double units = __builtin_nearbyint(
		__builtin_ldexp(x, t.mantissa - e));
	if (__builtin_ldexp(units, e - t.mantissa) > t.largest)
		return t.infinity;
	return (unsigned)((e + t.bias - 1) << t.mantissa) + (unsigned)units;
}

static inline double emu_decode(const emu_format &t, unsigned code)
{
	const unsigned rest = code & ((1u << t.mantissa) - 1);
	const int e = (int)(code >> t.mantissa);
	if (e == 0)
		return __builtin_ldexp(rest, 1 - t.bias - t.mantissa);
	return __builtin_ldexp(rest + (double)(1u << t.mantissa),
			       e - t.bias - t.mantissa);
}

static inline unsigned emu_cvt(const emu_format &t, float x, unsigned sign)
{
	return emu_encode(t, x) | (x == x && __builtin_signbit(x) ? sign : 0);
}

static inline float tdl_cvt_f32_f16(unsigned short h)
{
	const unsigned code = h & 0x7fff;
	if (code > emu_f16.infinity)
		return emu_cast<float>(0x7fffffff);
	const double x = code == emu_f16.infinity ? __builtin_inf()
						  : emu_decode(emu_f16, code);
	return (float)(h & 0x8000 ? -x : x);
}

static inline unsigned short tdl_cvt_f16_f32(float x)
{
	return (unsigned short)emu_cvt(emu_f16, x, 0x8000);
}

static inline unsigned short tdl_cvt_bf16_f32(float x)
{
	return (unsigned short)emu_cvt(emu_bf16, x, 0x8000);
}

/* The upper one of the two is 0. */
static inline unsigned short tdl_cvt_e4m3x2_f32(float x)
{
	return (unsigned short)emu_cvt(emu_e4m3, x, 0x80);
}

static inline unsigned short tdl_cvt_e5m2x2_f32(float x)
{
	return (unsigned short)emu_cvt(emu_e5m2, x, 0x80);
}

static inline unsigned emu_f16_of_e4m3(unsigned code)
{
	const unsigned rest = code & 0x7f;
	if (rest == emu_e4m3.nan)
		return emu_f16.nan;
	return emu_encode(emu_f16, emu_decode(emu_e4m3, rest)) |
	       (code & 0x80) << 8;
}

static inline unsigned tdl_cvt_f16x2_e4m3x2(unsigned short h)
{
	return emu_f16_of_e4m3(h & 0xff) | emu_f16_of_e4m3(h >> 8) << 16;
}

#endif
