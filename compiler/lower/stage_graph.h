/* A graph in parts: the nodes of each stage of a pipeline, as a graph that is
 * planned and lowered by itself. */
#ifndef TDL_COMPILER_LOWER_STAGE_GRAPH_H
#define TDL_COMPILER_LOWER_STAGE_GRAPH_H

#include "compiler/graph/graph.h"
#include "compiler/graph/turns.h"

/* The stages and passes of the nodes of a graph in turns. */
typedef struct stage_division {
	int nstages;
	const int *stage;
	const bool *backward; /* in the body: with the backward pass */
} stage_division;

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

/* Whether a stage gets a tensor from another one; whether another stage gets
 * one from its home. */
bool stage_receives(const stage_homes *h, int nth, tensor_id t);
bool stage_sends(const stage_homes *h, tensor_id t);

/* The reason why a division is no pipeline, in a; NULL if it may be one:
 * nothing is read before it is computed, in the order of the forward passes of
 * all stages, and then of the backward passes of all, backwards; the parts of
 * a sum over the turns are one stage's, and a state and its next value, which
 * no other reads. */
const char *stage_division_refused(arena *a, const graph *g,
				   const stage_division *d);

/* The nodes of a stage, of a graph in turns and of its .whole; names are g's.
 * What it receives are inputs, what it sends are outputs.  tensors[t] becomes
 * the number of g's tensor t, NONE. */
graph *stage_graph(arena *a, const stage_homes *h, int nth, int *tensors);

#endif
