/* The best stages that differ in their devices and ways, exactly.
 *
 * stage_program.h finds least sums and peaks.  The least step is found from
 * these with step_boxes.h.  A skip that waits at its producer depends on the
 * stage of its reader, which the programs do not know: their plans are lower
 * bounds until the readers' stages are narrowed down, by branch and bound. */
#ifndef TDL_COMPILER_PLACEMENT_STAGE_SEARCH_H
#define TDL_COMPILER_PLACEMENT_STAGE_SEARCH_H

#include "compiler/placement/stage_program.h"

enum { STAGE_MAX_LOOKS = 1 << 14 }; /* programs of one search for skips */

typedef struct stage_found {
	stage_plan plan;
	int devices; /* used */
	double peak, bottleneck, step;
	double *bytes, *seconds; /* by stage */
} stage_found;

/* Fills in all but the plan.  Links are those of the devices that are used. */
void stage_measure(arena *a, const stage_problem *p, stage_found *f);

/* The plan of least peak, or of least step, within the cap and below a value of
 * it that is known; false if there is none.  *proven becomes false if there may
 * be a better one, as the skips would take more than STAGE_MAX_LOOKS
 * programs. */
bool stage_search_peak(arena *a, const stage_problem *p, double below,
		       stage_found *f, bool *proven);
bool stage_search_step(arena *a, const stage_problem *p, double below,
		       stage_found *f, bool *proven);

#endif
