/* Transfers: the movement of a tensor from one layout to another between the
 * workers of a mesh, as boxes that a worker receives, each with its sender.
 *
 * The lowering counts their bytes, the time model their seconds; every runtime
 * copies them.
 *
 * The owner of an element, for worker w, is w itself if it holds the element;
 * else the worker that holds it and has w's coordinate on every axis over which
 * the source is replicated.  So each element of w's part of the destination
 * comes from one owner.
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
	/* of one tensor, or of two of the same shape and type */
	layout from, to;
	/* Each worker's part of `to' is reduced from the partial results that
	 * all sharers have in `from'; if false, it is copied from the
	 * owners. */
	bool combine;
} layout_transfer;

typedef struct piece {
	int peer; /* the sender; the worker itself for a local copy */
	box at;	  /* in the tensor's coordinates */
	/* nothing is copied: the box becomes zeros; peer is the worker
	 * itself */
	bool zeros;
	/* combined with the destination's value by layout_reducer(); if false,
	 * copied */
	bool add;
} piece;

/* Lists the pieces that a worker receives: in the order in which they are added
 * up, if the transfer combines, else by ascending peer.  Returns their number;
 * the array is in a. */
int transfer_pieces(arena *a, const layout_transfer *t, int worker,
		    piece **pieces);

/* The axes, a bit each, whose workers share the partial results of a transfer
 * that combines; whether a worker has zeros in the destination. */
uint32_t transfer_shared_axes(const layout_transfer *t);
bool transfer_has_zeros(const layout_transfer *t, int worker);

/* The bytes of a worker's pieces that other workers send. */
typedef struct transfer_received {
	/* By the outermost axis on which the sender and the worker differ. */
	int64_t bytes[MAX_AXES];
	uint32_t axes; /* axes on which any sender differs, a bit each */
} transfer_received;

/* Computes them without listing every piece. */
transfer_received transfer_receives(const layout_transfer *t, int worker);

/* Bytes that one worker receives from others; bytes that all receive. */
int64_t transfer_bytes(const layout_transfer *t, int worker);
int64_t transfer_total(const layout_transfer *t);

/* The collective that the transfer is; `received' is transfer_total().  With
 * more than 64 workers, looks at a sample of 64. */
collective transfer_collective(const layout_transfer *t, int64_t received);

#endif
