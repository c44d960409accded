/* The choices of a schedule. */
#ifndef TDL_COMPILER_LOWER_ORDER_H
#define TDL_COMPILER_LOWER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

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

/* Bytes in use at once in the programs of a plan by one schedule. */
typedef struct lower_rooms {
	int64_t least; /* of that which keeps no copies for others */
	int64_t usual; /* a tenth more: see lower_options.memory */
	/* With this much room, or more, all copies are kept: such programs are
	 * one.  -1 where the program that was made has dropped copies. */
	int64_t all;
} lower_rooms;

#endif
