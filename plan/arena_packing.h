/* Packs buffers with different lifetimes into one arena. */
#ifndef TDL_PLAN_ARENA_PACKING_H
#define TDL_PLAN_ARENA_PACKING_H

#include <stdint.h>

/* nbytes in use from instant `first' to instant `last', both included.
 * memory_place() sets the offset. */
typedef struct arena_item {
	int64_t nbytes;
	int first, last;
	int64_t offset;
} arena_item;

/* Chooses offsets, multiples of `align', so that items in use at the same
 * instant do not overlap.  Returns the size of the arena in bytes, a multiple
 * of align.  The result is deterministic.
 *
 * Runs best fit in several orders (by size, after Pisarchyk and Lee, "Efficient
 * memory management for deep neural net inference", 2020; by time; by size
 * times time), keeps the best, and improves it by placing earlier the items
 * that ended up on top.  Takes about n^2 steps for n items.  For thousands of
 * items it runs best fit once, in the order of time. */
int64_t memory_place(arena_item *items, int n, int64_t align);

/* The most bytes in use at one instant, with each item rounded up to align: a
 * lower bound for every placement. */
int64_t memory_bound(const arena_item *items, int n, int64_t align);

#endif
