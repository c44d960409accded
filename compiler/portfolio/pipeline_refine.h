/* The last step of a search for stages: moves cuts by one layer as long as that
 * shortens the step. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_REFINE_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_REFINE_H

#include "compiler/portfolio/pipeline_sums.h"

/* The program over layers adds up what each layer costs by itself, but a plan
 * is fused across layers and its messages overlap.  So the neighbours of the
 * best division, with one cut moved by one layer, are planned, lowered and
 * simulated, and a better one replaces it, until none is better or as many were
 * planned as the graph's size allows.  The stages around a moved cut keep their
 * ways, or get those expected to be fastest there. *best is a plan, and remains
 * `sampled' if it is.  Returns false after adding errors. */
bool pipeline_refine(const plan_request *how, const pipeline_layers *l,
		     const pipeline_sums *sums, known_stages *known,
		     pipeline_result *best);

#endif
