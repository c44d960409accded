/* The programs of a plan: their buffers, the order of their nodes, the instants
 * of their transfers.  Inside lower/ only. */
#ifndef TDL_COMPILER_LOWER_PROGRAM_H
#define TDL_COMPILER_LOWER_PROGRAM_H

#include "base/vec.h"
#include "compiler/graph/section.h"
#include "compiler/lower/order.h"
#include "plan/lifetimes.h"

/* The buffers of a node: its run reads sources[] and writes `made'.  A partial
 * result is combined to `shard'.  The result of either goes to the stored
 * block, unless it is there already. */
typedef struct node_buffers {
	/* one per input of the kernel: the stored block, or a buffer of this
	 * node that is filled from it */
	int *sources;
	int made;
	int shard; /* -1 if the run's result is not partial */
	int stored;
} node_buffers;

/* The common part of all programs of a plan, whatever copies they keep and in
 * whatever order their nodes run. */
typedef struct outline {
	arena *a;
	/* has the buffers for the case that each node fetches for itself; has
	 * no program */
	plan *p;
	layout_classes *classes;
	node_buffers *nodes;
	struct jobs *jobs;
	/* orders of the nodes; NULL: not yet computed */
	const int *orders[LOWER_NORDERS];
	const int *overlapping[LOWER_NORDERS];
	const section *sections;	  /* by node; NULL: there is no loop */
} outline;

/* Fills in p's buffers.  Everything else but the program is set before.
 * Borrows the sections. */
outline *outline_new(arena *a, plan *p, const section *sections);

/* Whether buffer x contains buffer y on every worker, in every turn of a loop;
 * whether they have the same region. */
bool program_covers(layout_classes *f, const plan *p, const plan_buffer *x,
		    const plan_buffer *y);
bool program_same(layout_classes *f, const plan *p, const plan_buffer *x,
		  const plan_buffer *y);

/* A program being made. */
typedef struct draft {
	arena *a, *tmp; /* arenas of the plan and of temporaries */
	plan *p;
	layout_classes *classes;
	node_buffers *nodes;
} draft;

/* A plan with a program, in a.  It shares with o->p all that its program does
 * not change.  Buffers have no places yet. memory, by: see lower_options. */
plan *program_make(arena *a, outline *o, int64_t memory, lower_schedule by,
		   lower_rooms *rooms);

/* An order of the nodes that is topological and keeps the most bytes in use at
 * once low.  Computed once, in o->a. */
const int *program_order(outline *o, lower_order by);

/* schedule_overlapping() of that order, likewise. */
const int *program_order_overlapping(outline *o, lower_order by);

/* Lets nodes read copies that were fetched for others before them, so that less
 * moves, if the most bytes in use at once do not grow or stay within `memory'
 * (see lower_options).  The program exists; its transfers have no collective
 * yet. */
lower_rooms program_keep_copies(draft *d, int64_t memory);

#endif
