/* Fusion: fewer, larger kernels.  Used by lower_plan(), and by planners that
 * minimise time (fuse_outlook()). */
#ifndef TDL_COMPILER_LOWER_FUSE_H
#define TDL_COMPILER_LOWER_FUSE_H

#include "compiler/cost/merges.h"
#include "compiler/cost/assignment.h"

/* Merges nodes that compute element by element into the only node that reads
 * their result, each element once, so that the result is never in memory.
 * Three conditions: both nodes are divided alike, so that nothing moves between
 * them; the first node's inputs, if they are larger than its result, need not
 * be kept longer than it would be; and no worker fetches more of a tensor that
 * both read, so that the byte model stays a bound.
 *
 * Also merges copies in another order into the products of matrices that read
 * them, however many (fuse_copies.c).
 *
 * Results are the same bit for bit: if the interpreter computes with more bits
 * than the first node's result has, its expression is cast to that type.
 *
 * Returns the new graph; *as becomes its assignment.  Both share what they can
 * with the old ones. */
const graph *fuse_graph(arena *a, const graph *g, assignment *as);

/* For each tensor, in a: whether its node is merged into another under some
 * assignment, and conditions necessary for that.  Other nodes are never
 * merged. */
const merge *fuse_outlook(arena *a, const graph *g);

#endif
