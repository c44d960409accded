/* The program of a model on one device, for its cost graph. */
#ifndef TDL_COMPILER_PLACEMENT_MODEL_PROGRAM_H
#define TDL_COMPILER_PLACEMENT_MODEL_PROGRAM_H

#include "base/diag.h"
#include "compiler/graph/graph.h"

enum { NODE_OVER_NOTHING = -1, NODE_OVER_STATE = -2 };

/* A node in a program without fusion. */
typedef struct node_run {
	int step;	/* its place in the order of the program, from 0 */
	tensor_id over; /* the tensor in whose place its result lies, an input
			   that nobody reads any more; NODE_OVER_STATE where
			   that is the place of a state; NODE_OVER_NOTHING */
} node_run;

/* Lowers a graph to a program for one device, without fusion, and returns the
 * runs of its nodes, [node], in a.  NULL when errors were added. */
node_run *model_program(arena *a, diag_sink *s, const graph *g);

#endif
