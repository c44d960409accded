/* The choices of a schedule. */
#ifndef TDL_COMPILER_LOWER_ORDER_H
#define TDL_COMPILER_LOWER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* The order of nodes from which a schedule is made.  By levels, the updates of
 * weights lie between the gradients, or after all of them. */
typedef enum lower_order {
	LOWER_BY_DEPTH, /* the graph's own order, which is depth-first */
	LOWER_EARLY,	/* by levels: the longest chain of nodes before each */
	/* as LOWER_EARLY; within a level, the longest chain after a node
	 * first */
	LOWER_URGENT,
	LOWER_LATE,	/* by levels: the longest chain after each */
	LOWER_NORDERS,
} lower_order;

typedef struct lower_schedule {
	lower_order order;
	/* For machines that communicate while they compute: nodes that wait for
	 * other workers' parts of a result run a little later if others can run
	 * meanwhile.  It takes more memory. */
	bool overlapping;
} lower_schedule;

/* Bytes in use at once in the programs of a plan with one schedule. */
typedef struct lower_rooms {
	int64_t least; /* in the one that keeps no copies for others */
	int64_t usual; /* a tenth more: see lower_options.memory */
	/* With this much room, or more, all copies are kept, so that such
	 * programs are the same. -1 if the program that was made has dropped
	 * copies. */
	int64_t all;
} lower_rooms;

#endif
