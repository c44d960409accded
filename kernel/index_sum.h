/* Index arithmetic (i64, without reads) in normal form: a constant plus a sum
 * of atoms with coefficients, ordered by kx_compare().  Atoms are variables,
 * then expressions that are not sums.  Private to the simplifier
 * (kernel/simplify.c).
 *
 * A function that returns false could not bring its result into normal form:
 * the result is undefined, and the expression stays as it is. */
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

/* The range of s over the full extents of the variables.  Returns false if an
 * extent is unknown or the range exceeds INDEX_LIMIT; below it index arithmetic
 * cannot wrap. */
bool index_sum_span(const simplifier *p, const index_sum *s, span *r);

/* s += coef * x, s += scale * x, s += scale * e; e is in normal form. */
bool index_sum_add_atom(index_sum *s, int64_t coef, kexpr *x);
bool index_sum_add(index_sum *s, int64_t scale, const index_sum *x);
bool index_sum_add_expr(index_sum *s, int64_t scale, kexpr *e);

/* The expression of a sum: first a term with a positive coefficient if there is
 * one, then the others in order, last the constant. */
kexpr *index_sum_expr(simplifier *p, const index_sum *s);

/* ---- index_division.c -------------------------------------------------- */

/* q = floor(s / d), m = s - d * floor(s / d), for 0 < d < INDEX_LIMIT. */
bool index_divide(simplifier *p, const index_sum *s, int64_t d, index_sum *q);
bool index_remain(simplifier *p, const index_sum *s, int64_t d, index_sum *m);

/* Joins quotients and remainders among the atoms of s: c * m * (x / m) + c * (x
 * % m) becomes c * x. */
void index_join_parts(simplifier *p, index_sum *s);

#endif
