/* The division of a kernel's run among the threads of a worker, along one
 * dimension of the result. */
#ifndef TDL_RUNTIME_CPU_SHARES_H
#define TDL_RUNTIME_CPU_SHARES_H

#include "include/tdl/generated.h"
#include "runtime/exec/backend.h"

typedef struct shares {
	int nparts; /* 1: not divided */
	int var;
	/* parts have this many values of var, the last one perhaps fewer */
	int64_t unit;
} shares;

/* For each input of a kernel, the variables, a bit each, on which the elements
 * that a part reads depend; in a. */
uint32_t *shares_reads(arena *a, const kernel *k);

/* The shares, at most nthreads, that minimise the work of the thread with most:
 * its points, and the elements that it reads and packs, where elements
 * independent of the variable are read by every thread.  `keeps' describes the
 * KEPT_SIDES factors that may be kept; those that r keeps are divided in whole
 * tiles. */
shares shares_of(const kernel *k, const kernel_run *r,
		     const uint32_t *reads, const tdl_keeps *keeps,
		     int nthreads);

/* The number of points of a kernel's loops in a space. */
double shares_points(const kernel *k, const box *space);

/* Part i of a space. */
box shares_part(const shares *d, const box *space, int i);

#endif
