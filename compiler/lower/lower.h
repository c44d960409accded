/* Lowering: from a graph and its layouts to a program of kernels on regions,
 * transfers between layouts, and places in memory. */
#ifndef TDL_COMPILER_LOWER_LOWER_H
#define TDL_COMPILER_LOWER_LOWER_H

#include "compiler/cost/assignment.h"
#include "compiler/lower/order.h"
#include "plan/plan.h"

typedef struct lower_options {
	const char *algorithm; /* that made the assignment */
	/* Makes the sources of k->kernel, in the arena; NULL for a plan that is
	 * only evaluated. */
	void (*codegen)(arena *a, plan_kernel *k);
	/* Read the files of the weights for their checksums, which a plan
	 * written to a file needs. */
	bool checksums;
	/* Bytes that a worker's arena may take for copies: tensors that one
	 * operator fetched are kept for others, so that less is moved, as long
	 * as the arena is no larger than this.  0: a tenth more than it takes
	 * without copies.  An arena that is larger without copies is not
	 * enlarged further. */
	int64_t memory;
	lower_schedule schedule;
	lower_rooms *rooms; /* receives those of the program; NULL */
	/* Every node stays a kernel of its own; otherwise see fuse.h. */
	bool separate;
} lower_options;

/* The program for g under an assignment.  The order of its nodes is chosen for
 * few bytes in use at once.  Regions that a worker holds already are not
 * copied, and a tensor that several operators need in the same layout is
 * converted once if there is memory to keep the copy in between.  NULL when
 * errors were added: an object of more than PLAN_MAX_BYTES, weights that cannot
 * be read. */
plan *lower_plan(arena *a, const graph *g, const assignment *as,
		 const lower_options *o, diag_sink *s);

/* Whether lower_options.memory of `memory` bytes leads to the same program as
 * the one that has these rooms and takes `held' bytes, all else being equal:
 * either keeps all copies.  False where the program that was made has dropped
 * some. */
bool lower_is_same(const lower_rooms *rooms, int64_t held, int64_t memory);

#endif
