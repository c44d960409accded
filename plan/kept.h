/* Factors of products of matrices that are kept from one run to the next as the
 * product's loops read them, packed, and not packed again as long as the
 * tensors that they are made of stay the same: constants, states that a plan
 * does not write, and states that are written once a step and used several
 * times in it.
 *
 * compiler/codegen says which factors of a kernel can be kept, for a plan's
 * planned bytes, and so does the compiled kernel, for the runtime; both ask
 * kept_of() which are. */
#ifndef TDL_PLAN_KEPT_H
#define TDL_PLAN_KEPT_H

#include <stdint.h>

#include "base/arena.h"

struct plan;

/* The factors, in this order, and the tile's rows or columns to which what is
 * kept is filled up: no processor has tiles of other sizes than parts of
 * these. */
enum { KEPT_ROWS, KEPT_COLS, KEPT_SIDES };
enum { KEPT_TILE_ROWS = 12, KEPT_TILE_BYTES = 128 };

/* Factors that are smaller are packed in no time; of a greater one each
 * element is used at most this many times in a run, or packing is a small part
 * of it. */
enum { KEPT_LEAST_BYTES = 1 << 16, KEPT_MOST_USES = 512 };

/* Fewer tiles than that read a factor where it lies, if it lies as they read
 * it; it is copied for more. */
enum { KEPT_FEW_TILES = 4 };

/* A factor that can be kept.  Sets of variables have a bit each: those around
 * the product, its own rows or columns, and those that are summed over.  It
 * depends on all of the first two.  No set has variables that are derived. */
typedef struct kept_factor {
	uint32_t inputs; /* of the kernel, that it reads; 0: it is not kept */
	uint32_t outer, own, depth;
	int size; /* bytes of an element, packed */
} kept_factor;

typedef struct kept_slot {
	int64_t offset, nbytes; /* in the memory of all slots; aligned */
} kept_slot;

/* A worker's.  Slot s of instruction i's factor `side' is
 * of[i * KEPT_SIDES + side], -1 where it is not kept.  After instruction i
 * those of spoils[i] have to be packed again. */
typedef struct kept_plan {
	int nslots;
	kept_slot *slots;
	int *of;
	int *nspoils, **spoils;
	int64_t nbytes; /* of all slots */
} kept_plan;

/* The slots of worker `worker' of an unrolled plan, in program order as far as
 * there is room; factors[k * KEPT_SIDES + side] is that of kernel k.  A larger
 * room than the result's nbytes changes nothing if the result was found with
 * it. */
kept_plan *kept_of(arena *a, const struct plan *p, int worker,
		   const kept_factor *factors, int64_t room);

/* The most that any worker of a plan keeps, of those that are looked at where
 * they are many. */
int64_t kept_plan_bytes(const struct plan *p, const kept_factor *factors,
			int64_t room);

#endif
