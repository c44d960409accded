/* Local search on a placement; every step is judged by the simulation
 * itself. */
#ifndef TDL_COMPILER_PLACEMENT_IMPROVE_H
#define TDL_COMPILER_PLACEMENT_IMPROVE_H

#include "compiler/placement/task.h"

/* The cost of a placement: the bytes above the limit, summed over devices; of
 * equal ones, the makespan. */
typedef struct place_cost {
	int64_t overflow, makespan;
} place_cost;

static inline bool place_cost_less(place_cost a, place_cost b)
{
	return a.overflow != b.overflow ? a.overflow < b.overflow :
					  a.makespan < b.makespan;
}

place_cost place_cost_of(const place_task *t, const int *place);

/* Improves a placement in place by at most *evaluations simulations, and
 * subtracts those used.  Never makes it worse.  Stops at makespan `bound'.
 *
 * Works in cycles (multilevel refinement; Hendrickson, Leland 1995; repeated
 * from the present placement as in Walshaw 2004).  First units that share a
 * device and exchange much are joined, pair by pair, level by level.  Then,
 * from the coarsest level to the finest, each group tries the devices of its
 * neighbours and one other, and stays where the cost is not worse. */
void place_improve(const place_task *t, int *place, int64_t bound,
		   int64_t *evaluations, uint64_t seed);

#endif
