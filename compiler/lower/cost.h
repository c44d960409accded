/* How long a plan takes on a machine. */
#ifndef TDL_COMPILER_LOWER_COST_H
#define TDL_COMPILER_LOWER_COST_H

#include "compiler/search/topology.h"
#include "plan/plan.h"

/* A run of a program, in seconds.  Each instruction takes as long as its
 * slowest worker does, as seconds_of() says of 64. */
typedef struct lower_times {
	double run; /* from its beginning to its end */
	/* What the instructions take, one after the other: those that receive
	 * from other workers, and the others.  The run takes as much as both
	 * together where the machine does one thing at a time, less where it
	 * communicates while it computes (topology.overlap; timeline.h). */
	double communication, computation;
} lower_times;

lower_times lower_time(const plan *p, const topology *t);

/* The run alone. */
double lower_seconds(const plan *p, const topology *t);

#endif
