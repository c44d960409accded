/* The best stages that differ in their devices and ways, exactly.
 *
 * stage_program.h finds least sums and peaks.  The least step is found from
 * these with step_boxes.h.  A skip that waits at its producer depends on the
 * stage of its reader, which the programs do not know: their plans are lower
 * bounds until the readers' stages are narrowed down, by branch and bound. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_SEARCH_H
#define TDL_COMPILER_PLACEMENT_STAGE_SEARCH_H

#include <stdint.h>

#include "compiler/placement/stage_program.h"

/* Steps of the programs of all searches for one result, where there are
 * skips. */
#define STAGE_MAX_WORK ((int64_t)1 << 31)

typedef struct stage_found {
	stage_plan plan;
	int devices; /* used */
	double peak, bottleneck, step;
	double *bytes, *seconds; /* by stage */
} stage_found;

/* Fills in all but the plan.  Links are those of the devices that are used. */
void stage_measure(arena *a, const stage_problem *p, stage_found *f);

/* The plan of least peak, or of least step, within the cap and below a value of
 * it that is known; false if there is none.  Where skips wait, the steps of the
 * programs are subtracted from *work.  If there are too few it becomes -1, and
 * the plan is one in which all that waits is counted as if for the last stage:
 * there may be a better one. */
bool stage_search_peak(arena *a, const stage_problem *p, double below,
		       stage_found *f, int64_t *work);
bool stage_search_step(arena *a, const stage_problem *p, double below,
		       stage_found *f, int64_t *work);

#endif
