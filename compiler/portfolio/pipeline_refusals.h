/* Why a search has found no pipeline. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_REFUSALS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_REFUSALS_H

#include "compiler/portfolio/pipeline_search.h"

/* All that was tried and is no plan. */
typedef struct pipeline_refusals {
	int ways;    /* that do not divide the layers, */
	int meshes;  /* stages that lie across a level that they do not fill, */
	int batches; /* or have more replicas than a micro-batch has samples, */
	int full;    /* divisions that need more memory than there is, */
	int wayless; /* or have stages that no way divides, */
	int plans;   /* and that could not be planned */
	const char *way, *plan; /* the last reasons of these */
} pipeline_refusals;

/* Why no search is needed to say that there is no division; NULL. */
const char *pipeline_impossible(const plan_request *how,
				const pipeline_aims *aims,
				const pipeline_layers *l);

/* That no division was found, and of all that was tried for what reason it is
 * none; in how->arena. */
const char *pipeline_refusals_text(const plan_request *how,
				   const pipeline_refusals *r,
				   const pipeline_layers *l);

#endif
