/* The forward pass of a graph in turns as a row of layers, between which a
 * pipeline may be cut. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_LAYERS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_LAYERS_H

#include "compiler/cost/topology.h"
#include "compiler/lower/stage_division.h"

/* Layers 0 .. n - 1 are runs of nodes, in the graph's order, that compute with
 * weights.  Cuts between them are where fewer bytes cross than at the nodes
 * around, or, in a graph of few nodes, everywhere.  Times are of one device
 * that does all of a micro-batch, without fusion. */
typedef struct pipeline_layers {
	const graph *g;
	int *layer; /* by node: of those that are stage_layers(); else NONE */
	int n;
	node_id *first;	  /* by layer: its first node */
	double *forward, *backward; /* seconds of a micro-batch, by layer */
	/* Of n + 1 places between layers: bytes of a micro-batch that are
	 * computed before and read behind. */
	double *crossing;
} pipeline_layers;

/* In a. */
const pipeline_layers *pipeline_layers_new(arena *a, const graph *g,
					   const topology *t);

/* The same where parts are chosen: nparts of them, part[n] of each node n that
 * is one of stage_layers(); others are not read.  A layer is one node; those of
 * part q are layers [first[q], first[q + 1]). */
const pipeline_layers *pipeline_layers_of_parts(arena *a, const graph *g,
						const topology *t, int nparts,
						const int *part, int *first);

/* The division of the graph into nstages * nchunks parts of layers [first[q],
 * first[q + 1]), in a. */
stage_division pipeline_layers_divide(arena *a, const pipeline_layers *l,
				      int nstages, int nchunks,
				      const int *first);

/* Whether node n of a layer reads tensor t as one that a micro-batch brings
 * from outside: of another layer, or of the batch. */
bool pipeline_is_given(const pipeline_layers *l, tensor_id t, node_id n);

/* Bytes of a micro-batch that stages of layers are given, each tensor once, in
 * a: of layers [i, j) number i (n + 1) + j.  again: of tensors that a layer
 * before reads, too, alone. */
double *pipeline_layers_given(arena *a, const pipeline_layers *l, bool again);

/* The same of what they make that layers behind them read. */
double *pipeline_layers_sent(arena *a, const pipeline_layers *l);

/* Layers in nstages <= n stages so that the longest stage, its messages
 * included, is as short as can be: first[0 .. nstages].  speed[s]: the devices
 * of stage s, in those that the times are for; bandwidth: bytes/s between
 * stages. */
void pipeline_layers_balance(const pipeline_layers *l, int nstages,
			     const double *speed, double bandwidth, int *first);

#endif
