/* The scalar functions of the language, one by one, as defined in
 * docs/language.md. */
#include "config.h"

#include "compiler/verify/reference/number.h"

#include <math.h>
#include <string.h>

/* ---- floats of one argument --------------------------------------------- */

static double rsqrt_of(double x)
{
	return 1 / sqrt(x);
}

static double sigmoid_of(double x)
{
	return 1 / (1 + exp(-x));
}

static double softplus_of(double x)
{
	return x > 40 ? x : log1p(exp(x));
}

static double sign_of(double x)
{
	return isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
}

static double sinpi_of(double x)
{
	const long double pi = 3.14159265358979323846264338L;
	long double r = fmodl(fabsl(x), 2), s = signbit(x) ? -1 : 1;
	if (r >= 1) {
		r -= 1;
		s = -s;
	}
	return (double)(s * sinl(pi * (r > 0.5L ? 1 - r : r)));
}

static const struct {
	const char *name;
	double (*of)(double);
	/* greatest slope, for a function with a turning point: in between it
	 * may differ much from its values at both ends */
	double slope;
} of_one[] = {
	{ "exp", exp, 0 },	     { "expm1", expm1, 0 },
	{ "log", log, 0 },	     { "log1p", log1p, 0 },
	{ "sqrt", sqrt, 0 },     { "rsqrt", rsqrt_of, 0 },
	{ "sin", sin, 1 },	     { "cos", cos, 1 },
	{ "tan", tan, 0 },	     { "asin", asin, 0 },
	{ "acos", acos, 0 },     { "atan", atan, 0 },
	{ "sinh", sinh, 0 },     { "cosh", cosh, 0 },
	{ "tanh", tanh, 0 },     { "asinh", asinh, 0 },
	{ "acosh", acosh, 0 },   { "atanh", atanh, 0 },
	{ "erf", erf, 0 },	     { "sigmoid", sigmoid_of, 0 },
	{ "softplus", softplus_of, 0 },
	{ "floor", floor, 0 },   { "ceil", ceil, 0 },
	{ "round", nearbyint, 0 }, { "abs", fabs, 0 },
	{ "sign", sign_of, 0 },	     { "log2", log2, 0 },
	{ "sinpi", sinpi_of, M_PI },
};

enum { NOF_ONE = sizeof(of_one) / sizeof(*of_one) };

static int find_of_one(const char *name)
{
	for (int i = 0; i < NOF_ONE; i++)
		if (!strcmp(of_one[i].name, name))
			return i;
	return -1;
}

/* The greatest difference of f from its value at x, for arguments that differ
 * by at most e.  It is at the ends, or at 0, where an even function turns. */
static double spread(double (*f)(double), double slope, double x, double e)
{
	double at = f(x), low = f(x - e), high = f(x + e);
	double turn = fabs(x) < e ? f(0) : at;
	if (e == 0)
		return 0;
	if (isinf(at) && at == low && at == high && at == turn)
		return 0;
	double far = fmax(fabs(low - at), fabs(high - at));
	if (turn != at)
		far = fmax(far, fabs(turn - at));
	if (isnan(low) || isnan(high) || isnan(at))
		return NAN;
	return slope > 0 ? fmax(far, slope * e) : far;
}

static bool is_exact(double (*f)(double))
{
	return f == floor || f == ceil || f == nearbyint || f == fabs ||
	       f == sign_of;
}

static ref_number float_of_one(int at, ref_number x)
{
	double (*f)(double) = of_one[at].of;
	double error = spread(f, of_one[at].slope, x.f, x.error);
	/* The tangent is infinite between the ends. */
	if (f == tan && x.error > 0 &&
	    floor((x.f - x.error) / M_PI + 0.5) !=
		    floor((x.f + x.error) / M_PI + 0.5))
		error = NAN;
	if (is_exact(f) && error == 0)
		return ref_float(x.type, f(x.f));
	return ref_result(x.type, f(x.f), error);
}

/* ---- floats of two arguments -------------------------------------------- */

static double remainder_of(double x, double y)
{
	double r = fmod(x, y);
	if (r == 0)
		return copysign(r, y);
	return (r < 0) != (y < 0) ? r + y : r;
}

/* The remainder of x by y, with the quotient rounded down (%) or towards zero
 * (fmod). */
static ref_number float_modulo(ref_number x, ref_number y, bool down)
{
	double f = down ? remainder_of(x.f, y.f) : fmod(x.f, y.f);
	if (x.error == 0 && y.error == 0)
		return ref_result(x.type, f, 0);
	double q = x.f / y.f;
	double far = (x.error + fabs(q) * y.error) / (fabs(y.f) - y.error);
	/* Rounding may also carry it over a multiple. */
	far += 8 * ref_unit(x.type) * fabs(q);
	if (!(fabs(y.f) > y.error) || !isfinite(q) ||
	    floor(q - far) != floor(q + far))
		return ref_doubt(x.type);
	return ref_result(x.type, f, x.error + (fabs(q) + 1) * y.error);
}

static ref_number float_power(ref_number x, ref_number y)
{
	double f = pow(x.f, y.f), error = 0;
	if (x.error > 0 || y.error > 0) {
		if (x.f - x.error <= 0 && (x.error > 0 || y.error > 0) &&
		    (y.error > 0 || y.f < 0 || y.f != trunc(y.f)))
			return ref_doubt(x.type);
		for (int i = -1; i <= 1; i++)
			for (int j = -1; j <= 1; j++)
				error = fmax(error,
					     fabs(pow(x.f + i * x.error,
						      y.f + j * y.error) - f));
		if (fabs(x.f) < x.error) /* an even power turns at 0 */
			error = fmax(error, fabs(pow(0, y.f) - f));
		if (isnan(f))
			error = NAN;
	}
	/* A power is as steep as its exponent is large. */
	if (isfinite(f) && x.f > 0)
		error += 4 * ref_unit(x.type) * fabs(f) *
			 fabs(y.f * log(x.f));
	return ref_result(x.type, f, error);
}

static ref_number float_divided(ref_number x, ref_number y)
{
	double q = x.f / y.f;
	if (y.error > 0 && fabs(y.f) <= y.error)
		return ref_doubt(x.type);
	if (x.error == 0 && y.error == 0)
		return ref_result(x.type, q, 0);
	return ref_result(x.type, q, (x.error + fabs(q) * y.error) /
					     (fabs(y.f) - y.error));
}

static ref_number float_times(ref_number x, ref_number y)
{
	double f = x.f * y.f;
	double error = x.error == 0 && y.error == 0 ? 0
		       : fabs(x.f) * y.error + fabs(y.f) * x.error +
				 x.error * y.error;
	return ref_result(x.type, f, error);
}

/* min and max; a NaN stays NaN. */
static ref_number float_extreme(ref_number x, ref_number y, bool max)
{
	if (isnan(x.f))
		return x;
	if (isnan(y.f))
		return y;
	ref_number r = (max ? x.f > y.f : x.f < y.f) ? x : y;
	r.error = fmax(x.error, y.error);
	return r;
}

static ref_number float_of_two(const char *name, ref_number x, ref_number y)
{
	double errors = x.error + y.error;
	if (!strcmp(name, "+"))
		return ref_result(x.type, x.f + y.f, errors);
	if (!strcmp(name, "-"))
		return ref_result(x.type, x.f - y.f, errors);
	if (!strcmp(name, "*"))
		return float_times(x, y);
	if (!strcmp(name, "/"))
		return float_divided(x, y);
	if (!strcmp(name, "%"))
		return float_modulo(x, y, true);
	if (!strcmp(name, "fmod"))
		return float_modulo(x, y, false);
	if (!strcmp(name, "pow"))
		return float_power(x, y);
	if (!strcmp(name, "hypot"))
		return ref_result(x.type, hypot(x.f, y.f), errors);
	return float_extreme(x, y, !strcmp(name, "max"));
}

/* ---- integers ----------------------------------------------------------- */

static bool is_less(dtype t, int64_t x, int64_t y)
{
	return t == DT_U64 ? (uint64_t)x < (uint64_t)y : x < y;
}

/* The quotient rounded down; 0 for a divisor of 0. */
static __int128 quotient(__int128 x, __int128 y)
{
	if (y == 0)
		return 0;
	__int128 q = x / y;
	return q - (x % y != 0 && (x < 0) != (y < 0));
}

static __int128 power(__int128 x, __int128 y)
{
	int64_t r = 1;
	if (y < 0)
		return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
	/* With 64 bits powers repeat after at most 2^62. */
	uint64_t base = (uint64_t)x, n = (uint64_t)y;
	for (uint64_t result = 1;; base *= base, n /= 2) {
		if (n % 2)
			result *= base;
		r = (int64_t)result;
		if (n < 2)
			return r;
	}
}

static __int128 shifted(dtype t, __int128 x, __int128 n, bool left)
{
	bool beyond = n < 0 || n >= dtype_bits(t);
	if (left)
		return beyond ? 0 : (__int128)((unsigned __int128)x << n);
	return beyond ? x < 0 ? -1 : 0 : x >> n;
}

/* Word n % 4 of block n / 4 of Philox4x32-10 under the seed. */
static uint32_t random_of(uint64_t seed, uint64_t n)
{
	uint32_t c0 = (uint32_t)(n / 4), c1 = (uint32_t)(n / 4 >> 32);
	uint32_t c2 = 0, c3 = 0;
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	for (int i = 0; i < 10; i++) {
		uint64_t p0 = UINT64_C(0xD2511F53) * c0;
		uint64_t p1 = UINT64_C(0xCD9E8D57) * c2;
		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c1 = (uint32_t)p1;
		c3 = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return n % 4 == 0 ? c0 : n % 4 == 1 ? c1 : n % 4 == 2 ? c2 : c3;
}

static ref_number int_of_two(const char *name, ref_number a, ref_number b)
{
	dtype t = a.type;
	bool u64 = t == DT_U64;
	__int128 x = u64 ? (__int128)(uint64_t)a.i : a.i;
	__int128 y = u64 ? (__int128)(uint64_t)b.i : b.i, r = 0;
	if (!strcmp(name, "+"))
		r = x + y;
	else if (!strcmp(name, "-"))
		r = x - y;
	else if (!strcmp(name, "*"))
		r = (__int128)((uint64_t)x * (uint64_t)y);
	else if (!strcmp(name, "/"))
		r = quotient(x, y);
	else if (!strcmp(name, "%"))
		r = y == 0 ? 0 : x - y * quotient(x, y);
	else if (!strcmp(name, "fmod"))
		r = y == 0 ? 0 : x % y;
	else if (!strcmp(name, "pow"))
		r = power(x, y);
	else if (!strcmp(name, "hypot")) /* floats, converted back */
		return ref_cast(ref_float(DT_F64, hypot((double)x, (double)y)),
				t);
	else if (!strcmp(name, "min"))
		r = x < y ? x : y;
	else if (!strcmp(name, "max"))
		r = x > y ? x : y;
	else if (!strcmp(name, "bit_and"))
		r = x & y;
	else if (!strcmp(name, "bit_or"))
		r = x | y;
	else if (!strcmp(name, "bit_xor"))
		r = x ^ y;
	else if (!strcmp(name, "random"))
		r = random_of((uint64_t)a.i, (uint64_t)b.i);
	else
		r = shifted(t, x, y, !strcmp(name, "shift_left"));
	return ref_int(t, (int64_t)(uint64_t)(unsigned __int128)r);
}

static ref_number int_of_one(const char *name, ref_number x)
{
	bool minus = dtype_is_signed(x.type) && x.i < 0;
	if (!strcmp(name, "neg") || (!strcmp(name, "abs") && minus))
		return ref_int(x.type, (int64_t)(0 - (uint64_t)x.i));
	if (!strcmp(name, "bit_not"))
		return ref_int(x.type, ~x.i);
	if (!strcmp(name, "sign"))
		return ref_int(x.type, minus ? -1 : x.i != 0);
	if (!strcmp(name, "abs") || find_of_one(name) < 0)
		return x;
	/* A function of floats: computed from the number as a float, and
	 * converted back. */
	ref_number f = ref_float(DT_F64, x.type == DT_U64
						 ? (double)(uint64_t)x.i
						 : (double)x.i);
	return ref_cast(float_of_one(find_of_one(name), f), x.type);
}

/* ---- comparisons -------------------------------------------------------- */

static bool is_comparison(const char *name)
{
	return *name == '<' || *name == '>' || *name == '=' || *name == '!';
}

static bool holds(const char *name, bool less, bool equal, bool greater)
{
	switch (name[0]) {
	case '<':
		return less || (name[1] && equal);
	case '>':
		return greater || (name[1] && equal);
	case '=':
		return equal;
	default:
		return !equal;
	}
}

static ref_number compared(const char *name, ref_number x, ref_number y)
{
	if (!dtype_is_float(x.type))
		return ref_bool(holds(name, is_less(x.type, x.i, y.i),
				      x.i == y.i,
				      is_less(x.type, y.i, x.i)));
	double errors = x.error + y.error;
	if (errors > 0 && fabs(x.f - y.f) <= errors)
		return ref_doubt(DT_BOOL);
	return ref_bool(holds(name, x.f < y.f, x.f == y.f, x.f > y.f));
}

/* ---- all of them -------------------------------------------------------- */

bool ref_applies(const char *name)
{
	static const char *const others[] = {
		"pow", "min", "max", "fmod", "isnan", "isinf", "bit_and",
		"bit_or", "bit_xor", "bit_not", "shift_left", "shift_right",
		"random", "hypot",
	};
	const int n = sizeof(others) / sizeof(*others);
	for (int i = 0; i < n; i++)
		if (!strcmp(others[i], name))
			return true;
	return find_of_one(name) >= 0;
}

ref_number ref_apply(const char *name, int n, ref_number x, ref_number y)
{
	bool test = !strcmp(name, "isnan") || !strcmp(name, "isinf");
	bool gives_bool = test || is_comparison(name);
	int one = find_of_one(name);
	if (x.doubt || (n > 1 && y.doubt))
		return ref_doubt(gives_bool ? DT_BOOL : x.type);
	if (is_comparison(name))
		return compared(name, x, y);
	if (test)
		return ref_bool(dtype_is_float(x.type) &&
				(name[2] == 'n' ? isnan(x.f) : isinf(x.f)));
	if (!dtype_is_float(x.type))
		return n > 1 ? int_of_two(name, x, y) : int_of_one(name, x);
	if (n > 1)
		return float_of_two(name, x, y);
	if (one >= 0)
		return float_of_one(one, x);
	x.f = -x.f; /* neg */
	return x;
}
