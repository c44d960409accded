/* Index arithmetic, i64 without reads, in normal form: a sum of atoms
 * (variables, then what is not a sum) in the order of kx_compare(), each with a
 * coefficient, and a constant.  Private to the simplifier (kernel/simplify.c).
 *
 * A function that returns false could not put its result into normal form: the
 * result is undefined then, and the expression stays as it is. */
#ifndef TDL_KERNEL_INDEX_SUM_H
#define TDL_KERNEL_INDEX_SUM_H

#include "kernel/index_interval.h"

/* Sums with more atoms are left as they are. */
enum { MAX_ATOMS = 48 };

/* The state of one simplification. */
typedef struct simplifier {
	arena *a;    /* for the result */
	arena *work; /* for sums */
	const kvar *vars;
} simplifier;

typedef struct index_addend {
	int64_t coef;
	kexpr *x;
} index_addend;

typedef struct index_sum {
	int64_t c;
	int n;
	index_addend t[MAX_ATOMS];
} index_sum;

/* ---- index_sum.c ------------------------------------------------------- */

/* The values of s over all of the variables' extents; false where they are not
 * known or pass INDEX_LIMIT, so that index arithmetic is that of the integers.
 */
bool index_sum_span(const simplifier *p, const index_sum *s, span *r);

/* s += coef * x, s += scale * x, s += scale * e; e is in normal form. */
bool index_sum_add_atom(index_sum *s, int64_t coef, kexpr *x);
bool index_sum_add(index_sum *s, int64_t scale, const index_sum *x);
bool index_sum_add_expr(index_sum *s, int64_t scale, kexpr *e);

/* The expression of a sum: a term with a positive coefficient first, where
 * there is one, the others in their order, the constant last. */
kexpr *index_sum_expr(simplifier *p, const index_sum *s);

/* ---- index_division.c -------------------------------------------------- */

/* q = floor(s / d), m = s - d * floor(s / d), for 0 < d < INDEX_LIMIT. */
bool index_divide(simplifier *p, const index_sum *s, int64_t d, index_sum *q);
bool index_remain(simplifier *p, const index_sum *s, int64_t d, index_sum *m);

/* Puts the quotients and remainders among the atoms of s together:
 * c * m * (x / m) + c * (x % m) becomes c * x. */
void index_join_parts(simplifier *p, index_sum *s);

#endif
