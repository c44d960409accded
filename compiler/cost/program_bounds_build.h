/* The state of making the bounds of one graph, shared by the files
 * program_bounds*.c alone. */
#ifndef TDL_COMPILER_COST_PROGRAM_BOUNDS_BUILD_H
#define TDL_COMPILER_COST_PROGRAM_BOUNDS_BUILD_H

#include "compiler/cost/assignment.h"
#include "compiler/cost/program_bounds.h"

/* Sets of nodes, a bit each. */
typedef uint64_t node_set;

typedef struct bound_maker {
	program_bound_set *to;
	const time_model *x;
	const graph *g;
	int *tensor_var, *node_var;
	node_set *above, *below; /* by node: all nodes before it, after it */
	node_set *readers;	 /* by tensor */
	bool *next;		 /* by tensor: the next value of a state */
	const merge *merges;	 /* by tensor; NULL: none */
	bool pinned;
	/* by tensor that may vanish: its nodes may take more than their
	 * candidates */
	bool *loose;
} bound_maker;

static inline node_set node_bit(node_id n)
{
	return (node_set)1 << n;
}

/* ---- program_bounds.c: merges and terms -------------------------------- */

/* Whether a tensor may vanish because its node is merged into its reader;
 * whether a node may be merged into another; whether others may be merged into
 * it. */
bool bound_may_vanish(const bound_maker *m, tensor_id t);
bool bound_may_go(const bound_maker *m, node_id n);
bool bound_may_grow(const bound_maker *m, node_id n);

/* Whether other nodes read the input of a pair, too. */
bool bound_is_shared(const bound_maker *m, const time_model_pair *p);

void bound_add_term(bound_maker *m, program_bound *f, int u, int v,
		    const double *cost);

/* Adds the cost of not merging: of a tensor that may vanish but does not.  The
 * table is over the choices of its node, of the tensor, and of its reader, if
 * all of these are considered, else over the first two. */
typedef double (*losing)(const bound_maker *m, tensor_id t, int made, int held,
			 int used);
void bound_add_loss(bound_maker *m, program_bound *f, tensor_id t, losing loss);

/* Adds the bytes of a tensor's block. */
void bound_add_block(bound_maker *m, program_bound *f, tensor_id t);

/* Adds the amount that a bound counts for a node and a tensor. */
typedef double (*counting)(const bound_maker *m, const time_model_pair *p,
			   const time_model_cost *c, int64_t stored);
void bound_add_pair(bound_maker *m, program_bound *f, const time_model_pair *p,
		    counting count);

/* ---- program_bounds_time.c, program_bounds_memory.c -------------------- */

/* Adds all bounds of the time, with transfers overlapping kernels or not.  The
 * longest chain is the one for the values usual[]. */
void bound_add_times(bound_maker *m, bool overlap, const int *usual);

/* Adds all bounds of the memory. */
void bound_add_memories(bound_maker *m);

#endif
