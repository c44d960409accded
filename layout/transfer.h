/* Transfers: what moves between the workers of a mesh to get a tensor from one
 * layout to another, as boxes that one worker receives, with their senders.
 * The lowering counts their bytes, the time model their seconds; every runtime
 * copies them.
 *
 * The owner of an element, for worker w, is the worker that holds it and has
 * w's coordinate on every axis over which the source is replicated; w itself
 * where it holds it.  So every element of w's part of the destination comes
 * from one owner.
 *
 * Workers that have zeros in the destination (layout.h) receive nothing.
 *
 * A share of a partial result (layout.h) is combined from all sharers, the
 * lowest worker first, so that every runtime gets the same bits. */
#ifndef TDL_LAYOUT_TRANSFER_H
#define TDL_LAYOUT_TRANSFER_H

#include "base/arena.h"
#include "layout/collective.h"
#include "layout/layout.h"

typedef struct layout_transfer {
	const mesh *mesh; /* borrowed */
	layout from, to;  /* of one tensor, or of two that are alike */
	/* Each worker's part of `to' is reduced from the partial results that
	 * all sharers have in `from'; else it is copied from their owners'. */
	bool combine;
} layout_transfer;

typedef struct piece {
	int peer; /* the sender; the worker itself for a local copy */
	box at;	  /* in the tensor's coordinates */
	bool zeros; /* nothing is copied: it becomes zeros; peer is the worker
		       itself */
	bool add; /* combined with the destination's value, by the reducer of
		     layout_reducer(); else copied */
} piece;

/* The pieces that a worker receives, in the order in which they are to be
 * added, or else by ascending peer.  Returns their number; the array is in
 * a. */
int transfer_pieces(arena *a, const layout_transfer *t, int worker,
		    piece **pieces);

/* The axes whose workers share the partial results of a transfer that combines
 * them; whether a worker has zeros in the destination. */
uint32_t transfer_shared_axes(const layout_transfer *t);
bool transfer_has_zeros(const layout_transfer *t, int worker);

/* The bytes of a worker's pieces that others send it. */
typedef struct transfer_received {
	/* By the outermost axis on which the sender differs from it. */
	int64_t bytes[MAX_AXES];
	uint32_t axes; /* on which any sender does, a bit each */
} transfer_received;

/* The same without looking at every piece. */
transfer_received transfer_receives(const layout_transfer *t, int worker);

/* Bytes that a worker receives from others; in all. */
int64_t transfer_bytes(const layout_transfer *t, int worker);
int64_t transfer_total(const layout_transfer *t);

/* The collective that the transfer is, in which `received' bytes are received
 * in all.  Of more than 64 workers so many are looked at. */
collective transfer_collective(const layout_transfer *t, int64_t received);

#endif
