/* The best stages that differ in their devices and ways, exactly.
 *
 * stage_program.h finds least sums and peaks; from these, step_boxes.h finds
 * the least step.  A skip that waits at its producer depends on the stage of
 * its reader, which the programs do not know.  Their plans are therefore lower
 * bounds until branch and bound has narrowed down the readers' stages. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_SEARCH_H
#define TDL_COMPILER_PLACEMENT_STAGE_SEARCH_H

#include <stdint.h>

#include "compiler/placement/stage_program.h"

/* Limit of the steps of all programs for one result, if there are skips. */
#define STAGE_MAX_WORK ((int64_t)1 << 31)

typedef struct stage_found {
	stage_plan plan;
	int devices; /* used */
	double peak, bottleneck, step;
	double *bytes, *seconds; /* by stage */
} stage_found;

/* Computes everything but the plan.  Links are those of the devices used. */
void stage_measure(arena *a, const stage_problem *p, stage_found *f);

/* The plan of least peak, or of least step, within the cap, if it is less than
 * `below'; false if there is none.  If skips wait, the steps of the programs
 * are subtracted from *work.  If there are too few, *work becomes -1, and the
 * plan counts all waiting skips as if their reader were in the last stage:
 * there may be a better one. */
bool stage_search_peak(arena *a, const stage_problem *p, double below,
		       stage_found *f, int64_t *work);
bool stage_search_step(arena *a, const stage_problem *p, double below,
		       stage_found *f, int64_t *work);

#endif
