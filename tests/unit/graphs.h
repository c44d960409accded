/* Graphs made by hand, without a model or a .tdl file: a few kernels, and
 * random graphs of them. */
#ifndef TDL_TESTS_UNIT_GRAPHS_H
#define TDL_TESTS_UNIT_GRAPHS_H

#include "base/vec.h"
#include "compiler/graph/graph.h"
#include "tests/unit/kernels.h"

typedef struct graph_maker {
	arena *a;
	VEC(tensor) tensors;
	VEC(node) nodes;
	const int64_t *extents; /* of random tensors; */
	int nextents;		/* 0: some small ones */
} graph_maker;

tensor_id add_tensor(graph_maker *m, tensor_kind kind, dtype t, int ndim,
		     const int64_t *dims);
/* A parameter, a matrix of f32. */
tensor_id weight(graph_maker *m, int64_t rows, int64_t columns);
/* Returns the tensor that the node computes.  Nodes that compute the same share
 * their kernel, as in every graph. */
tensor_id add_node(graph_maker *m, const kernel *k, const tensor_id *inputs);
graph *make_graph(graph_maker *m);

/* out[i, j] = Sum(k) a[i, k] * b[k, j]; with `square`, the one input twice:
 * a[i, k] * a[j, k]. */
kernel *kernel_matmul(arena *a, int64_t i, int64_t j, int64_t k, bool square);

/* out[n, o, x] = Sum(c, r) data[n, c, stride * x + r - pad, or 0] *
 * filter[o, c, r] */
kernel *kernel_conv(arena *a, const int64_t *data, const int64_t *filter,
		    int64_t stride, int64_t pad);

/* out[v..] = x[v..] + y[v..], where y has size 1 in the dimensions of the
 * mask. */
kernel *kernel_add(arena *a, int ndim, const int64_t *dims, uint32_t ones);

/* out[v..] = cast(x[v..]) */
kernel *kernel_to(arena *a, int ndim, const int64_t *dims, dtype to);

/* Dimensions reversed. */
kernel *kernel_transpose(arena *a, int ndim, const int64_t *dims);

/* A reduction over one dimension. */
kernel *kernel_reduce(arena *a, int ndim, const int64_t *dims, int dim,
		      reducer r);

/* out[b, j] = table[ids[b], j], the vocabulary a derived variable. */
kernel *kernel_gather(arena *a, int64_t b, int64_t vocabulary, int64_t width);

/* The same elements in row-major order under other dimensions. */
kernel *kernel_reshape(arena *a, int ndim, const int64_t *dims, int new_ndim,
		       const int64_t *new_dims);

/* x at scale[d] * i + shift[d] in every dimension d, 0 outside, less y; both
 * have these dimensions. */
kernel *kernel_affine(arena *a, int ndim, const int64_t *dims,
		      const int64_t *scale, const int64_t *shift);

/* A graph of up to max_nodes of these, of odd extents; values at random. */
graph *random_graph(arena *a, rng *r, int max_nodes);
/* The same with these extents, which may be 0. */
graph *random_graph_of(arena *a, rng *r, int max_nodes, const int64_t *extents,
		       int nextents);

/* Sums over batches, each an n x n matrix as the gradients of a weight are;
 * functions of these; and states that become some of the results. */
graph *graph_of_sums(arena *a, rng *r, int64_t n, int64_t batch, int nnodes);

/* Makes states of inputs and constants: each becomes a result of its type that
 * no other does.  Returns how many there are. */
int make_states(graph *g);

#endif
