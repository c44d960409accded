/* Groups of operators that lie on one device, for least loads.
 *
 * The load of an accelerator is the time of its operators, and of each tensor
 * that some but not all of {producer, readers} on it need, once, the time of
 * its transfer.  A processor core pays for no transfers (Tarnawski et al.,
 * Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS
 * 2020).  So a tensor is an edge of a hypergraph, and each accelerator with a
 * part of a cut edge pays for it. */
#ifndef TDL_COMPILER_PLACEMENT_GROUPS_H
#define TDL_COMPILER_PLACEMENT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/placement/cost_graph.h"

typedef struct hyperedge {
	int64_t ns;
	int first, n; /* pins[first .. first + n): groups, ascending; n >= 2 */
} hyperedge;

typedef struct groups {
	int n;
	int *of; /* by operator */
	int64_t *ns, *core_ns, *nbytes; /* by group; core_ns GROUP_NEVER if an
					   operator has none */
	int nedges;
	hyperedge *edges;
	int *pins;
	/* Groups that come directly before v in the forward pass:
	 * before[first_before[v] .. first_before[v + 1]).  Backward operators
	 * follow by colour; groups of the backward pass alone stand in for it,
	 * with their edges turned. */
	int *first_before, *before;
} groups;

#define GROUP_NEVER ((int64_t)1 << 60)

typedef struct group_options {
	const int64_t *transfer_ns; /* by result of the graph */
	const int64_t *nbytes;	    /* by operator: all the time */
	bool cores;	/* there are processor cores */
	bool contiguous; /* groups on a cycle become one */
	bool join;	/* groups that take no time join their only neighbour:
			   never worse but for memory */
} group_options;

/* The groups of a graph by its colours. */
groups *groups_new(arena *a, const cost_graph *g, const group_options *o);

#endif
