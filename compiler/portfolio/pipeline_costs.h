/* The costs of layers in a stage, for each way to divide it over its devices.
 *
 * Layers that do the same form a class.  For each way the first layers of all
 * classes are planned and lowered as one graph; seconds and bytes of its
 * program are attributed to the layers whose nodes they are.  A stage costs the
 * sum of its layers; what layers share when they are planned together is not
 * modelled. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_COSTS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_COSTS_H

#include "base/intern.h"
#include "compiler/portfolio/pipeline_crossings.h"
#include "compiler/portfolio/pipeline_passing.h"
#include "compiler/portfolio/pipeline_ways.h"

/* The passes between which a value is kept: the forward pass; the backward
 * pass; and, if that is in two parts, its second part, the gradients of
 * weights. */
typedef enum cost_pair {
	COST_FORWARD_BACKWARD,
	COST_FORWARD_WEIGHT,
	COST_BACKWARD_WEIGHT,
	COST_PAIRS
} cost_pair;

/* The costs of a layer, on each of a stage's devices. */
typedef struct layer_cost {
	/* Seconds per micro-batch, both passes, on each of two streams; seconds
	 * once per step. */
	double computing, moving, once;
	/* The forward pass's part of these. */
	double forward_computing, forward_moving;
	/* Bytes: present all the time; kept from one pass of a micro-batch to
	 * another. */
	double fixed, kept[COST_PAIRS];
	/* In use for a while: with backward passes in one part, and in two. */
	passing_corners passing[2];
	/* The fraction, 0 to 1, on the device of what a micro-batch brings the
	 * layer from outside. */
	double given;
} layer_cost;

/* Bytes kept from the forward pass to the end of a backward pass in one
 * part. */
static inline double layer_kept(const layer_cost *c)
{
	return c->kept[COST_FORWARD_BACKWARD] + c->kept[COST_FORWARD_WEIGHT];
}

typedef struct pipeline_costs {
	const pipeline_layers *layers;
	/* The same, if each layer adds up its own part of a gradient. */
	const pipeline_layers *tied;
	int nclasses;
	const int *class; /* by layer */
	bool *is_first; /* by layer: it is the first of its class */
	const graph *sample; /* the first layers of all classes */
	stage_division division; /* each layer is a stage */
	const pipeline_crossings *crossings;
	strmap *nodes; /* nodes of the tied graph, by name */
} pipeline_costs;

/* In a; cannot fail. */
const pipeline_costs *pipeline_costs_new(arena *a, const pipeline_layers *l);

/* The costs of a way. */
typedef struct way_costs {
	pipeline_way way;
	const layer_cost *of; /* by class */
	/* fraction, 0 to 1, of the shorter stream's time that overlaps the
	 * other's */
	double hidden;
	double shared; /* fraction, 0 to 1, on a device of what layers share */
} way_costs;

/* Measures the costs of the layers for a way, in how->arena. *refused: the
 * reason why the way does not divide this graph; NULL.  Returns false after
 * adding errors. */
bool pipeline_costs_measure(const plan_request *how, const pipeline_costs *c,
			    const pipeline_way *way, way_costs *to,
			    const char **refused);

/* The same with known layouts of pipeline_way_inside(). */
bool pipeline_costs_with(const plan_request *how, const pipeline_costs *c,
			 const pipeline_way *way, const search_result *inside,
			 way_costs *to, const char **refused);

#endif
