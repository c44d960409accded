/* A transfer between GPUs of several processes, from the view of one of them:
 * its collective, and the data that pass through staging memory.
 *
 * All processes derive the same from the plan alone. */
#ifndef TDL_RUNTIME_CUDA_EXCHANGE_H
#define TDL_RUNTIME_CUDA_EXCHANGE_H

#include "plan/pipeline.h"
#include "runtime/cuda/pack.h"

typedef enum exchange_kind {
	EXCHANGE_LOCAL,	     /* no worker receives from another */
	EXCHANGE_MESSAGES,   /* between those with data to send */
	EXCHANGE_ALL_GATHER, /* these by the library, among equals */
	EXCHANGE_ALL_TO_ALL,
	EXCHANGE_REDUCE_SCATTER,
	EXCHANGE_ALL_REDUCE, /* with the next transfer, .. */
	EXCHANGE_NOTHING,    /* .. which this one is */
} exchange_kind;

/* The data sent to one peer, or received from it. */
typedef struct parcel {
	int peer;   /* a worker */
	int number; /* in the group */
	int nboxes;
	box *boxes;
	int64_t nbytes;
	/* In staging memory; or in the buffer itself, where it lies there in
	 * one piece. */
	bool direct;
	int64_t at;
} parcel;

typedef struct exchange {
	exchange_kind kind;
	int instr, worker;
	uint32_t axes; /* of the mesh, along which it goes: those that differ
			  on them only are a group, .. */
	int size, number; /* .. of so many, of which this is one */
	dtype type;
	reducer reducer;  /* COMBINE */
	int nto, nfrom;
	parcel *to, *from; /* others, by ascending number */
	parcel own;	   /* the data that stay with the worker; */
	bool zeros;	   /* these are zeros, and there is nothing else */
	/* A collective has a slot of this size for each worker of the group, in
	 * staging memory or in the buffer itself. */
	int64_t slot;
	bool sends_direct, receives_direct;
	int64_t outbox, inbox; /* staging memory that it needs, bytes */
	int64_t outbox_at, inbox_at; /* set by the caller */
	int64_t received; /* bytes from others */
} exchange;

/* Whether the library combines elements as reducer_combine() does, apart from
 * the order. */
typedef bool reduces_fn(reducer r, dtype t);

exchange exchange_of(arena *a, const plan *p, int instr, int worker,
		     reduces_fn *reduces);

/* A message of a pipeline, a SEND or a RECEIVE of a worker of the stage.
 * Numbers are those on the link: all senders, then all receivers. */
exchange exchange_of_message(arena *a, const plan_pipeline *p, int stage,
			     int instr, int worker);

/* Merges two that follow each other into one, if that is correct. */
void exchange_merge(const plan *p, exchange *combine, exchange *move);

/* Appends the copies before the library's part to `before', and those after it
 * to `after'.  memory is the worker's arena. */
void exchange_lists(const exchange *x, const plan *p, CUdeviceptr memory,
		    CUdeviceptr outbox, CUdeviceptr inbox, pack_list *before,
		    pack_list *after);

#endif
