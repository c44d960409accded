/* Pipelines with their small reductions in buckets: those of each stage among
 * its devices, as in bucketed.h for plans without stages.  Pipelines are
 * compared without buckets; the chosen one gets them. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_BUCKETS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_BUCKETS_H

#include "compiler/portfolio/pipeline_plan.h"

/* Puts reductions of r's plan, if there is one, into buckets as how->bucket
 * asks: buckets of that many bytes, or those for which the simulated step is
 * fastest.  Uses fewer, or none, if a device would need over a tenth more
 * memory than without, or more than it may use. */
void pipeline_in_buckets(const plan_request *how, pipeline_result *r);

#endif
