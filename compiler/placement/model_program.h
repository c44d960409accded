/* The program of a model on one device, needed for its cost graph. */
#ifndef TDL_COMPILER_PLACEMENT_MODEL_PROGRAM_H
#define TDL_COMPILER_PLACEMENT_MODEL_PROGRAM_H

#include "base/diag.h"
#include "compiler/graph/graph.h"

enum { NODE_OVER_NOTHING = -1, NODE_OVER_STATE = -2 };

/* A node in a program without fusion. */
typedef struct node_run {
	int step;	/* position in the program, from 0 */
	/* the input in whose place its result is put, since nothing reads that
	 * any more; NODE_OVER_STATE if it is the place of a state;
	 * NODE_OVER_NOTHING */
	tensor_id over;
} node_run;

/* Lowers a graph to a program for one device, without fusion, and returns the
 * runs of its nodes, [node], in a.  NULL after adding errors. */
node_run *model_program(arena *a, diag_sink *s, const graph *g);

#endif
