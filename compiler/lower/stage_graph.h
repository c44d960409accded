/* A graph in parts: the nodes of each stage of a pipeline, as a graph that is
 * planned and lowered by itself. */
#ifndef TDL_COMPILER_LOWER_STAGE_GRAPH_H
#define TDL_COMPILER_LOWER_STAGE_GRAPH_H

#include "compiler/lower/stage_division.h"

/* The stages of tensors. */
typedef struct stage_homes {
	const graph *g;
	const stage_division *d;
	/* By tensor: the stage that computes it, or has the state; NONE for
	 * what each reader is given. */
	int *home;
	/* [stage * ntensors + tensor]: it is there. */
	bool *there;
} stage_homes;

stage_homes stage_homes_of(arena *a, const graph *g, const stage_division *d);

/* Whether a stage gets a tensor from another one. */
bool stage_receives(const stage_homes *h, int nth, tensor_id t);

/* The nodes of a stage, of a graph in turns and of its .whole; names are g's.
 * What it receives are inputs, what it sends are outputs.  tensors[t] becomes
 * the number of g's tensor t, NONE. */
graph *stage_graph(arena *a, const stage_homes *h, int nth, int *tensors);

#endif
