/* Pipelines with their small reductions in buckets: those of each stage among
 * its devices, as bucketed.h has it of plans without stages.  Pipelines are
 * compared without; the one that is chosen gets them. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_BUCKETS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_BUCKETS_H

#include "compiler/portfolio/pipeline_plan.h"

/* Puts reductions of r's plan, if there is one, together, as how->bucket asks
 * for: in buckets of so many bytes, or those by which a step is fastest in
 * simulation; fewer, or none, where a device would need more than a tenth more
 * memory than without, or than it may. */
void pipeline_in_buckets(const plan_request *how, pipeline_result *r);

#endif
