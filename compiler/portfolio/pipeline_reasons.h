/* Explains why layers of a pipeline lie in their stages: what the plan would
 * be, planned, lowered and simulated in the same way, if one cut were a layer
 * earlier or later. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_REASONS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_REASONS_H

#include "compiler/portfolio/pipeline_plan.h"

/* One cut in another place, with all others unchanged. */
typedef struct pipeline_move {
	/* the first node of the layer after it; NULL: one of its parts has no
	 * other layer */
	const char *before;
	const char *refused; /* why there is no plan; NULL */
	double seconds;	     /* of a step */
	int64_t peak_bytes;  /* on the device that needs most */
	bool fits;	     /* .. within the memory */
} pipeline_move;

/* The cut between two parts: the stages before and after it or, if they have
 * several chunks, those of the parts. */
typedef struct pipeline_reason {
	int stage[2];
	const char *before; /* the first node after it */
	double nbytes; /* per micro-batch, computed before and read after */
	double seconds[2]; /* per micro-batch in these stages */
	int64_t peak_bytes[2]; /* per device */
	pipeline_move earlier, later;
} pipeline_reason;

typedef struct pipeline_reasons {
	int ncuts;
	pipeline_reason *cuts;
	/* The move with the shortest step within the memory, and its cut; NULL
	 * if no move fits. */
	const pipeline_move *next;
	int next_cut;
} pipeline_reasons;

/* The reasons of a plan found for how, in how->arena; r has a plan.  Returns
 * false after adding errors. */
bool pipeline_reasons_of(const plan_request *how, const pipeline_result *r,
			 pipeline_reasons *to);

#endif
