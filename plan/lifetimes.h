/* Lifetimes of the buffers of a program, and buffers that share a place.  Used
 * by memory planning, the updates of states, the checks of a plan and the
 * report of its peak. */
#ifndef TDL_PLAN_LIFETIMES_H
#define TDL_PLAN_LIFETIMES_H

#include "plan/arena_packing.h"
#include "plan/classes.h"

/* A buffer is in use from the instruction that writes it to the last that reads
 * it, both included.  A bucket or a chain (plan_step_end()) counts as one
 * instant, from its first instruction to its last. -1 stands for "before the
 * run", ninstrs for "after it".  An input is in use from -1 on, a constant from
 * -1 to ninstrs, an output of the model up to ninstrs.  A state that a MOVE
 * updates is in use from -1 to ninstrs; any other state until its last reader,
 * and its next value up to ninstrs.  A buffer that no instruction uses has
 * first > last, or both -1. */
typedef struct lifetime {
	int first, last;
} lifetime;

/* The lifetimes by buffer, in a. */
lifetime *plan_lifetimes(arena *a, const plan *p);

/* Places that several buffers use in turn, each taking it over from the one
 * before. group[b] is the first buffer of those that share b's place.  If
 * group[g] is g, items[g] has the place's lifetime and size; other items are
 * empty. */
typedef struct plan_places {
	int *group;
	arena_item *items;
} plan_places;

/* Finds the places; the result is in a. */
plan_places plan_find_places(arena *a, const plan *p, layout_classes *f);

/* plan_place() for a caller that has the plan's layout classes. */
int64_t plan_place_with(plan *p, layout_classes *f);

/* For each state whose next value cannot use the state's own place, appends a
 * MOVE that copies it there after the last reader of the old value. */
void plan_update_states(arena *a, plan *p);

/* Calls f for each buffer that an instruction reads; may repeat buffers. */
void plan_reads(const plan *p, const plan_instr *in,
		void (*f)(void *to, int buffer), void *to);

/* Whether RUN t may write its result over its input buffer `from': the RUN is
 * in no chain, the buffer is not used later, and the kernel allows it
 * (kernel_in_place()) for each input that reads the buffer.  The caller checks,
 * by layout_class_same(), that both have the same region. */
bool plan_may_overwrite(const plan *p, const lifetime *l, int t, int from);

#endif
