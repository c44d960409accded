/* From layouts to a program: kernels on regions, transfers between layouts,
 * places in memory. */
#ifndef TDL_COMPILER_LOWER_LOWER_H
#define TDL_COMPILER_LOWER_LOWER_H

#include "compiler/search/search.h"
#include "plan/plan.h"

typedef struct lower_options {
	const char *algorithm; /* that made the assignment */
	/* Makes the sources of k->kernel, in the arena; NULL for a plan that
	 * is looked at and not run. */
	void (*codegen)(arena *a, plan_kernel *k);
	/* Read the files of the weights for their checksums, which a plan that
	 * goes to a file needs. */
	bool checksums;
	/* Bytes that a worker may use so that less has to be moved: what one
	 * operator fetched is kept for others as long as the arena is no
	 * larger.  0: a tenth more than it needs without.  Where that is more
	 * than is given here, nothing is kept that makes it need more. */
	int64_t memory;
	/* What waits for others' parts of a result runs a little later, if
	 * others can run meanwhile, for machines that communicate while they
	 * compute.  It takes more memory. */
	bool patient;
	/* Every node stays a kernel of its own: else see fuse.h. */
	bool separate;
} lower_options;

/* The program for g under an assignment.  The order of its nodes is chosen
 * for few bytes in use at once.  What a worker holds already is not copied, and
 * a tensor that several operators need in the same form is converted once
 * where there is memory to keep the copy in between.  NULL when errors
 * were added: more than PLAN_MAX_BYTES in one place, weights that cannot be
 * read. */
plan *lower_plan(arena *a, const graph *g, const assignment *as,
		 const lower_options *o, diag_sink *s);

#endif
