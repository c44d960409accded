/* Packed factors of products of matrices that are kept from one run to the
 * next, in the order in which the product's loops read them.  They are packed
 * again only when the tensors they come from change.  Useful for constants, and
 * for states that a plan does not write; if they are used several times in a
 * step, also for states that it writes once, and for what it computes once of
 * all these.
 *
 * compiler/codegen says which factors of a kernel can be kept, to plan their
 * bytes; the compiled kernel tells the runtime.  Both then call kept_of(). */
#ifndef TDL_PLAN_KEPT_H
#define TDL_PLAN_KEPT_H

#include <stdint.h>

#include "base/arena.h"

struct plan;

/* The factors, in this order; the multiples to which the rows or columns of
 * kept factors are padded.  The tiles of every processor divide these. */
enum { KEPT_ROWS, KEPT_COLS, KEPT_SIDES };
enum { KEPT_TILE_ROWS = 12, KEPT_TILE_BYTES = 128 };

/* Smaller factors are packed in no time.  If each element of a larger factor is
 * used more than KEPT_MOST_USES times in a run, packing is a small part of the
 * run. */
enum { KEPT_LEAST_BYTES = 1 << 16, KEPT_MOST_USES = 4096 };

/* A factor that can be kept.  The sets of variables have a bit each: those of
 * loops around the product, the factor's own rows or columns, and those summed
 * over.  The factor depends on all variables of the first two.  No set has
 * derived variables. */
typedef struct kept_factor {
	/* the kernel's inputs that it reads; 0: it is not kept */
	uint32_t inputs;
	uint32_t outer, own, depth;
	int size; /* bytes of an element, packed */
} kept_factor;

typedef struct kept_slot {
	int64_t offset, nbytes; /* in the memory shared by all slots; aligned */
} kept_slot;

/* A worker's slots. of[i * KEPT_SIDES + side] is the slot of factor `side' of
 * instruction i, -1 if it is not kept.  After instruction i the slots in
 * spoils[i] must be packed again. */
typedef struct kept_plan {
	int nslots;
	kept_slot *slots;
	int *of;
	int *nspoils, **spoils;
	int64_t nbytes; /* of all slots */
} kept_plan;

/* The slots of a worker of an unrolled plan, in a, given in program order while
 * `room' bytes last; factors[k * KEPT_SIDES + side] is that of kernel k.
 * Calling again with the result's nbytes as room gives the same result. */
kept_plan *kept_of(arena *a, const struct plan *p, int worker,
		   const kept_factor *factors, int64_t room);

/* The most bytes that any worker of a plan keeps; of many workers a sample is
 * looked at. */
int64_t kept_plan_bytes(const struct plan *p, const kept_factor *factors,
			int64_t room);

#endif
