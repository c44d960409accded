/* The chains of Megatron's plan (Shoeybi et al., arXiv 1909.08053):
 * contractions divided along a weight's columns, the operators that follow
 * them, and contractions divided along a weight's rows. */
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
	/* The current chain has k parts, one for each group along the first
	 * `naxes' axes: at the end, all devices and all axes. */
	int k, naxes;
	const bool *forward;   /* by node: in the forward pass */
	/* by tensor: a parameter, or computed from parameters */
	bool *weight;
	/* by tensor: the same, and computed from constants */
	bool *known;
	megatron_ids *readers; /* by tensor: nodes of the forward pass */
	signed char *dim; /* by tensor; CUT_NONE: replicated */
	signed char *var; /* by node; CUT_NONE: every device computes it */
	/* The number of axes, from the first on, along which each is divided:
	 * all, except where there are fewer parts than devices. */
	signed char *dim_axes, *var_axes;
	/* By tensor: the dimension that sequence parallelism cuts, which dim[]
	 * has only if no reader needs all of it; CUT_NONE: none. */
	signed char *sequence;
	int ncolumns, nrows, nembeddings; /* totals of divided nodes */
	/* The current chain: whether its k parts may have different sizes;
	 * whether it may continue from a tensor to slices of it, whose parts
	 * are elsewhere; the tensors and nodes that it divides, in order; the
	 * number of its ends at rows, at other sums of parts, and at nodes of
	 * earlier chains or outputs. */
	bool uneven, sliced;
	megatron_ids tensors, nodes;
	int rows, sums, joined;
} megatron;

/* Finds all chains of the forward pass for the devices of a mesh, in a. */
megatron *megatron_chains(arena *a, const graph *g, const mesh *devices);

/* Divides a node along variable v, and cuts the weights aligned with v unless
 * they are cut already. */
void megatron_divide(megatron *m, node_id id, int v);

/* Whether a node is a contraction that reads a weight of two dimensions or
 * more; whether v is aligned with a dimension of such a weight. */
bool megatron_reads_weight(const megatron *m, const node *n);
bool megatron_is_along_weight(const megatron *m, const node *n, int v);

#endif
