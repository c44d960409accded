/* A pipeline's need of device memory beyond a limit, in words. */
#ifndef TDL_LIBTDL_STAGES_EXCESS_H
#define TDL_LIBTDL_STAGES_EXCESS_H

#include "libtdl/plan_search.h"

/* Says which stage of a pipeline that does not fit lacks most memory, on which
 * devices, and what limit would be enough. */
void stages_excess_of(job *d, const plan_request *how,
		      const struct pipeline_result *r);

/* The same, with the changes of options that would make a plan fit, each by
 * itself. one: the graph with the turns of the pipeline. */
void stages_excess_say(job *d, const plan_request *how, const plan_options *o,
		       const graph *one, const struct pipeline_result *r);

#endif
