/* The costs of layers in a stage, by the ways to divide it over its devices.
 *
 * Layers that do the same are one class.  For each way the first layers of all
 * classes are planned and lowered as one graph, and seconds and bytes of its
 * program are those of the layers whose nodes they are.  A stage has the sum of
 * its layers': what layers share by being planned together is not seen. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_COSTS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_COSTS_H

#include "base/intern.h"
#include "compiler/portfolio/pipeline_layers.h"
#include "compiler/portfolio/pipeline_ways.h"

/* Passes between which a value is kept: the forward pass, the backward pass,
 * and its second part, of gradients of weights, where it is in two. */
typedef enum cost_pair {
	COST_FORWARD_BACKWARD,
	COST_FORWARD_WEIGHT,
	COST_BACKWARD_WEIGHT,
	COST_PAIRS
} cost_pair;

/* Of a layer, on each of a stage's devices. */
typedef struct layer_cost {
	/* Seconds of a micro-batch, both passes, of two streams; and once per
	 * step. */
	double computing, moving, once;
	/* The part of these that the forward pass takes. */
	double forward_computing, forward_moving;
	/* Bytes: there all the time; from one pass of a micro-batch to another;
	 * the most besides, of the layer in a turn, and of all layers while it
	 * is computed; these with backward passes in one part, and in two. */
	double fixed, kept[COST_PAIRS], passing[2], around[2];
	/* Of what later layers are given, and keep, bytes that this layer's
	 * backward pass reads, too. */
	double held;
	/* Of what a micro-batch brings the layer from outside: the part that is
	 * on the device, from 0 to 1. */
	double given;
} layer_cost;

/* Bytes from the forward pass to the end of the backward pass, in one part. */
static inline double layer_kept(const layer_cost *c)
{
	return c->kept[COST_FORWARD_BACKWARD] + c->kept[COST_FORWARD_WEIGHT];
}

typedef struct pipeline_costs {
	const pipeline_layers *layers;
	int nclasses;
	const int *class; /* by layer */
	bool *is_first; /* by layer: of its class */
	const graph *sample; /* the first layers of all classes */
	stage_division division; /* each layer is a stage */
	strmap *nodes; /* the graph's, by name */
} pipeline_costs;

/* In a; errors are none. */
const pipeline_costs *pipeline_costs_new(arena *a, const pipeline_layers *l);

/* The costs of a way. */
typedef struct way_costs {
	pipeline_way way;
	const layer_cost *of; /* by class */
	double hidden; /* part of the shorter stream's time that is behind the
			  other's, from 0 to 1 */
} way_costs;

/* The costs of the layers by a way, in how->arena.  *refused: why the way does
 * not divide this graph; NULL.  False when errors were added. */
bool pipeline_costs_measure(const plan_request *how, const pipeline_costs *c,
			    const pipeline_way *way, way_costs *to,
			    const char **refused);

/* The same with the layouts of pipeline_way_inside(), which are known. */
bool pipeline_costs_with(const plan_request *how, const pipeline_costs *c,
			 const pipeline_way *way, const search_result *inside,
			 way_costs *to, const char **refused);

#endif
