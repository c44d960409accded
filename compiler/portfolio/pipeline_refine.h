/* The last step of a search for stages: cuts moved by layers, as long as that
 * makes the step shorter. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_REFINE_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_REFINE_H

#include "compiler/portfolio/pipeline_plan.h"

/* The program over layers adds up what each costs alone; a plan is fused over
 * its layers, and its messages overlap.  So the neighbours of the best division
 * are planned, lowered and simulated, one cut by one layer, and the better one
 * has its place, until none is better or as many were planned as its size
 * allows.  *best is a plan.  False when errors were added. */
bool pipeline_refine(const plan_request *how, const pipeline_layers *l,
		     pipeline_result *best);

#endif
