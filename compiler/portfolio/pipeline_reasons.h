/* Why layers of a pipeline lie in their stages: what the same plan would be,
 * planned, lowered and simulated as the plan was, were one cut a layer earlier
 * or later. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_REASONS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_REASONS_H

#include "compiler/portfolio/pipeline_plan.h"

/* A cut that is elsewhere, all others being as they are. */
typedef struct pipeline_move {
	const char *before; /* the first node of the layer that it is before;
			       NULL: one of its parts has no other layer */
	const char *refused; /* why there is no plan; NULL */
	double seconds;	     /* of a step */
	int64_t peak_bytes;  /* of the device that needs most */
	bool fits;	     /* .. within the memory */
} pipeline_move;

/* The cut between two parts: the stages behind each other, or, of several
 * chunks each, theirs. */
typedef struct pipeline_reason {
	int stage[2];
	const char *before; /* the first node behind it */
	double nbytes; /* of a micro-batch, made before and read behind */
	double seconds[2]; /* of a micro-batch in these stages */
	int64_t peak_bytes[2]; /* of a device */
	pipeline_move earlier, later;
} pipeline_reason;

typedef struct pipeline_reasons {
	int ncuts;
	pipeline_reason *cuts;
	/* The move that takes the shortest step within the memory, and its
	 * cut; NULL: none does. */
	const pipeline_move *next;
	int next_cut;
} pipeline_reasons;

/* Those of a plan that was found for how, in how->arena; r has a plan.  False
 * when errors were added. */
bool pipeline_reasons_of(const plan_request *how, const pipeline_result *r,
			 pipeline_reasons *to);

#endif
