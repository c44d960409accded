/* The program of a stage as simulated: units on streams, in the order of the
 * schedule, and what each waits for. */
#ifndef TDL_COMPILER_SIMULATE_STAGE_UNITS_H
#define TDL_COMPILER_SIMULATE_STAGE_UNITS_H

#include "base/vec.h"
#include "compiler/simulate/marks.h"
#include "compiler/simulate/simulate.h"

/* A wait until these units of each stream have ended, and messages [first,
 * first + nmessages) of the stage's list. */
typedef struct stage_wait {
	mark after;
	int first, nmessages;
} stage_wait;

typedef struct stage_unit {
	stage_wait wait;
	const double *seconds; /* of each of its instructions */
	int message;	       /* that it copies; -1 */
	simulated_links links; /* of all of them */
} stage_unit;

/* An end of a message. */
typedef struct stage_post {
	int message;
	stage_wait wait;
} stage_post;

typedef struct stage_units {
	int n;
	simulated_unit *units; /* without instants */
	stage_unit *more;
	int ntasks;
	simulated_task *tasks; /* without instants */
	int nlist, nsends, nreceives;
	int *list; /* messages */
	stage_post *sends, *receives; /* receives: on machines that overlap */
} stage_units;

/* The units and tasks of a stage, in a; everything else is in work.  The
 * messages of channel c are numbered from first_message[c] on. */
stage_units stage_units_of(arena *a, arena *work,
			   const plan_pipeline *p, int stage,
			   const simulated_seconds *seconds, bool overlap,
			   const int *first_message);

#endif
