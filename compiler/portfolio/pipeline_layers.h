/* The forward pass of a graph in turns as a sequence of layers, between which a
 * pipeline may be cut. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_LAYERS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_LAYERS_H

#include "compiler/cost/topology.h"
#include "compiler/lower/stage_division.h"

/* Layers 0 .. n - 1 are runs of nodes, in the graph's order, that compute with
 * weights.  They are cut where fewer bytes cross than at the neighbouring nodes
 * or, in a graph of few nodes, everywhere.  Times are those of one device that
 * does the whole micro-batch, without fusion. */
typedef struct pipeline_layers {
	const graph *g;
	int *layer; /* by node that is among stage_layers(); else NONE */
	int n;
	node_id *first;	  /* by layer: its first node */
	double *forward, *backward; /* seconds per micro-batch, by layer */
	/* At each of n + 1 places between layers: bytes per micro-batch that
	 * are computed before and read after. */
	double *crossing;
} pipeline_layers;

/* In a. */
const pipeline_layers *pipeline_layers_new(arena *a, const graph *g,
					   const topology *t);

/* The same for chosen parts: there are nparts, part[n] is that of each node n
 * among stage_layers(); other elements are not read.  Each layer is one node;
 * those of part q are layers [first[q], first[q + 1]). */
const pipeline_layers *pipeline_layers_of_parts(arena *a, const graph *g,
						const topology *t, int nparts,
						const int *part, int *first);

/* The division of the graph into nstages * nchunks parts; part q has the layers
 * [first[q], first[q + 1]).  In a. */
stage_division pipeline_layers_divide(arena *a, const pipeline_layers *l,
				      int nstages, int nchunks,
				      const int *first);

/* Divides layers into nstages <= n stages so that the longest stage, including
 * its messages, is as short as possible: first[0 .. nstages]. speed[s]: the
 * devices of stage s, relative to those that the times are for; bandwidth:
 * bytes/s between stages. */
void pipeline_layers_balance(const pipeline_layers *l, int nstages,
			     const double *speed, double bandwidth, int *first);

#endif
