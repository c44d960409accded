/* Solves many sparse symmetric systems with the same pattern.
 *
 * The matrix is quasi-definite: up to the order of rows it is [-E A'; A F] with
 * E and F positive definite.  It therefore has factors L D L' in any order,
 * with a diagonal D (Vanderbei 1995), and the order can be chosen for few
 * entries: by minimum degree, with approximate degrees (Amestoy, Davis, Duff
 * 1996).  Rows of L are computed one by one (Davis, Algorithm 849, 2005). */
#ifndef TDL_COMPILER_PLACEMENT_LDL_H
#define TDL_COMPILER_PLACEMENT_LDL_H

#include <stdint.h>

#include "base/arena.h"

typedef struct ldl ldl;

/* An entry off the diagonal: (i, j) and, by symmetry, (j, i). */
typedef struct ldl_place {
	int i, j;
} ldl_place;

/* Orders a matrix of n rows that has off-diagonal entries at these places, each
 * given once, and finds the pattern of its factors; the result is in a.  `most'
 * limits the steps of the ordering plus the multiplications of one
 * ldl_factor().  Very dense rows come last; products of other rows with them
 * are not counted.  NULL if more is needed. */
ldl *ldl_new(arena *a, int n, const ldl_place *places, int nplaces,
	     int64_t most);

/* Factors the matrix with this diagonal, [n], and these values, one per
 * place. */
void ldl_factor(ldl *f, const double *diagonal, const double *value);

/* Solves for the right-hand side x, [n], in place. */
void ldl_solve(const ldl *f, double *x);

#endif
