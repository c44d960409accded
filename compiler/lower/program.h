/* The programs of a plan: their buffers, the order of their nodes, the instants
 * of their transfers.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_PROGRAM_H
#define TDL_COMPILER_LOWER_PROGRAM_H

#include "base/vec.h"
#include "compiler/graph/section.h"
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

/* The common part of all programs of a plan, whatever copies they keep and
 * whatever the order of their nodes. */
typedef struct outline {
	arena *a;
	plan *p; /* its buffers are those where each node fetches for itself;
		    it has no program */
	layout_classes *classes;
	node_buffers *nodes;
	struct jobs *jobs;
	const int *orders[LOWER_NORDERS]; /* of the nodes; NULL: not yet */
	const int *overlapping[LOWER_NORDERS];
	const section *sections;	  /* by node; NULL: there is no loop */
} outline;

/* Fills in p's buffers; everything else but the program is set.  The sections
 * are borrowed. */
outline *outline_new(arena *a, plan *p, const section *sections);

/* Whether buffer x covers buffer y on every worker, in every turn of a loop;
 * whether they have the same. */
bool program_covers(layout_classes *f, const plan *p, const plan_buffer *x,
		    const plan_buffer *y);
bool program_same(layout_classes *f, const plan *p, const plan_buffer *x,
		  const plan_buffer *y);

/* A program in the making. */
typedef struct draft {
	arena *a, *tmp; /* of the plan; of the making */
	plan *p;
	layout_classes *classes;
	node_buffers *nodes;
} draft;

/* A plan with a program, in a; it shares with o->p all that its program does
 * not change.  Places in the arena are not assigned.  memory, by: see
 * lower_options. */
plan *program_make(arena *a, outline *o, int64_t memory, lower_schedule by,
		   lower_rooms *rooms);

/* An order of the nodes: topological, and such that the most bytes in use at
 * once are few.  It is found once, in o->a. */
const int *program_order(outline *o, lower_order by);

/* schedule_overlapping() of that, likewise. */
const int *program_order_overlapping(outline *o, lower_order by);

/* Lets nodes read copies that were fetched for others before them, so that less
 * moves, where the most bytes in use at once stay the same, or within `memory',
 * see lower_options.  The program is there, its transfers have no collective
 * yet. */
lower_rooms program_keep_copies(draft *d, int64_t memory);

#endif
