/* Checked arithmetic, for every size that comes from a file.
 *
 * Each function returns false, and leaves *r unspecified, when the exact
 * result does not fit. */
#ifndef TDL_BASE_CHECKED_H
#define TDL_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ck_add(int64_t a, int64_t b, int64_t *r)
{
	return !__builtin_add_overflow(a, b, r);
}

static inline bool ck_sub(int64_t a, int64_t b, int64_t *r)
{
	return !__builtin_sub_overflow(a, b, r);
}

static inline bool ck_mul(int64_t a, int64_t b, int64_t *r)
{
	return !__builtin_mul_overflow(a, b, r);
}

/* The product of n extents, each of which must be >= 0. */
static inline bool ck_product(const int64_t *dims, int n, int64_t *r)
{
	int64_t p = 1;
	for (int i = 0; i < n; i++)
		if (dims[i] < 0 || !ck_mul(p, dims[i], &p))
			return false;
	*r = p;
	return true;
}

/* Sums and products of numbers >= 0 that saturate at INT64_MAX. */
static inline int64_t saturated_add(int64_t x, int64_t y)
{
	int64_t r;
	return ck_add(x, y, &r) ? r : INT64_MAX;
}

static inline int64_t saturated_mul(int64_t x, int64_t y)
{
	int64_t r;
	return ck_mul(x, y, &r) ? r : INT64_MAX;
}

/* Floor division and its remainder, 0 <= mod < b.  b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - (a % b < 0);
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
	int64_t m = a % b;
	return m < 0 ? m + b : m;
}

/* The greatest common divisor of a and b; 0 if both are 0.  Where it would be
 * 2^63, which does not fit, 2^62. */
static inline int64_t common_divisor(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	while (y) {
		uint64_t rest = x % y;
		x = y;
		y = rest;
	}
	return (int64_t)(x > INT64_MAX ? x / 2 : x);
}

/* The least multiple of `align' that is not less than n.  n >= 0, align > 0,
 * and n + align fits. */
static inline int64_t round_up(int64_t n, int64_t align)
{
	return (n + align - 1) / align * align;
}

/* The least power of two that is not less than n; n <= 2^30. */
static inline int power_of_two(int n)
{
	int power = 1;
	while (power < n)
		power *= 2;
	return power;
}

#endif
