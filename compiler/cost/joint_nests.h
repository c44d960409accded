/* Costs of joint_table.h without visiting the groups.  Applies if in each
 * dimension a node reads or produces either all of the tensor or the range of
 * one variable, so that both this and the stored part are parts of nests
 * (layout/nest.h). */
#ifndef TDL_COMPILER_COST_JOINT_NESTS_H
#define TDL_COMPILER_COST_JOINT_NESTS_H

#include "compiler/cost/joint_table.h"
#include "layout/nest.h"

typedef struct joint_nests {
	const mesh *m;
	const joint_pair *pair;
	uint32_t axes; /* all of them */
	int n;	       /* dimensions of the tensor */
	int64_t sizes[MAX_NVARS];
	int spans[MAX_NVARS]; /* of kernel_need_spans() */
	nest *stored;	      /* [tensors->n][n] */
	/* by way to cut the tensor: the elements that all groups store */
	int64_t *volume;
	/* Of the current row. */
	const cuts *row;
	nest deals[MAX_NVARS];
	uint32_t partial; /* of layout_partial_axes() */
	int64_t all; /* elements that groups read, or produce */
	bool some; /* every group has a part of every variable */
} joint_nests;

/* For the tables of a pair whose sums are exact, in a.  NULL if the node reads
 * or produces other parts. */
joint_nests *joint_nests_new(arena *a, const mesh *m, const joint_pair *p);

/* Selects a row: a way to divide the node. */
void joint_nests_row(joint_nests *w, const cuts *c);

/* The axes along which the node's part is cut in dimension d, if every group
 * has a part of every variable. */
uint32_t joint_nests_axes(const joint_nests *w, int d);

/* The elements that the groups of the current row receive under the j-th way to
 * cut the tensor, which must fit (layout_fits()).  False if that does not
 * follow from nests. */
bool joint_nests_received(const joint_nests *w, int j, int64_t *n);

#endif
