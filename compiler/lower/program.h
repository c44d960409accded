/* The program of a plan: its buffers, the order of its nodes, the instants of
 * its transfers.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_PROGRAM_H
#define TDL_COMPILER_LOWER_PROGRAM_H

#include "base/vec.h"
#include "compiler/lower/order.h"
#include "plan/lifetimes.h"

/* The buffers of a node: the run reads sources[] and writes `made`; where that
 * is partial, it is combined to `shard`; the result of both goes to the stored
 * block, unless it is that block. */
typedef struct node_buffers {
	int *sources; /* one per input of the kernel: the stored block, or one
			 of this node's own, filled from that */
	int made;
	int shard; /* -1 if the run's result is not partial */
	int stored;
} node_buffers;

/* A program in the making. */
typedef struct draft {
	arena *a, *tmp; /* of the plan; of the making */
	plan *p;	/* its buffers are set, its program is not */
	region_classes *region_classes;
	node_buffers *nodes;
} draft;

/* Fills in p's buffers and program; everything else is set.  Places in the
 * arena are not assigned.  memory, by: see lower_options. */
lower_rooms program_make(arena *a, plan *p, int64_t memory, lower_schedule by);

/* An order of the nodes, in d->tmp: topological, and such that the most bytes
 * in use at once are few; if `by' is overlapping, schedule_overlapping() of
 * that. */
int *program_order(draft *d, lower_schedule by);

/* Lets nodes read copies that were fetched for others before them, so that less
 * moves, where the most bytes in use at once stay the same, or within `memory',
 * see lower_options.  The program is there, its transfers have no collective
 * yet. */
lower_rooms program_keep_copies(draft *d, int64_t memory);

#endif
