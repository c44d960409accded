/* Lifetimes of the buffers of a program, and the buffers that share a place.
 * Shared by memory planning, the states' updates, the checks of a plan and the
 * report of its peak. */
#ifndef TDL_PLAN_LIFETIMES_H
#define TDL_PLAN_LIFETIMES_H

#include "plan/arena_packing.h"
#include "plan/classes.h"

/* A buffer is in use from the instruction that writes it to the last that
 * reads it, both included; a bucket, or a chain (plan_step_end()), is one
 * instant, from its first instruction to its last.  -1 stands for "before the
 * run", ninstrs for "after it": an input is in use from -1 on, a constant from
 * -1 to ninstrs, an output of the model up to ninstrs.  A state is in use from
 * -1 to ninstrs if a MOVE updates it; else it ends with its last reader, and
 * its next value is in use up to ninstrs.  A buffer that no instruction touches
 * has first > last, or both -1. */
typedef struct lifetime {
	int first, last;
} lifetime;

/* One per buffer, in a. */
lifetime *plan_lifetimes(arena *a, const plan *p);

/* Buffers that share a place, because each takes it over from the one before:
 * group[b] is the first of those that share it with b.  items[g], where
 * group[g] is g, says when their place is in use and how large it is; the
 * others are empty. */
typedef struct plan_places {
	int *group;
	arena_item *items;
} plan_places;

/* In a. */
plan_places plan_find_places(arena *a, const plan *p, layout_classes *f);

/* plan_place(), where the layout classes of the plan are at hand. */
int64_t plan_place_with(plan *p, layout_classes *f);

/* Adds, for each state whose next value cannot lie in its place, a MOVE that
 * brings it there after the last reader of the old value. */
void plan_update_states(arena *a, plan *p);

/* Calls f for each buffer that an instruction reads; with repetitions. */
void plan_reads(const plan *p, const plan_instr *in,
		void (*f)(void *to, int buffer), void *to);

/* Whether the RUN that is instruction t may write its result over buffer
 * `from`, one of its inputs: it is in no chain, the buffer is not used later,
 * and the kernel allows it (kernel_in_place()) for each input that reads the
 * buffer.  The caller checks that both have the same region, by
 * layout_class_same(). */
bool plan_may_overwrite(const plan *p, const lifetime *l, int t, int from);

#endif
