/* The divisions suggested by the costs of layers: layers and devices of each
 * stage, by the exact program (pipeline_program.h).  A part of
 * pipeline_search.h, which plans and judges them. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_SPLITS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_SPLITS_H

#include "compiler/portfolio/pipeline_measure.h"
#include "compiler/portfolio/pipeline_refusals.h"
#include "compiler/portfolio/pipeline_search.h"

enum {
	/* with so few, neighbours of splits are tried */
	PIPELINE_FEW_DEVICES = 8,
	/* so few are divided among any numbers of devices */
	PIPELINE_FEW_LAYERS = 64,
	PIPELINE_FEW_NODES = 1024, /* for graphs with so few, more is tried */
};

/* A cut that was planned, and the ratio of its step to the one computed from
 * its layers' seconds; 0: not known. */
typedef struct planned_cut {
	pipeline_cut cut;
	double slowness;
} planned_cut;

typedef struct searcher {
	const plan_request *how;
	/* how, with the memory that splits may use given what is known of
	 * them */
	plan_request costed;
	const pipeline_aims *aims;
	arena *tmp;
	const pipeline_layers *layers;
	pipeline_sums sums;
	pipeline_measurer measurer;
	VEC(int) measured; /* numbers of devices whose ways were measured */
	int most; /* cuts that may still be planned */
	bool neighbours;   /* try neighbours of splits as well */
	double share;	   /* fraction of a device's limit that may be used */
	/* find the splits that need the least of a device's limit, instead of
	 * the fastest within share */
	bool by_memory;
	/* seconds per micro-batch on one device, both passes; 0: not known */
	double alone;
	VEC(planned_cut) planned;
	known_stages known;
	/* by number of stages: the best plan of a division by costs */
	pipeline_result leading[PIPELINE_FEW_DEVICES + 1];
	pipeline_refusals refused;
	/* Of the problem being solved: */
	const int *first_device; /* by group */
	pipeline_schedule kind;
	bool failed;
} searcher;

/* A split, and the step that the program predicts; by memory, what it needs of
 * a device's limit. */
typedef struct candidate {
	pipeline_cut cut;
	double seconds, share;
	bool sampled; /* as in pipeline_result */
} candidate;

typedef VEC(candidate) candidates;

/* Appends the splits for a schedule to *all. */
void pipeline_splits_find(searcher *x, pipeline_schedule kind, candidates *all);

/* Computes the seconds of a micro-batch on one device, which moves nothing. */
void pipeline_splits_alone(searcher *x);

/* Seconds that a cut before a layer adds if this device is the first one after
 * it: a message forward, and in training one back. */
double pipeline_splits_between(const searcher *x, int layer, int device);

#endif
