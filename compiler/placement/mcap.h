/* `mcap': the layers of a profile or model in contiguous stages, one on each
 * device, or several chunks on each; by the exact programs of split.h and the
 * search of chunks.h. */
#ifndef TDL_COMPILER_PLACEMENT_MCAP_H
#define TDL_COMPILER_PLACEMENT_MCAP_H

#include "compiler/placement/chunks.h"
#include "compiler/placement/remedy.h"
#include "compiler/placement/stages.h"

typedef enum mcap_objective { MCAP_PEAK, MCAP_LOAD, MCAP_STEP } mcap_objective;

typedef struct mcap_request {
	const cost_graph *g;
	const layer_chain *l; /* of g */
	stage_model model;
	int ndevices;
	double cap; /* bytes of a device; INFINITY */
	mcap_objective objective;
	bool frontier;	/* all peaks with the least times for them, too */
	bool predictor; /* choose by mCAP's additive predictor; one stage on
			   each device only */
} mcap_request;

/* ---- a stage on each device ---------------------------------------------- */

typedef struct mcap_stages {
	split_problem p;
	split best;	  /* measured by the formula */
	double predicted; /* the peak of best, by what chose it */
	split_list frontier;
	const pipeline_run *simulated; /* NULL: refused, .. */
	const char *refused;	       /* .. for this reason */
	const int *place;	       /* by operator of the graph */
	double seconds;		       /* of the search */
} mcap_stages;

/* The best stages; false if none fit, which all that are as many as there are
 * layers or more are.  to->p is the problem in any case. */
bool mcap_search(arena *a, const mcap_request *r, mcap_stages *to);

/* More devices, recomputation, fewer micro-batches, where none fit. */
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

/* The same for an interleaved schedule, which chunks_refused() takes, on no
 * more chunks than layers; where none fit to->best is as chunks_best() leaves
 * it. */
bool mcap_search_chunks(arena *a, const mcap_request *r, mcap_chunks *to);
remedies mcap_chunk_remedies(arena *a, const mcap_request *r);

#endif
