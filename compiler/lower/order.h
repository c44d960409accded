/* The choices of a schedule. */
#ifndef TDL_COMPILER_LOWER_ORDER_H
#define TDL_COMPILER_LOWER_ORDER_H

#include <stdbool.h>

/* The order of nodes that a schedule is made from.  By levels, the updates of
 * weights lie between the gradients, or behind them all. */
typedef enum lower_order {
	LOWER_BY_DEPTH, /* that of the graph, which is depth-first */
	LOWER_EARLY,	/* by levels: the longest chain of nodes before each */
	LOWER_URGENT,	/* likewise; of one level, the longest chain behind a
			   node first */
	LOWER_LATE,	/* by levels: the longest chain behind each */
	LOWER_NORDERS,
} lower_order;

typedef struct lower_schedule {
	lower_order order;
	/* Nodes that wait for other workers' parts of a result run a little
	 * later, if others can run meanwhile, for machines that communicate
	 * while they compute.  It takes more memory. */
	bool overlapping;
} lower_schedule;

#endif
