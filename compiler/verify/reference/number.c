/* Types and conversions of the reference's numbers, from the definitions of the
 * formats. */
#include "config.h"

#include "compiler/verify/reference/number.h"

#include <float.h>
#include <math.h>

/* ---- formats ------------------------------------------------------------ */

/* A format with exponent and mantissa: those of IEEE 754, and for small floats
 * those of the Open Compute standard and of Graphcore and AMD. */
typedef struct format {
	dtype type;
	int exponent, mantissa, bias;
	double greatest;
	bool infinity, nan;
	bool one_zero; /* there is no -0 */
} format;

static const format formats[] = {
	{ DT_F16, 5, 10, 15, 65504, true, true, false },
	{ DT_BF16, 8, 7, 127, 0x1.fep127, true, true, false },
	{ DT_F8E4M3FN, 4, 3, 7, 448, false, true, false },
	{ DT_F8E4M3FNUZ, 4, 3, 8, 240, false, true, true },
	{ DT_F8E5M2, 5, 2, 15, 57344, true, true, false },
	{ DT_F8E5M2FNUZ, 5, 2, 16, 57344, false, true, true },
	{ DT_F6E2M3, 2, 3, 1, 7.5, false, false, false },
	{ DT_F6E3M2, 3, 2, 3, 28, false, false, false },
	{ DT_F4E2M1, 2, 1, 1, 6, false, false, false },
};

static const format *format_of(dtype t)
{
	const int n = sizeof(formats) / sizeof(*formats);
	for (int i = 0; i < n; i++)
		if (formats[i].type == t)
			return &formats[i];
	return NULL;
}

double ref_greatest(dtype t)
{
	const format *s = format_of(t);
	return s		? s->greatest
	       : t == DT_F64	? DBL_MAX
	       : t == DT_F8E8M0 ? 0x1p127
				: (double)FLT_MAX;
}

double ref_least(dtype t)
{
	return t == DT_F8E8M0 ? 0x1p-127 : -ref_greatest(t);
}

bool ref_has_infinity(dtype t)
{
	const format *s = format_of(t);
	return s ? s->infinity : t != DT_F8E8M0;
}

/* The power of two nearest to f; of two equally near ones the greater. */
static double round_power(double f)
{
	if (!(f > 0) || isinf(f))
		return NAN;
	double low = ldexp(1, ilogb(f));
	double r = f - low < 2 * low - f ? low : 2 * low;
	return r > 0x1p127 ? NAN : fmax(r, 0x1p-127);
}

double ref_round(dtype t, double f)
{
	const format *s = format_of(t);
	if (t == DT_F64)
		return f;
	if (t == DT_F32)
		return (double)(float)f;
	if (t == DT_F8E8M0)
		return round_power(f);
	if (isnan(f))
		return s->nan ? f : 0;
	double r = fabs(f);
	if (r > 0 && isfinite(r)) {
		int e = ilogb(r) < 1 - s->bias ? 1 - s->bias : ilogb(r);
		double step = ldexp(1, e - s->mantissa);
		r = nearbyint(r / step) * step;
	}
	if (r > s->greatest)
		r = s->infinity ? INFINITY : s->nan ? NAN : s->greatest;
	return r == 0 && s->one_zero ? 0 : copysign(r, f);
}

/* ---- integers ----------------------------------------------------------- */

static int64_t wrap(dtype t, int64_t i)
{
	int bits = dtype_bits(t);
	if (t == DT_BOOL)
		return i != 0;
	if (bits == 64)
		return i;
	int64_t low = i & ((INT64_C(1) << bits) - 1);
	bool minus = dtype_is_signed(t) && low >> (bits - 1);
	return minus ? low - (INT64_C(1) << bits) : low;
}

/* Numbers of an integer type are in [bottom, top). */
static double top_of(dtype t)
{
	return ldexp(1, dtype_bits(t) - dtype_is_signed(t));
}

static double bottom_of(dtype t)
{
	return dtype_is_signed(t) ? -top_of(t) : 0;
}

int64_t ref_truncate(dtype t, double f)
{
	if (t == DT_BOOL)
		return f != 0;
	if (isnan(f))
		return 0;
	f = trunc(f);
	if (f >= top_of(t))
		return t == DT_U64 ? -1
		       : t == DT_I64 ? INT64_MAX
				     : (int64_t)top_of(t) - 1;
	if (f <= bottom_of(t))
		return t == DT_I64 ? INT64_MIN : (int64_t)bottom_of(t);
	return t == DT_U64 ? (int64_t)(uint64_t)f : (int64_t)f;
}

static double as_double(dtype t, int64_t i)
{
	return t == DT_U64 ? (double)(uint64_t)i : (double)i;
}

/* ---- making numbers ----------------------------------------------------- */

ref_number ref_constant(int64_t i)
{
	return (ref_number){ .type = DT_NONE, .i = i };
}

ref_number ref_fraction(double f)
{
	return (ref_number){ .type = DT_NONE, .fraction = true, .f = f };
}

ref_number ref_int(dtype t, int64_t i)
{
	return (ref_number){ .type = t, .i = wrap(t, i) };
}

ref_number ref_float(dtype t, double f)
{
	return (ref_number){ .type = t, .f = f };
}

ref_number ref_bool(bool b)
{
	return ref_int(DT_BOOL, b);
}

ref_number ref_doubt(dtype t)
{
	return (ref_number){ .type = t, .doubt = true };
}

double ref_unit(dtype t)
{
	return t == DT_F64 ? 0x1p-53 : 0x1p-24;
}

/* The least positive number of the type used for computing. */
static double tiny(dtype t)
{
	return t == DT_F64 ? 0x1p-1074 : 0x1p-126;
}

static double most(dtype t)
{
	return t == DT_F64 ? DBL_MAX : (double)FLT_MAX;
}

ref_number ref_result(dtype t, double f, double error)
{
	enum { UNITS = 8 };
	if (!isfinite(error))
		return ref_doubt(t);
	if (!isfinite(f))
		return error == 0 ? ref_float(t, f) : ref_doubt(t);
	if (f != 0)
		error += UNITS * ref_unit(t) * fabs(f) + tiny(t);
	if (fabs(f) + error > most(t))
		return ref_doubt(t);
	return (ref_number){ .type = t, .f = f, .error = error };
}

/* ---- conversions -------------------------------------------------------- */

/* A float that may or may not have been rounded to a type. */
static ref_number about(dtype t, double f)
{
	double error = fabs(ref_round(t, f) - f);
	return isnan(error) && !isinf(f) ? ref_doubt(t)
	       : (ref_number){ .type = t, .f = f,
			       .error = isnan(error) ? 0 : error };
}

/* inf as the greatest number of a type. */
static ref_number extreme(dtype t, bool minus)
{
	if (dtype_is_int(t)) {
		double bound = minus ? bottom_of(t) : top_of(t);
		return ref_int(t, ref_truncate(t, bound));
	}
	if (!ref_has_infinity(t))
		return ref_float(t, minus ? ref_least(t) : ref_greatest(t));
	return ref_float(t, minus ? -INFINITY : INFINITY);
}

ref_number ref_meet(ref_number x, dtype t)
{
	if (x.type != DT_NONE || x.text)
		return x;
	if (t == DT_NONE)
		t = x.fraction ? DT_F32 : DT_I64;
	if (x.doubt)
		return ref_doubt(t);
	if (x.fraction && isinf(x.f))
		return extreme(t, x.f < 0);
	if (dtype_is_float(t)) {
		ref_number r = about(t, x.fraction ? x.f : (double)x.i);
		r.error += x.error;
		return r;
	}
	return ref_int(t, x.fraction ? (int64_t)x.f : x.i);
}

ref_number ref_stored(ref_number x)
{
	if (!dtype_is_float(x.type) || x.doubt)
		return x;
	ref_number r = ref_float(x.type, ref_round(x.type, x.f));
	if (x.error == 0)
		return r;
	double low = ref_round(x.type, x.f - x.error);
	double high = ref_round(x.type, x.f + x.error);
	if (low == r.f && high == r.f)
		return r;
	if (isnan(low) || isnan(high))
		return ref_doubt(x.type);
	r.error = fmax(fabs(high - r.f), fabs(low - r.f));
	return isfinite(r.error) ? r : ref_doubt(x.type);
}

ref_number ref_passed(ref_number x)
{
	ref_number r = ref_stored(x);
	if (!dtype_is_float(x.type) || x.doubt || r.doubt)
		return r;
	double far = fabs(r.f - x.f);
	if (isnan(far)) /* like inf - inf */
		return r.f == x.f || (isnan(r.f) && isnan(x.f))
			       ? x : ref_doubt(x.type);
	x.error = fmax(x.error, r.error + far);
	return isfinite(x.error) ? x : ref_doubt(x.type);
}

static ref_number float_to_int(ref_number x, dtype t)
{
	int64_t i = ref_truncate(t, x.f);
	if (x.error > 0 && (ref_truncate(t, x.f - x.error) != i ||
			    ref_truncate(t, x.f + x.error) != i ||
			    (t == DT_BOOL && fabs(x.f) <= x.error)))
		return ref_doubt(t);
	return ref_int(t, i);
}

ref_number ref_cast(ref_number x, dtype t)
{
	if (x.doubt)
		return ref_doubt(t);
	if (x.type == t)
		return x;
	if (!dtype_is_float(x.type))
		return dtype_is_float(t)
			       ? ref_float(t, ref_round(t, as_double(x.type,
								     x.i)))
			       : ref_int(t, x.i);
	if (!dtype_is_float(t))
		return float_to_int(x, t);
	x.type = t;
	return ref_stored(x);
}

/* ---- bits --------------------------------------------------------------- */

/* The bits of an exact float.  Returns false for a NaN, which has many. */
static bool bits_of(dtype t, double f, uint64_t *bits)
{
	const format *s = format_of(t);
	union { double f; uint64_t i; } wide = { f };
	union { float f; uint32_t i; } single = { (float)f };
	if (isnan(f))
		return false;
	*bits = t == DT_F64 ? wide.i : single.i;
	if (t == DT_F8E8M0)
		*bits = (uint64_t)(ilogb(f) + 127);
	if (!s)
		return true;
	double r = fabs(f);
	int e = r > 0 && isfinite(r) ? ilogb(r) : 0;
	if (isinf(r))
		*bits = ((UINT64_C(1) << s->exponent) - 1) << s->mantissa;
	else if (r == 0 || e < 1 - s->bias)
		*bits = (uint64_t)ldexp(r, s->bias - 1 + s->mantissa);
	else
		*bits = ((uint64_t)(e + s->bias) << s->mantissa) +
			(uint64_t)ldexp(r - ldexp(1, e), s->mantissa - e);
	if (signbit(f))
		*bits |= UINT64_C(1) << (s->exponent + s->mantissa);
	return true;
}

/* The float of a format with these bits. */
static double float_of(const format *s, uint64_t bits)
{
	int width = s->exponent + s->mantissa;
	bool minus = bits >> width & 1;
	int e = (int)(bits >> s->mantissa & ((1u << s->exponent) - 1));
	double m = (double)(bits & ((1u << s->mantissa) - 1));
	double f = e ? ldexp(ldexp(1, s->mantissa) + m,
			     e - s->bias - s->mantissa)
		     : ldexp(m, 1 - s->bias - s->mantissa);
	if (f > s->greatest)
		f = s->infinity && m == 0 ? INFINITY : NAN;
	if (s->one_zero && f == 0 && minus)
		return NAN;
	return minus ? -f : f;
}

static ref_number from_bits(dtype t, uint64_t bits)
{
	const format *s = format_of(t);
	union { uint64_t i; double f; } wide = { bits };
	union { uint32_t i; float f; } single = { (uint32_t)bits };
	if (!dtype_is_float(t))
		return ref_int(t, (int64_t)bits);
	double f = s		      ? float_of(s, bits)
		   : t == DT_F64      ? wide.f
		   : t == DT_F32      ? (double)single.f
		   : (bits & 255) == 255 ? (double)NAN
				      : ldexp(1, (int)(bits & 255) - 127);
	return ref_float(t, f);
}

ref_number ref_bitcast(ref_number x, dtype t)
{
	uint64_t bits = (uint64_t)x.i;
	if (x.type == t)
		return x;
	if (x.doubt)
		return ref_doubt(t);
	if (!dtype_is_float(x.type))
		return from_bits(t, bits);
	x = ref_stored(x);
	/* min and max may give either of two zeros. */
	if (x.doubt || x.error > 0 || x.f == 0 || !bits_of(x.type, x.f, &bits))
		return ref_doubt(t);
	return from_bits(t, bits);
}

/* ---- saturate ----------------------------------------------------------- */

/* The number of type x within t's range that is nearest to the bound. */
static double bound_within(dtype x, dtype t, bool low)
{
	double b = dtype_is_float(t) ? low ? ref_least(t) : ref_greatest(t)
		   : low	     ? bottom_of(t)
				     : top_of(t) - (dtype_bits(t) < 64);
	b = low ? fmax(b, ref_least(x)) : fmin(b, ref_greatest(x));
	double r = ref_round(x, b);
	bool outside = low ? r < b : r > b;
	if (!dtype_is_float(t) && dtype_bits(t) == 64 && !low)
		outside = r >= top_of(t);
	uint64_t bits;
	if (!outside || !bits_of(x, r, &bits))
		return r;
	/* Move away from the bound: the next lower bits of a float are towards
	 * zero.  For powers of two the least positive number is left
	 * upwards. */
	return from_bits(x, low && b > 0 ? bits + 1 : bits - 1).f;
}

static ref_number saturate_float(ref_number x, dtype t)
{
	double low = bound_within(x.type, t, true);
	double high = bound_within(x.type, t, false);
	if (x.f - x.error < low && x.f + x.error > low)
		x.error += fabs(x.f - low);
	/* A bound of 0 is not a negative zero. */
	if (x.f <= low)
		x.f = low;
	if (x.f > high)
		x.f = high;
	return x;
}

ref_number ref_saturate(ref_number x, dtype t)
{
	if (x.doubt)
		return x;
	if (dtype_is_float(x.type))
		return saturate_float(x, t);
	double v = as_double(x.type, x.i);
	double low = dtype_is_float(t) ? ceil(ref_least(t)) : bottom_of(t);
	double top = dtype_is_float(t) ? ref_greatest(t) : top_of(t) - 1;
	bool wide = !dtype_is_float(t) && dtype_bits(t) == 64;
	if (v < low)
		return ref_int(x.type, (int64_t)low);
	if (wide && t == DT_I64 && x.type == DT_U64 && v >= top_of(t))
		return ref_int(x.type, INT64_MAX);
	if (!wide && v > top)
		return ref_int(x.type, (int64_t)top);
	return x;
}
