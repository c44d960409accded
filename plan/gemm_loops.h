/* The loops of a contraction over a part of its iteration space, and how far
 * each moves in the operands.  Private to plan/gemm.c. */
#ifndef TDL_PLAN_GEMM_LOOPS_H
#define TDL_PLAN_GEMM_LOOPS_H

#include "plan/gemm.h"

/* Loops over points: a variable, or a part of one. */
typedef enum gemm_role { ROW, COL, DEPTH, BATCH } gemm_role;

typedef struct gemm_dim {
	int var;
	bool part; /* of the variable */
	bool reduced;
	int64_t count;
	int64_t step[GEMM_SIDES]; /* elements, in the view */
	/* Where the step is none: the places of its values, which calls are
	 * made for one by one; else NULL. */
	int64_t *at[GEMM_SIDES];
} gemm_dim;

typedef struct gemm_layout {
	arena *a;
	const kernel *k;
	const contraction *c;
	const view *views[GEMM_SIDES];
	box at; /* the point whose place is asked for */
	int64_t first[GEMM_SIDES]; /* the place of the first point */
	int ndims;
	gemm_dim dims[GEMM_MAX_DIMS];
	bool irregular; /* some dim has no steps */
} gemm_layout;

/* Lists the loops over a part that is not empty; x has all of its operands.
 * False where a variable of an index that is not affine has too many values. */
bool gemm_loops(gemm_layout *x, const box *space);

gemm_role gemm_role_of(const gemm_dim *d);

#endif
