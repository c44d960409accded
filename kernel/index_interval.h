/* Compiled indices and conditions on them, whose intervals over a part of the
 * iteration space are quick to compute.  Private to kernel/.
 *
 * An index is a sum of a constant, of variables with coefficients, and of
 * atoms: divisions, remainders, minima, maxima, absolute values, products,
 * choices.  Its interval over a box is exact where it is affine.  A condition
 * first narrows the box, by propagating bounds backwards through the same sums,
 * as the HC4 algorithm for interval constraints does (Benhamou et al.,
 * ICLP'99). */
#ifndef TDL_KERNEL_INDEX_INTERVAL_H
#define TDL_KERNEL_INDEX_INTERVAL_H

#include "kernel/kernel.h"
#include "kernel/region.h"

/* Compilation checks that intermediate values of indices stay below INDEX_LIMIT
 * over the whole iteration space, so that arithmetic on parts of it cannot
 * overflow.  INDEX_FAR stands for no bound. */
#define INDEX_LIMIT ((int64_t)1 << 60)
#define INDEX_FAR ((int64_t)1 << 61)

typedef struct span {
	int64_t lo, hi; /* both inclusive */
} span;

typedef enum index_atom_kind {
	ATOM_DIV,    /* floor(x / d), d > 0 */
	ATOM_MOD,    /* x - d * floor(x / d) */
	ATOM_MIN,    /* of x and y */
	ATOM_MAX,
	ATOM_ABS,    /* of x */
	ATOM_MUL,    /* x * y, neither constant */
	ATOM_CHOICE, /* x where the condition holds, else y */
} index_atom_kind;

typedef struct atom atom;
typedef struct cond cond;

/* coef * (the variable var, or the atom where there is one) */
typedef struct index_term {
	int64_t coef;
	int var;
	const atom *atom;
} index_term;

typedef struct lin {
	int64_t c;
	int n;
	bool affine; /* no atoms; variables in ascending order */
	index_term *t;
	span all; /* over the whole iteration space */
} lin;

struct atom {
	index_atom_kind kind;
	int64_t d;
	lin x, y;
	const cond *when, *unless; /* ATOM_CHOICE; NULL: no bounds known */
	span all;
};

typedef enum cond_kind {
	COND_BETWEEN, /* lo <= x <= hi */
	COND_ALL,
	COND_ANY,
	COND_NEVER,
} cond_kind;

struct cond {
	cond_kind kind;
	lin x;
	span to; /* COND_BETWEEN */
	int n;
	const cond **of;
};

static inline int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline void box_copy(box *to, const box *from)
{
	to->n = from->n;
	for (int v = 0; v < from->n; v++) {
		to->lo[v] = from->lo[v];
		to->hi[v] = from->hi[v];
	}
}

/* The interval of x over a box, which is not empty in any of x's variables. */
span index_span(const lin *x, const box *b);

/* Narrows b to a box around its points where c holds; false if there are
 * none. */
bool index_narrow(const cond *c, box *b);

/* Compiles e.  Returns false if e is not an i64 expression over the variables
 * whose intervals can be computed. */
bool index_compile(arena *a, const kernel *k, const kexpr *e, lin *x);

/* Bounds on the variables implied by e having the value `want'; NULL if there
 * are none. */
const cond *index_cond(arena *a, const kernel *k, const kexpr *e, bool want);

/* The conjunction of n conditions, some of which may be NULL. */
const cond *index_all(arena *a, int n, const cond *const *of);

/* Intervals of the atoms. span_mul() returns false if the product exceeds
 * INDEX_LIMIT. */
span span_div(span x, int64_t d);
span span_mod(span x, int64_t d);
span span_min(span x, span y);
span span_max(span x, span y);
span span_abs(span x);
span span_hull(span x, span y);
span span_unscale(int64_t coef, span x); /* all v with coef * v in x */
bool span_mul(span x, span y, span *r);

#endif
