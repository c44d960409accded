/* The graph of a plan, for questions that the byte model answers. */
#ifndef TDL_LIBTDL_PLAN_GRAPH_H
#define TDL_LIBTDL_PLAN_GRAPH_H

#include "compiler/cost/assignment.h"
#include "plan/plan.h"

/* The graph that a plan runs, in a, as far as bytes depend on it, and the
 * plan's decisions.  Its nodes are in the order of the program (node.call is
 * the number in the plan).  Borrows from p. */
const graph *plan_graph(arena *a, const plan *p, assignment *as);

#endif
