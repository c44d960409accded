/* The chains of Megatron's plan: contractions divided by a weight's columns,
 * what follows them, and contractions by a weight's rows. */
#ifndef TDL_COMPILER_PLANNERS_MEGATRON_CHAINS_H
#define TDL_COMPILER_PLANNERS_MEGATRON_CHAINS_H

#include "base/vec.h"
#include "compiler/graph/graph.h"
#include "layout/mesh.h"

typedef VEC(int) megatron_ids;

typedef struct megatron {
	arena *arena;
	const graph *g;
	const mesh *mesh;
	/* The parts of the current chain, one for each group along the first
	 * `naxes' axes: in the end devices, and all axes. */
	int k, naxes;
	const bool *forward;   /* nodes of the forward pass */
	bool *weight;	       /* tensors: parameters, or computed of such */
	bool *known;	       /* the same, and what is computed of constants */
	megatron_ids *readers; /* of each tensor: nodes of the forward pass */
	signed char *dim; /* of each tensor; CUT_NONE: replicated */
	signed char *var; /* of each node; CUT_NONE: every device computes it */
	/* The axes along which, from the first on: all, but for what has fewer
	 * parts than there are devices. */
	signed char *dim_axes, *var_axes;
	/* Of each tensor: the dimension that sequence parallelism cuts, which
	 * dim[] has only where no reader needs all of it.  CUT_NONE: none. */
	signed char *sequence;
	int ncolumns, nrows, nembeddings; /* divided, in all */
	/* The current chain: whether k parts may be of different sizes, and
	 * whether it may go on from a tensor to slices of it, whose parts are
	 * elsewhere; what it divides, in order; its ends at rows, at other sums
	 * of parts, at nodes of earlier chains or outputs. */
	bool uneven, sliced;
	megatron_ids tensors, nodes;
	int rows, sums, joined;
} megatron;

/* All chains of the forward pass for the devices of a mesh, in a. */
megatron *megatron_chains(arena *a, const graph *g, const mesh *devices);

/* Divides a node along variable v; the weights that are aligned with v are cut
 * with it, unless they are cut already. */
void megatron_divide(megatron *m, node_id id, int v);

/* Whether a node is a contraction that reads a weight of two dimensions or
 * more; the weight's dimension that v is aligned with. */
bool megatron_reads_weight(const megatron *m, const node *n);
bool megatron_is_along_weight(const megatron *m, const node *n, int v);

#endif
