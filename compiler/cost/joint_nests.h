/* Costs of joint_table.h without a visit of the groups: where what a node deals
 * with is, in each dimension, all of the tensor or what it has of one variable,
 * so that both it and what is stored are parts of nests (layout/nest.h). */
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
	int64_t *volume; /* by way of the tensor: what all groups store */
	/* Of the row at hand. */
	const cuts *row;
	nest deals[MAX_NVARS];
	uint32_t partial; /* of layout_partial_axes() */
	int64_t all; /* elements that groups read, or produce */
	bool some; /* every group has a part of every variable */
} joint_nests;

/* For the tables of a pair whose sums are exact, in a; NULL where a node deals
 * with something else. */
joint_nests *joint_nests_new(arena *a, const mesh *m, const joint_pair *p);

/* Goes to a row: a way to divide the node. */
void joint_nests_row(joint_nests *w, const cuts *c);

/* The axes along which what they deal with is cut in dimension d, if every
 * group has a part of every variable. */
uint32_t joint_nests_axes(const joint_nests *w, int d);

/* Elements that the groups of that row receive under the j-th way of the
 * tensor, which fits (layout_fits()).  False where that does not follow from
 * nests. */
bool joint_nests_received(const joint_nests *w, int j, int64_t *n);

#endif
