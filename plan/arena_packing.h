/* Packing buffers that live at different times into one arena. */
#ifndef TDL_PLAN_ARENA_PACKING_H
#define TDL_PLAN_ARENA_PACKING_H

#include <stdint.h>

/* nbytes that are in use from instant `first` to instant `last`, both
 * included; the place is chosen by memory_place(). */
typedef struct arena_item {
	int64_t nbytes;
	int first, last;
	int64_t offset;
} arena_item;

/* Chooses offsets, multiples of `align`, such that items that are in use at
 * one instant do not overlap.  Returns the bytes of the arena, a multiple of
 * align too.  The same items always get the same places.
 *
 * Best fit in several orders, of which the best is kept (by size, as in
 * Pisarchyk and Lee, "Efficient memory management for deep neural net
 * inference", 2020; by time; by size times time), then improved by placing
 * earlier what ended up on top; about n^2 steps for n items.  Thousands are
 * placed once, by best fit in the order of time. */
int64_t memory_place(arena_item *items, int n, int64_t align);

/* The most bytes, each item rounded up to align, in use at one instant: no
 * placement needs less. */
int64_t memory_bound(const arena_item *items, int n, int64_t align);

#endif
