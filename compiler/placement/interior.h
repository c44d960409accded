/* Linear programs, solved by an interior-point method: the primal-dual one of
 * Mehrotra (1992), whose systems are quasi-definite (ldl.h).
 *
 * Of many optimal solutions it comes near the middle, not to a corner: where
 * two variables may take each other's place, both get a part. */
#ifndef TDL_COMPILER_PLACEMENT_INTERIOR_H
#define TDL_COMPILER_PLACEMENT_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* The least cost' x with A x >= bound and x >= 0.  Entries of row r of A are
 * first[r] .. first[r + 1], a column in a row once.  Numbers should lie around
 * 1. */
typedef struct linear_program {
	int nrows, ncols;
	const int *first, *column;
	const double *value;
	const double *bound; /* [row] */
	const double *cost;  /* [column] */
} linear_program;

/* A solution whose cost is within 1e-9 of the least, x and the rows being kept
 * to 1e-9, in a.  NULL where a step would take more than `most`
 * multiplications, or the method comes no further. */
double *interior_solve(arena *a, const linear_program *p, int64_t most);

#endif
