/* Groups of operators that share a device, for least loads.
 *
 * The load of an accelerator is the time of its operators, plus, for each
 * tensor of which it has some but not all of {producer, readers}, the time of
 * one transfer.  A processor core does not pay for transfers (Tarnawski et al.,
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
	/* by group; core_ns is GROUP_NEVER if some operator has none */
	int64_t *ns, *core_ns, *nbytes;
	int nedges;
	hyperedge *edges;
	int *pins;
	/* Groups that come directly before v in the forward pass:
	 * before[first_before[v] .. first_before[v + 1]).  Backward operators
	 * follow their colour.  Groups that are only in the backward pass take
	 * part with their edges reversed. */
	int *first_before, *before;
} groups;

#define GROUP_NEVER ((int64_t)1 << 60)

typedef struct group_options {
	const int64_t *transfer_ns; /* by result of the graph */
	const int64_t *nbytes;	    /* by operator: bytes held all the time */
	bool cores;	/* there are processor cores */
	bool contiguous; /* merge the groups on a cycle */
	/* merge groups that take no time into their only neighbour: never
	 * worse, except in memory */
	bool join;
} group_options;

/* The groups of a graph, formed by colours, in a. */
groups *groups_new(arena *a, const cost_graph *g, const group_options *o);

#endif
