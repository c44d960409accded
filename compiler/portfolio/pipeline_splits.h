/* The divisions that the costs of layers lead to: layers and devices of each
 * stage, by the exact program (pipeline_program.h).  A part of
 * pipeline_search.h, which plans and judges them. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_SPLITS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_SPLITS_H

#include "compiler/portfolio/pipeline_measure.h"
#include "compiler/portfolio/pipeline_refusals.h"
#include "compiler/portfolio/pipeline_search.h"

enum {
	PIPELINE_FEW_DEVICES = 8, /* of whose splits neighbours are tried */
	PIPELINE_FEW_LAYERS = 64, /* that are divided among any numbers of
				     devices */
	PIPELINE_FEW_NODES = 1024, /* of a graph of which more is tried */
};

/* A cut that was planned, and its step over what its layers' seconds make; 0:
 * that is not known. */
typedef struct planned_cut {
	pipeline_cut cut;
	double slowness;
} planned_cut;

typedef struct searcher {
	const plan_request *how;
	plan_request costed; /* how, with the memory that splits may need by
				what is known of them */
	const pipeline_aims *aims;
	arena *tmp;
	const pipeline_layers *layers;
	pipeline_sums sums;
	pipeline_measurer measurer;
	VEC(int) measured; /* numbers of devices whose ways are there */
	int most; /* cuts that may be planned */
	bool neighbours;   /* splits of these, too */
	double share;	   /* of a device's limit that may be used */
	double alone; /* seconds of a micro-batch on one device, both passes; 0:
			 not known */
	VEC(planned_cut) planned;
	pipeline_refusals refused;
	/* Of the problem that is solved: */
	const int *first_device; /* by group */
	pipeline_schedule kind;
	bool failed;
} searcher;

/* A split, and the step that the program expects. */
typedef struct candidate {
	pipeline_cut cut;
	double seconds;
	bool sampled; /* of pipeline_result */
} candidate;

typedef VEC(candidate) candidates;

/* Adds the splits for a schedule. */
void pipeline_splits_find(searcher *x, pipeline_schedule kind, candidates *all);

/* Finds the seconds of a micro-batch on one device, which moves nothing. */
void pipeline_splits_alone(searcher *x);

/* Seconds that a cut before each layer adds: a message there, one back. */
double *pipeline_splits_between(const searcher *x);

#endif
