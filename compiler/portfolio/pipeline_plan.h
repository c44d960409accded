/* A plan of several stages: layers and devices of each, and layouts within it
 * by a planner. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_PLAN_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_PLAN_H

#include "compiler/lower/cost.h"
#include "compiler/lower/pipeline.h"
#include "compiler/portfolio/pipeline_known.h"
#include "compiler/portfolio/pipeline_layers.h"

/* The division into stages, each with its layers and devices. */
typedef struct pipeline_cut {
	int nstages, chunks; /* per stage */
	pipeline_schedule kind;
	bool recompute; /* .. the forward passes before the backward passes */
	/* nstages * chunks + 1 elements: the first layer of each part, which
	 * has at least one. */
	const int *first;
	const pipeline_way *ways; /* of each stage */
} pipeline_cut;

/* Whether stages, layers and ways are the same. */
bool pipeline_cut_equal(const pipeline_cut *x, const pipeline_cut *y);

typedef struct pipeline_stage {
	pipeline_way way;
	int nlayers;
	/* of its forward pass: in its first part, and in its last */
	const char *first_node, *last_node;
	lower_passes seconds;
	const search_result *search; /* of its graph */
	const graph *graph;
	known_stage *known;
} pipeline_stage;

typedef struct pipeline_result {
	const plan_pipeline *plan; /* NULL: refused */
	const char *refused; /* why there is no plan */
	bool absent;	     /* as in search_result */
	pipeline_stage *stages;
	int64_t peak_bytes; /* on the device that needs most */
	double seconds;	    /* predicted, of a step */
	const pipeline_cut *cut; /* the cut as planned, .. */
	const pipeline_layers *layers; /* .. of these layers */
	/* the program that found the cut tried only some of the possible
	 * longest times of a stage */
	bool sampled;
} pipeline_result;

/* Plans the graph of how, which is in turns and has these layers.  Equal stages
 * are planned once, also those of other calls with the same `known', which may
 * be NULL.  Fills in *r; returns false after adding errors. */
bool pipeline_plan(const plan_request *how, const pipeline_layers *l,
		   const pipeline_cut *cut, known_stages *known,
		   pipeline_result *r);

/* Computes the figures of r's plan again: seconds of its stages and of a step,
 * bytes of the device that needs most. */
void pipeline_count(const plan_request *how, pipeline_result *r);

/* Divides layers into the parts of a cut whose stages and ways are set, so that
 * they take equally long: sets cut->first, in a. */
void pipeline_balance(arena *a, const plan_request *how,
		      const pipeline_layers *l, pipeline_cut *cut);

/* The numbers of devices of stages that divide n devices as evenly as possible:
 * the first ones have one more.  In a. */
int *pipeline_even(arena *a, int devices, int nstages);

/* The level over which a device is connected with the one before it. */
const topology_level *pipeline_level_before(const topology *t, int device);

/* Bytes/s between devices of the outermost level that k devices need. */
double pipeline_bandwidth(const topology *t, int k);

#endif
