/* A plan's need of device memory beyond a limit, in words. */
#ifndef TDL_LIBTDL_PLAN_MEMORY_H
#define TDL_LIBTDL_PLAN_MEMORY_H

#include "compiler/portfolio/request.h"
#include "libtdl/job.h"

/* A copy of a plan with the chains that it has on processors, which save
 * memory.  A machine's devices are processors if it was measured through them,
 * or if no machine is named. */
plan *plan_with_chains(arena *a, const plan *p, const topology *t);

/* Whether a plan needs at most how->memory bytes (0: any number). */
bool plan_fits(const plan_request *how, const plan *p);

/* Prints by how much a plan exceeds how->memory, the buffers that cause it, and
 * what would be enough. */
void plan_say_excess(job *d, const plan_request *how, const plan *p);

#endif
