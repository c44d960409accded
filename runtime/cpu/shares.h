/* The work of a kernel's run, divided among the threads of a worker along one
 * dimension of the result. */
#ifndef TDL_RUNTIME_CPU_SHARES_H
#define TDL_RUNTIME_CPU_SHARES_H

#include "include/tdl/generated.h"
#include "runtime/exec/backend.h"

typedef struct shares {
	int nparts; /* 1: it is not divided */
	int var;
	int64_t unit; /* parts are of so many values of var, but for the last */
} shares;

/* For each input of a kernel the variables, a bit each, on which the elements
 * that a part reads depend; in a. */
uint32_t *shares_reads(arena *a, const kernel *k);

/* The shares of at most nthreads that leave least to do to the thread that has
 * most: its points, and the elements that it reads and packs, where those that
 * do not depend on the variable are read by all.  `keeps' is of the factors
 * that may be kept, KEPT_SIDES of them; those that r keeps are divided in whole
 * tiles. */
shares shares_of(const kernel *k, const kernel_run *r,
		     const uint32_t *reads, const tdl_keeps *keeps,
		     int nthreads);

/* The points of a kernel's loops in a space. */
double shares_points(const kernel *k, const box *space);

/* Part i of a space. */
box shares_part(const shares *d, const box *space, int i);

#endif
