/* Bytes that stages of layers have in use for a while in each turn. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_PASSING_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_PASSING_H

#include "base/vec.h"

/* A buffer in use from instruction first to last, which layers low to high
 * write and read. */
typedef struct passing_use {
	int first, last, low, high;
	double nbytes;
} passing_use;

typedef VEC(passing_use) passing_uses;

/* While a layer is computed in a stage that has at least so many layers before
 * and behind it, so many bytes are in use at a time.  A stage that does not
 * have all layers that write and read a buffer has it as a message, or not at
 * all. */
typedef struct passing_corner {
	int before, behind;
	double nbytes;
} passing_corner;

typedef VEC(passing_corner) passing_corners;

/* The corners, in a, of a layer whose instructions are at[0 .. n - 1], in
 * order. */
passing_corners passing_of_layer(arena *a, const passing_uses *uses,
				 int layer, const int *at, int n);

/* The most bytes at a time of stages of layers [i, j): table[i (n + 1) + j],
 * for n layers with these corners. */
void passing_of_stages(const passing_corners *const *of, int n,
		       double *table);

#endif
