/* A transfer between GPUs of several processes as one of them sees it: its
 * collective, and the data that go through staging memory.
 *
 * All processes derive the same from the plan alone. */
#ifndef TDL_RUNTIME_CUDA_EXCHANGE_H
#define TDL_RUNTIME_CUDA_EXCHANGE_H

#include "plan/pipeline.h"
#include "runtime/cuda/pack.h"

typedef enum exchange_kind {
	EXCHANGE_LOCAL,	     /* no worker receives from another */
	/* messages between workers that have data to send */
	EXCHANGE_MESSAGES,
	/* from here on by the library, between equal parts */
	EXCHANGE_ALL_GATHER,
	EXCHANGE_ALL_TO_ALL,
	EXCHANGE_REDUCE_SCATTER,
	EXCHANGE_ALL_REDUCE, /* together with the next transfer, .. */
	EXCHANGE_NOTHING,    /* .. which this one is */
} exchange_kind;

/* The data sent to one peer, or received from it. */
typedef struct parcel {
	int peer;   /* a worker */
	int number; /* in the group */
	int nboxes;
	box *boxes;
	int64_t nbytes;
	/* In staging memory; or directly in the buffer if the data are
	 * contiguous there. */
	bool direct;
	int64_t at;
} parcel;

typedef struct exchange {
	exchange_kind kind;
	int instr, worker;
	/* of the mesh: workers that differ only on these form a group, .. */
	uint32_t axes;
	int size, number; /* .. of `size' workers, in which this is `number' */
	dtype type;
	reducer reducer;  /* COMBINE */
	int nto, nfrom;
	parcel *to, *from; /* others, by ascending number */
	parcel own;	   /* data that stay on the worker */
	bool zeros;	   /* they are zeros, and there is nothing else */
	/* Bytes that a collective needs for each worker of the group, in
	 * staging memory or in the buffer itself. */
	int64_t slot;
	bool sends_direct, receives_direct;
	int64_t outbox, inbox; /* staging memory that it needs, bytes */
	int64_t outbox_at, inbox_at; /* set by the caller */
	int64_t received; /* bytes from others */
} exchange;

/* Whether the library combines elements like reducer_combine(), except for the
 * order. */
typedef bool reduces_fn(reducer r, dtype t);

exchange exchange_of(arena *a, const plan *p, int instr, int worker,
		     reduces_fn *reduces);

/* A message of a pipeline: a SEND or RECEIVE of a worker of the stage.  Workers
 * have their numbers on the link: all senders, then all receivers. */
exchange exchange_of_message(arena *a, const plan_pipeline *p, int stage,
			     int instr, int worker);

/* Merges two consecutive transfers into an all-reduce, if that is correct. */
void exchange_merge(const plan *p, exchange *combine, exchange *move);

/* Appends the copies before the library's part to `before', and those after it
 * to `after'. memory is the worker's arena. */
void exchange_lists(const exchange *x, const plan *p, CUdeviceptr memory,
		    CUdeviceptr outbox, CUdeviceptr inbox, pack_list *before,
		    pack_list *after);

#endif
