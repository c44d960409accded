/* Fewer, larger kernels. */
#ifndef TDL_COMPILER_LOWER_FUSE_H
#define TDL_COMPILER_LOWER_FUSE_H

#include "compiler/search/merges.h"
#include "compiler/search/search.h"

/* The graph in which a node that computes element by element what one other
 * node alone reads, each element once, is a part of that node: its result is
 * never in memory.  Where the two are divided alike, so that nothing moves
 * between them, and where what the first reads does not have to be kept for
 * longer than its result would be, if that is more.
 *
 * Results are the same, bit for bit, as kernels in C and CUDA compute them; the
 * interpreter does not round an f32 or f64 in between.  *as becomes the
 * assignment of the new graph, which shares what it has of the old one. */
const graph *fuse_graph(arena *a, const graph *g, assignment *as);

/* By tensor, in a: whether the node that computes it is a part of another under
 * some assignment, and at least what that has to be like.  Nodes that are not
 * said to be never are. */
const merge *fuse_outlook(arena *a, const graph *g);

#endif
