/* The loops of a contraction over a part of its iteration space, and their
 * steps in the operands.  Private to plan/gemm.c. */
#ifndef TDL_PLAN_GEMM_LOOPS_H
#define TDL_PLAN_GEMM_LOOPS_H

#include "plan/gemm.h"

/* A loop: a variable, or a part of one. */
typedef enum gemm_role { ROW, COL, DEPTH, BATCH } gemm_role;

typedef struct gemm_dim {
	int var;
	bool part; /* only a part of the variable */
	bool reduced;
	int64_t count;
	int64_t step[GEMM_SIDES]; /* elements, in the view */
	/* If the values have no constant step: their places, for which calls
	 * are made one by one; else NULL. */
	int64_t *at[GEMM_SIDES];
} gemm_dim;

typedef struct gemm_layout {
	arena *a;
	const kernel *k;
	const contraction *c;
	const view *views[GEMM_SIDES];
	box at; /* the point whose place is being computed */
	int64_t first[GEMM_SIDES]; /* the place of the first point */
	int ndims;
	gemm_dim dims[GEMM_MAX_DIMS];
	bool irregular; /* some dim has no constant step */
} gemm_layout;

/* Lists the loops over a non-empty part; x has its operands set.  Returns false
 * if a variable of an index that is not affine has too many values. */
bool gemm_loops(gemm_layout *x, const box *space);

gemm_role gemm_role_of(const gemm_dim *d);

#endif
