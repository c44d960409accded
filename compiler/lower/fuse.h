/* Fusion: fewer, larger kernels.  Used by lower_plan(), and by planners that
 * count time (fuse_outlook()). */
#ifndef TDL_COMPILER_LOWER_FUSE_H
#define TDL_COMPILER_LOWER_FUSE_H

#include "compiler/cost/merges.h"
#include "compiler/cost/assignment.h"

/* The graph in which a node that computes element by element becomes a part of
 * the only node that reads its result, each element once: the result is never
 * in memory.  Three conditions: both nodes are divided alike, so that nothing
 * moves between them; the first node's inputs need not be kept longer than its
 * result would be, if they are larger; and no worker fetches more of a tensor
 * that both read, so that the byte model stays a bound.
 *
 * Results are the same, bit for bit: where the interpreter computes in more
 * bits than the first node's result has, its expression is cast to that type.
 * *as becomes the assignment of the new graph, which shares what it has of the
 * old one. */
const graph *fuse_graph(arena *a, const graph *g, assignment *as);

/* For each tensor, in a: whether the node that computes it is a part of another
 * under some assignment, and necessary conditions for that.  Other nodes never
 * are. */
const merge *fuse_outlook(arena *a, const graph *g);

#endif
