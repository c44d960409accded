/* Lowering: from a graph and its layouts to a program of kernels on regions,
 * transfers between layouts, and places in memory. */
#ifndef TDL_COMPILER_LOWER_LOWER_H
#define TDL_COMPILER_LOWER_LOWER_H

#include "compiler/cost/assignment.h"
#include "compiler/lower/order.h"
#include "plan/classes.h"

typedef struct lower_options {
	const char *algorithm; /* that made the assignment */
	/* Makes the sources of k->kernel, in the arena; NULL for a plan that is
	 * only evaluated. */
	void (*codegen)(arena *a, plan_kernel *k);
	/* Read the files of the weights for their checksums, which a plan
	 * written to a file needs. */
	bool checksums;
	/* Bytes that a worker's arena may take for copies: tensors that one
	 * operator fetched are kept for others, so that less is moved, as long
	 * as the arena is no larger than this.  0: a tenth more than it takes
	 * without copies.  An arena that is larger without copies is not
	 * enlarged further. */
	int64_t memory;
	lower_schedule schedule;
	lower_rooms *rooms; /* receives those of the program; NULL */
	layout_classes **classes; /* receives lowering_classes(); NULL */
	/* Every node stays a kernel of its own; otherwise see fuse.h. */
	bool separate;
} lower_options;

/* A plan that was only evaluated, made whole: the sources of its kernels by
 * codegen, and the checksums of its weights.  A copy in the arena, which shares
 * the rest with p.  NULL with errors added. */
plan *lower_completed(arena *a, const plan *p,
		      void (*codegen)(arena *a, plan_kernel *k),
		      diag_sink *s);

/* The common part of all programs of an assignment: its operators, of which
 * some were joined; their buffers before copies are shared; facts about
 * these. */
typedef struct lowering lowering;

/* In a; of the options those that are not one program's are taken.  NULL when
 * errors were added: weights that cannot be read. */
lowering *lowering_new(arena *a, const graph *g, const assignment *as,
		       const lower_options *o, diag_sink *s);

/* The choice of a program of a lowering. */
typedef struct lower_choice {
	int64_t memory; /* of lower_options, as .. */
	lower_schedule schedule;
} lower_choice;

/* Whether two schedules, both with transfers behind other nodes or both
 * without, are the same order, so that they lead to the same programs. */
bool lowering_same_order(lowering *l, lower_schedule x, lower_schedule y);

/* A program whose buffers have no places yet, in a; it refers to the
 * lowering. */
plan *lowering_draft(arena *a, lowering *l, lower_choice which,
		     lower_rooms *rooms);

/* Gives the buffers of such a program p their places.  Where the gaps between
 * them make the arena larger than the choice allows, other programs are made in
 * a; the result is one that is within it, or that keeps no copies. */
plan *lowering_place(arena *a, lowering *l, lower_choice which, plan *p,
		     lower_rooms *rooms);

/* Whether a program's sizes are within the bounds that the readers of plans
 * keep to; otherwise an error is added. */
bool lowering_check(const plan *p, diag_sink *s);

/* The same but for the arena: other plans of the model may have smaller ones,
 * of its tensors and operators all have these. */
bool lowering_check_model(const plan *p, diag_sink *s);

/* Forms of the buffers of all programs. */
layout_classes *lowering_classes(const lowering *l);

/* The program for g under an assignment.  The order of its nodes is chosen for
 * few bytes in use at once.  Regions that a worker holds already are not
 * copied, and a tensor that several operators need in the same layout is
 * converted once if there is memory to keep the copy in between.  NULL when
 * errors were added: an object of more than PLAN_MAX_BYTES, weights that cannot
 * be read. */
plan *lower_plan(arena *a, const graph *g, const assignment *as,
		 const lower_options *o, diag_sink *s);

/* Whether lower_options.memory of `memory` bytes leads to the same program as
 * the one that has these rooms and takes `held' bytes, all else being equal:
 * either keeps all copies.  False where the program that was made has dropped
 * some. */
bool lower_is_same(const lower_rooms *rooms, int64_t held, int64_t memory);

#endif
