#include "config.h"

#include "kernel/region.h"

#include <assert.h>

static inline int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Products of extents saturate at INT64_MAX. */
static inline int64_t times(int64_t a, int64_t b)
{
	int64_t r;
	return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* ---- boxes ------------------------------------------------------------- */

box box_whole(const int64_t *dims, int n)
{
	box b;
	b.n = n;
	for (int d = 0; d < n; d++) {
		if (dims[d] <= 0)
			return box_empty(n);
		b.lo[d] = 0;
		b.hi[d] = dims[d];
	}
	return b;
}

box box_empty(int n)
{
	box b;
	b.n = n;
	for (int d = 0; d < n; d++)
		b.lo[d] = b.hi[d] = 0;
	return b;
}

bool box_is_empty(const box *b)
{
	for (int d = 0; d < b->n; d++)
		if (b->lo[d] >= b->hi[d])
			return true;
	return false;
}

bool box_equal(const box *a, const box *b)
{
	if (a->n != b->n)
		return false;
	for (int d = 0; d < a->n; d++)
		if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])
			return false;
	return true;
}

bool box_contains(const box *outer, const box *inner)
{
	if (box_is_empty(inner))
		return true;
	for (int d = 0; d < inner->n; d++)
		if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
			return false;
	return true;
}

int64_t box_volume(const box *b)
{
	if (box_is_empty(b))
		return 0;
	int64_t v = 1;
	for (int d = 0; d < b->n; d++)
		v = times(v, b->hi[d] - b->lo[d]);
	return v;
}

box box_intersect(const box *a, const box *b)
{
	assert(a->n == b->n);
	box r;
	r.n = a->n;
	for (int d = 0; d < a->n; d++) {
		r.lo[d] = max64(a->lo[d], b->lo[d]);
		r.hi[d] = min64(a->hi[d], b->hi[d]);
		if (r.lo[d] >= r.hi[d])
			return box_empty(a->n);
	}
	return r;
}

box box_hull(const box *a, const box *b)
{
	assert(a->n == b->n);
	if (box_is_empty(a))
		return *b;
	if (box_is_empty(b))
		return *a;
	box r;
	r.n = a->n;
	for (int d = 0; d < a->n; d++) {
		r.lo[d] = min64(a->lo[d], b->lo[d]);
		r.hi[d] = max64(a->hi[d], b->hi[d]);
	}
	return r;
}

int64_t box_volume_less(const box *a, const box *b)
{
	int64_t v = 1, common = 1;
	for (int d = 0; d < a->n; d++) {
		int64_t n = a->hi[d] - a->lo[d];
		int64_t m = min64(a->hi[d], b->hi[d]) -
			    max64(a->lo[d], b->lo[d]);
		if (n <= 0)
			return 0;
		v = times(v, n);
		common = times(common, max64(m, 0));
	}
	return v - common;
}

/* Writes n, 0 <= n < volume, in the mixed radix of the box's extents. */
static void unrank(const box *b, int64_t n, int64_t *digit)
{
	for (int d = b->n; d-- > 0;) {
		int64_t extent = b->hi[d] - b->lo[d];
		digit[d] = n % extent;
		n /= extent;
	}
}

int64_t box_count_before(const box *outer, const box *inner, int64_t n)
{
	if (n <= 0 || box_is_empty(inner))
		return 0;
	if (n >= box_volume(outer))
		return box_volume(inner);
	int64_t digit[MAX_NVARS], rest = box_volume(inner), count = 0;
	unrank(outer, n, digit);
	for (int d = 0; d < outer->n; d++) {
		int64_t at = outer->lo[d] + digit[d];
		rest /= inner->hi[d] - inner->lo[d];
		count += rest * max64(min64(at, inner->hi[d]) - inner->lo[d],
				      0);
		if (at < inner->lo[d] || at >= inner->hi[d])
			break;
	}
	return count;
}

/* ---- a kernel's spaces ------------------------------------------------- */

box kernel_space(const kernel *k)
{
	box b;
	b.n = k->nvars;
	for (int v = 0; v < k->nvars; v++) {
		b.lo[v] = 0;
		b.hi[v] = max64(k->vars[v].extent, 0);
	}
	return b;
}

box kernel_produces(const kernel *k, const box *space)
{
	box b;
	b.n = k->nout;
	for (int v = 0; v < k->nout; v++) {
		if (space->lo[v] >= space->hi[v])
			return box_empty(k->nout);
		b.lo[v] = space->lo[v];
		b.hi[v] = space->hi[v];
	}
	return b;
}
