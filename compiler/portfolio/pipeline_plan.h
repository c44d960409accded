/* A plan of several stages: layers and devices of each, and layouts in it by a
 * planner. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_PLAN_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_PLAN_H

#include "compiler/lower/cost.h"
#include "compiler/lower/pipeline.h"
#include "compiler/portfolio/pipeline_layers.h"
#include "compiler/portfolio/request.h"

/* The stages, each with its layers and devices. */
typedef struct pipeline_cut {
	int nstages, chunks; /* of each stage */
	pipeline_schedule kind;
	/* nstages * chunks + 1: layers of each part, at least one. */
	const int *first;
	const int *devices; /* of each stage */
} pipeline_cut;

typedef struct pipeline_stage {
	int devices, nlayers;
	const char *first_node, *last_node; /* of its forward pass; those of its
					       first part and its last */
	lower_passes seconds;
	const search_result *search; /* of its graph */
	const graph *graph;
} pipeline_stage;

typedef struct pipeline_result {
	const plan_pipeline *plan; /* NULL: refused */
	const char *refused; /* why there is no plan */
	bool absent;	     /* of search_result */
	pipeline_stage *stages;
	int64_t peak_bytes; /* of the device that needs most */
	double seconds;	    /* predicted, of a step */
} pipeline_result;

/* Plans the graph of how, which is in turns and has these layers, with the
 * planner `inside' in each stage.  Equal stages are planned once.  *r is filled
 * in; false when errors were added. */
bool pipeline_plan(const plan_request *how, const pipeline_layers *l,
		   const pipeline_cut *cut, const char *inside,
		   pipeline_result *r);

/* The same with nstages of how->k devices, as even as they can be, whose layers
 * take equally long.  Too many stages are refused. */
bool pipeline_balanced(const plan_request *how, const pipeline_layers *l,
		       int nstages, pipeline_schedule kind, int chunks,
		       const char *inside, pipeline_result *r);

/* The stages of n devices, one after the other as even as possible: the first
 * have one more. */
int *pipeline_even(arena *a, int devices, int nstages);

/* bytes/s between devices of the outermost level that k devices need. */
double pipeline_bandwidth(const topology *t, int k);

#endif
