/* Pieces of a transfer: the boxes that one worker receives, and their senders.
 * The lowering counts their bytes; every runtime copies them.
 *
 * The owner of an element, for worker w, is the worker that holds it and has
 * w's coordinate on every axis over which the source is replicated; w itself
 * where it holds it.  So every element of w's part of the destination comes
 * from one owner.
 *
 * Partial results are shared by the workers that differ in the axes that cut
 * reduction variables only.  Of the region P that they all produce, each owns
 * a share: P cut by those of these axes that cut the stored tensor, and of
 * that block, over the other such axes, an even run of elements in row-major
 * order: block(0, volume, rank, n).  A share is combined from all sharers, the
 * lowest worker first, so that every runtime gets the same bits. */
#ifndef TDL_PLAN_TRANSFER_H
#define TDL_PLAN_TRANSFER_H

#include "layout/runs.h"
#include "plan/plan.h"

typedef struct piece {
	int peer; /* the sender; the worker itself for a local copy */
	box at;	  /* in the tensor's coordinates */
	bool add; /* combined with the destination's value, by the reducer of
		     plan_partial(); else copied */
} piece;

/* The pieces that worker receives in a MOVE or COMBINE, in the order in which
 * they are to be added; for a MOVE by ascending peer.  Returns their number;
 * the array is in a. */
int transfer_pieces(arena *a, const plan *p, const plan_instr *in, int worker,
		    piece **pieces);

/* Bytes that worker receives from others; in all. */
int64_t transfer_bytes(const plan *p, const plan_instr *in, int worker);
int64_t transfer_total(const plan *p, const plan_instr *in);
int64_t plan_communication(const plan *p);

/* The collective that a transfer is. */
collective transfer_collective(const plan *p, const plan_instr *in);

#endif
