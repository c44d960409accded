/* Linear programs by an interior-point method: the primal-dual one of Mehrotra
 * (1992), whose systems are quasi-definite (ldl.h).
 *
 * Of many optimal solutions it approaches the middle, not a corner: if two
 * variables can replace each other, both get a part. */
#ifndef TDL_COMPILER_PLACEMENT_INTERIOR_H
#define TDL_COMPILER_PLACEMENT_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Minimise cost' x subject to A x >= bound and x >= 0.  The entries of row r of
 * A are first[r] .. first[r + 1], with each column at most once.  Numbers
 * should be of the order of 1. */
typedef struct linear_program {
	int nrows, ncols;
	const int *first, *column;
	const double *value;
	const double *bound; /* [row] */
	const double *cost;  /* [column] */
} linear_program;

/* A solution x, in a, whose cost is within 1e-9 of the least, with constraints
 * kept to 1e-9.  NULL if a step would take more than `most' multiplications, or
 * the method stalls. */
double *interior_solve(arena *a, const linear_program *p, int64_t most);

#endif
