/* The schedule of a placement as a Gantt chart. */
#ifndef TDL_COMPILER_PLACEMENT_GANTT_H
#define TDL_COMPILER_PLACEMENT_GANTT_H

#include "compiler/placement/judge.h"

/* As SVG: for each device what it computes, sends and receives.  What is too
 * narrow to be seen is drawn together with what follows it; wide bars have
 * their operators' names.  v: of judge_run() to the end, on `place`. */
const char *gantt_svg(arena *a, const machine *m, const int *place,
		      const verdict *v);

/* As text, a line for each device: # where it computes for more than half of
 * the time, + where less, . where it does not. */
const char *gantt_text(arena *a, const machine *m, const int *place,
		       const verdict *v);

#endif
