/* Byte costs of a node together with one of its tensors, for all ways to divide
 * the one and to cut the other over all axes of a mesh: the tables of
 * joint_problem.h. */
#ifndef TDL_COMPILER_COST_JOINT_TABLE_H
#define TDL_COMPILER_COST_JOINT_TABLE_H

#include "compiler/cost/candidates.h"

typedef struct joint_pair {
	const kernel *kernel;
	uint32_t inputs; /* the inputs that are the tensor; 0: it is the
			    result */
	const candidates *nodes, *tensors;
} joint_pair;

/* The tensor's sizes, as the kernel knows them, and the bytes of an element.
 * Returns the number of dimensions. */
int joint_sizes(const joint_pair *p, int64_t *sizes, int64_t *element);

/* Whether sums of volumes over all groups are exact in floating point. */
bool joint_is_exact(const mesh *m, const joint_pair *p);

/* Whether joint_table() applies: there are few candidates, and sums are
 * exact. */
bool joint_table_can(const mesh *m, const joint_pair *p);

/* An estimate of the time per entry of a table, about nanoseconds, by
 * joint_table() or axis by axis. */
int64_t joint_cell_work(const mesh *m);

/* Fills table[nodes->n][tensors->n] with bytes over all groups, the same as
 * pair_costs.h computes axis by axis. */
void joint_table(const mesh *m, const joint_pair *p, int64_t *table);

#endif
