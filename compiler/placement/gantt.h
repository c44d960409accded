/* The schedule of a placement as a Gantt chart. */
#ifndef TDL_COMPILER_PLACEMENT_GANTT_H
#define TDL_COMPILER_PLACEMENT_GANTT_H

#include "compiler/placement/judge.h"

/* The chart as SVG, in a: for each device its operators, sends and receives.
 * Bars too narrow to be seen are drawn together with those that follow; wide
 * bars have their operators' names. v: of judge_run() to the end, for
 * `place'. */
const char *gantt_svg(arena *a, const machine *m, const int *place,
		      const verdict *v);

/* The chart as text, a line for each device: # where it computes for more than
 * half of the time, + for less, . for not at all. */
const char *gantt_text(arena *a, const machine *m, const int *place,
		       const verdict *v);

#endif
