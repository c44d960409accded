/* Lowering: from a graph and its layouts to a program of kernels on regions,
 * transfers between layouts, and places in memory. */
#ifndef TDL_COMPILER_LOWER_LOWER_H
#define TDL_COMPILER_LOWER_LOWER_H

#include "compiler/cost/assignment.h"
#include "compiler/lower/order.h"
#include "plan/classes.h"

typedef struct lower_options {
	const char *algorithm; /* the planner that made the assignment */
	/* Makes the sources of k->kernel, in the arena; NULL for a plan that is
	 * only evaluated. */
	void (*codegen)(arena *a, plan_kernel *k);
	/* Compute checksums of the weights' files; needed in a plan that is
	 * written to a file. */
	bool checksums;
	/* Bytes that a worker's arena may take: within this limit, tensors that
	 * one operator fetched are kept for others, so that less is moved. 0: a
	 * tenth more than without copies.  An arena that is larger without
	 * copies does not grow further. */
	int64_t memory;
	lower_schedule schedule;
	lower_rooms *rooms; /* receives the rooms of the program; NULL */
	layout_classes **classes; /* receives lowering_classes(); NULL */
	/* Every node stays a kernel of its own; otherwise see fuse.h. */
	bool separate;
} lower_options;

/* Completes a plan that was only evaluated: makes the sources of its kernels by
 * codegen, and the checksums of its weights.  Returns a copy in the arena,
 * which shares the rest with p; NULL after adding errors. */
plan *lower_completed(arena *a, const plan *p,
		      void (*codegen)(arena *a, plan_kernel *k),
		      diag_sink *s);

/* The common part of all programs of an assignment: its operators, some of them
 * merged; their buffers before copies are shared; facts about these. */
typedef struct lowering lowering;

/* In a.  Uses those options that do not concern a single program.  Returns NULL
 * after adding errors: weights that cannot be read. */
lowering *lowering_new(arena *a, const graph *g, const assignment *as,
		       const lower_options *o, diag_sink *s);

/* The choices that distinguish programs of a lowering. */
typedef struct lower_choice {
	int64_t memory; /* as in lower_options, like schedule */
	lower_schedule schedule;
} lower_choice;

/* Whether two schedules, both overlapping or both not, give the same order, and
 * so the same programs. */
bool lowering_same_order(lowering *l, lower_schedule x, lower_schedule y);

/* A program whose buffers have no places yet, in a; it refers to the
 * lowering. */
plan *lowering_draft(arena *a, lowering *l, lower_choice which,
		     lower_rooms *rooms);

/* Places the buffers of such a program p.  If gaps between them make the arena
 * larger than the choice allows, makes other programs in a.  The result is
 * within the limit, or keeps no copies. */
plan *lowering_place(arena *a, lowering *l, lower_choice which, plan *p,
		     lower_rooms *rooms);

/* Checks that a program's sizes are within the limits that readers of plans
 * enforce; adds an error if not. */
bool lowering_check(const plan *p, diag_sink *s);

/* The same except for the arena: other plans of the model may have smaller
 * arenas, but all have its tensors and operators. */
bool lowering_check_model(const plan *p, diag_sink *s);

/* The classes of the buffers of all programs. */
layout_classes *lowering_classes(const lowering *l);

/* The program for g under an assignment, in a.  The order of its nodes is
 * chosen to keep the most bytes in use at once low.  Regions that a worker
 * holds already are not copied.  A tensor that several operators need in the
 * same layout is converted once if there is memory to keep the copy in between.
 * Returns NULL after adding errors: an object of more than PLAN_MAX_BYTES,
 * weights that cannot be read. */
plan *lower_plan(arena *a, const graph *g, const assignment *as,
		 const lower_options *o, diag_sink *s);

/* Whether lower_options.memory of `memory' bytes gives the same program as the
 * one that has these rooms and takes `held' bytes, all else being equal: both
 * keep all copies.  False if the existing program has dropped some. */
bool lower_is_same(const lower_rooms *rooms, int64_t held, int64_t memory);

#endif
