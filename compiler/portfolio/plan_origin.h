/* The tensors and nodes of a graph that those of its program come from.  The
 * program is of another graph: nodes were fused, and sums over time added, so
 * that numbers differ, while names stay. */
#ifndef TDL_COMPILER_PORTFOLIO_PLAN_ORIGIN_H
#define TDL_COMPILER_PORTFOLIO_PLAN_ORIGIN_H

#include "compiler/graph/graph.h"
#include "plan/plan.h"

/* By tensor and by node of the plan, the graph's; NONE: it has none. */
typedef struct plan_origin {
	tensor_id *tensors;
	node_id *nodes;
} plan_origin;

/* In a.  What adds up over time, its first value and its parts come from the
 * tensor that the sum is. */
plan_origin plan_origin_of(arena *a, const plan *p, const graph *g);

#endif
