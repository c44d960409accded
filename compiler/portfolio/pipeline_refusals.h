/* The reasons why a search has found no pipeline. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_REFUSALS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_REFUSALS_H

#include "compiler/portfolio/pipeline_search.h"

/* Counts of what was tried without giving a plan. */
typedef struct pipeline_refusals {
	int ways;    /* ways that do not divide the layers */
	int meshes;  /* stages across a level that they do not fill */
	/* stages with more replicas than samples in a micro-batch */
	int batches;
	int full;    /* divisions that need more memory than there is */
	int wayless; /* divisions with stages that no way divides */
	int plans;   /* divisions that could not be planned */
	const char *way, *plan; /* the last reason of each */
} pipeline_refusals;

/* The reason why there can be no division, known without a search; NULL. */
const char *pipeline_impossible(const plan_request *how,
				const pipeline_aims *aims,
				const pipeline_layers *l);

/* A text that says that no division was found, and why those tried were
 * rejected; in how->arena. */
const char *pipeline_refusals_text(const plan_request *how,
				   const pipeline_refusals *r,
				   const pipeline_layers *l);

#endif
