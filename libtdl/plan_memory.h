/* A plan's need of device memory beyond a limit, in words. */
#ifndef TDL_LIBTDL_PLAN_MEMORY_H
#define TDL_LIBTDL_PLAN_MEMORY_H

#include "compiler/portfolio/request.h"
#include "libtdl/job.h"

/* Whether a plan needs at most how->memory bytes, 0 for any number; if not,
 * says its excess, the buffers that cause it, and what would be enough. */
bool plan_fits(job *d, const plan_request *how, const plan *p);

#endif
