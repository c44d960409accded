/* `mcap': divides the layers of a profile or model into contiguous stages, one
 * or several chunks per device, by the exact programs of split.h and the search
 * of chunks.h. */
#ifndef TDL_COMPILER_PLACEMENT_MCAP_H
#define TDL_COMPILER_PLACEMENT_MCAP_H

#include "compiler/placement/chunks.h"
#include "compiler/placement/remedy.h"
#include "compiler/placement/stages.h"

typedef enum mcap_objective { MCAP_PEAK, MCAP_LOAD, MCAP_STEP } mcap_objective;

typedef struct mcap_request {
	const cost_graph *g;
	const layer_chain *l; /* of g */
	/* By layer: whether a stage, or a chunk, may have it alone.  Each has
	 * such a layer.  NULL: all may be alone. */
	const bool *alone;
	stage_model model;
	int ndevices;
	double cap; /* bytes per device; INFINITY: no cap */
	mcap_objective objective;
	bool frontier;	/* also find all peaks with the least times for them */
	/* choose by mCAP's additive predictor; only with one stage per
	 * device */
	bool predictor;
} mcap_request;

/* ---- a stage on each device ---------------------------------------------- */

typedef struct mcap_stages {
	split_problem p;
	split best;	  /* measured by the exact formula */
	double predicted; /* the peak of best according to what chose it */
	split_list frontier;
	const pipeline_run *simulated; /* NULL: refused, .. */
	const char *refused;	       /* .. for this reason */
	const int *place;	       /* by operator of the graph */
	double seconds;		       /* of the search */
} mcap_stages;

/* Finds the best stages.  Returns false if none fit, or there are more devices
 * than layers. to->p is the problem in any case. */
bool mcap_search(arena *a, const mcap_request *r, mcap_stages *to);

/* Adds costs to those of all intervals without a layer that may be alone. */
void mcap_forbid(const mcap_request *r, const intervals *of, double time,
		 double bytes);

/* Changes that would help if none fit: more devices, recomputation, fewer
 * micro-batches. */
remedies mcap_remedies(arena *a, const mcap_request *r);

/* ---- chunks ------------------------------------------------------------- */

typedef struct mcap_chunks {
	chunk_problem p;
	chunk_split best;
	split_list frontier;
	bool has_frontier; /* proven */
	const pipeline_run *simulated;
	const char *refused;
	const int *place;
	double seconds;
} mcap_chunks;

chunk_measure mcap_chunk_goal(const mcap_request *r);

/* The same for an interleaved schedule that chunks_refused() accepts, with at
 * most as many chunks as layers.  If none fit, to->best is as chunks_best()
 * leaves it. */
bool mcap_search_chunks(arena *a, const mcap_request *r, mcap_chunks *to);
remedies mcap_chunk_remedies(arena *a, const mcap_request *r);

#endif
