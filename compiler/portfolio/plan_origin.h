/* Maps a program's tensors and nodes to those of its graph.  The program is of
 * another graph, with nodes fused and sums over time added, so that numbers
 * differ while names stay. */
#ifndef TDL_COMPILER_PORTFOLIO_PLAN_ORIGIN_H
#define TDL_COMPILER_PORTFOLIO_PLAN_ORIGIN_H

#include "compiler/graph/graph.h"
#include "plan/plan.h"

/* By tensor and by node of the plan: the graph's; NONE if there is none. */
typedef struct plan_origin {
	tensor_id *tensors;
	node_id *nodes;
} plan_origin;

/* In a.  The first value and the parts of a sum over time map to the sum's
 * tensor. */
plan_origin plan_origin_of(arena *a, const plan *p, const graph *g);

#endif
