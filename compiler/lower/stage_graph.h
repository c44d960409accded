/* Splits a graph into parts: the nodes of each stage of a pipeline become a
 * graph that is planned and lowered by itself. */
#ifndef TDL_COMPILER_LOWER_STAGE_GRAPH_H
#define TDL_COMPILER_LOWER_STAGE_GRAPH_H

#include "compiler/lower/stage_division.h"

/* The stages of tensors. */
typedef struct stage_homes {
	const graph *g;
	const stage_division *d;
	/* By tensor: the stage that computes it, or has the state; NONE for
	 * inputs and constants, which each reader gets. */
	int *home;
	/* [stage * ntensors + tensor]: the stage has the tensor. */
	bool *there;
} stage_homes;

stage_homes stage_homes_of(arena *a, const graph *g, const stage_division *d);

/* Whether a stage receives a tensor from another one. */
bool stage_receives(const stage_homes *h, int nth, tensor_id t);

/* The graph of a stage's nodes, from a graph in turns and its .whole; names are
 * g's.  Tensors that it receives are inputs, tensors that it sends are outputs.
 * tensors[t] receives the number of g's tensor t, or NONE. */
graph *stage_graph(arena *a, const stage_homes *h, int nth, int *tensors);

#endif
