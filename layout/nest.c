#include "config.h"

#include "layout/nest.h"

#include "base/checked.h"
#include "layout/layout.h"

nest nest_none(void)
{
	return (nest){ .parts = 1 };
}

void nest_add(nest *x, const mesh *m, uint32_t axes)
{
	for (; axes; axes &= axes - 1) {
		int a = __builtin_ctz(axes);
		if (m->size[a] == 1)
			continue;
		x->axis[x->n++] = (signed char)a;
		x->parts *= m->size[a];
	}
}

bool nest_covers(const nest *x, const nest *y)
{
	for (int i = 0; i < x->n; i++)
		if (i >= y->n || x->axis[i] != y->axis[i])
			return false;
	return true;
}

/* Equations between coordinates.  An axis is on the left of at most one
 * equation, and on the right of at most one, so they form paths and cycles. */
typedef struct equations {
	const mesh *m;
	uint32_t left, used;
	signed char right[MAX_AXES]; /* by the axis on the left */
	uint32_t summed; /* axes whose parts were summed directly */
	int64_t sum;	 /* the product of sums and lengths so far */
} equations;

static bool equate(equations *e, int x, int y)
{
	if (e->m->size[x] != e->m->size[y])
		return false;
	if (x == y)
		return true;
	e->left |= UINT32_C(1) << x;
	e->used |= UINT32_C(1) << x | UINT32_C(1) << y;
	e->right[x] = (signed char)y;
	return true;
}

/* Adds a dimension of the boxes.  Parts of different lengths must contain each
 * other; then the inner parts are summed, since these are the overlap. */
static bool add_dim(equations *e, int64_t extent, const nest *x, const nest *y)
{
	const nest *inner = x->n > y->n ? x : y, *outer = inner == x ? y : x;
	if (extent % inner->parts != 0) {
		if (!nest_covers(outer, inner))
			return false;
		for (int i = 0; i < inner->n; i++) {
			uint32_t one = UINT32_C(1) << inner->axis[i];
			if (e->summed & one)
				return false;
			e->summed |= one;
		}
		return ck_mul(e->sum, extent, &e->sum);
	}
	for (int i = 0; i < outer->n; i++)
		if (!equate(e, x->axis[i], y->axis[i]))
			return false;
	return ck_mul(e->sum, extent / inner->parts, &e->sum);
}

/* The number of coordinates on some axes that solve the equations: each
 * equation leaves a fraction of them, except the last of a cycle. */
static int64_t solutions(const equations *e, uint32_t axes)
{
	int64_t n = layout_sharers(e->m, axes & ~e->summed);
	uint32_t left = e->left;
	for (uint32_t rest = left; rest; rest &= rest - 1)
		n /= e->m->size[__builtin_ctz(rest)];
	while (left) {
		int first = __builtin_ctz(left), a = first;
		do {
			left &= ~(UINT32_C(1) << a);
			a = e->right[a];
		} while (left >> a & 1);
		n *= a == first ? e->m->size[a] : 1;
	}
	return n;
}

bool nest_common(const mesh *m, uint32_t axes, int n, const int64_t *extent,
		 const nest *const *x, const nest *const *y, int64_t *sum)
{
	equations e = { .m = m, .sum = 1 };
	for (int d = 0; d < n; d++)
		if (!add_dim(&e, extent[d], x[d], y[d]))
			return false;
	if (e.used & e.summed)
		return false;
	return ck_mul(e.sum, solutions(&e, axes), sum);
}
