/* A plan of several stages: layers and devices of each, and layouts in it by a
 * planner. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_PLAN_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_PLAN_H

#include "compiler/lower/cost.h"
#include "compiler/lower/pipeline.h"
#include "compiler/portfolio/pipeline_layers.h"
#include "compiler/portfolio/pipeline_ways.h"

/* The stages, each with its layers and devices. */
typedef struct pipeline_cut {
	int nstages, chunks; /* of each stage */
	pipeline_schedule kind;
	bool recompute; /* forward passes, before the backward passes */
	/* nstages * chunks + 1: layers of each part, at least one. */
	const int *first;
	const pipeline_way *ways; /* of each stage */
} pipeline_cut;

/* Whether stages, layers and ways are the same. */
bool pipeline_cut_equal(const pipeline_cut *x, const pipeline_cut *y);

typedef struct pipeline_stage {
	pipeline_way way;
	int nlayers;
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
	const pipeline_cut *cut; /* as it was planned, .. */
	const pipeline_layers *layers; /* .. of these */
	bool sampled; /* of the longest times that a stage may have the program
			 that found the cut tried some alone */
} pipeline_result;

/* Plans the graph of how, which is in turns and has these layers.  Equal stages
 * are planned once.  *r is filled in; false when errors were added. */
bool pipeline_plan(const plan_request *how, const pipeline_layers *l,
		   const pipeline_cut *cut, pipeline_result *r);

/* Counts r's plan anew: seconds of its stages and of a step, bytes of the
 * device that needs most. */
void pipeline_count(const plan_request *how, pipeline_result *r);

/* Makes layers into parts of a cut whose stages and ways are set, so that these
 * take equally long: sets cut->first, in a. */
void pipeline_balance(arena *a, const plan_request *how,
		      const pipeline_layers *l, pipeline_cut *cut);

/* The stages of n devices, one after the other as even as possible: the first
 * have one more. */
int *pipeline_even(arena *a, int devices, int nstages);

/* bytes/s between devices of the outermost level that k devices need. */
double pipeline_bandwidth(const topology *t, int k);

#endif
