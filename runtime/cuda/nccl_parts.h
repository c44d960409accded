/* The state of link_nccl, private to nccl.c and to nccl_groups.c, which has the
 * communicators. */
#ifndef TDL_RUNTIME_CUDA_NCCL_PARTS_H
#define TDL_RUNTIME_CUDA_NCCL_PARTS_H

#include "base/vec.h"
#include "runtime/cuda/exchange.h"
#include "runtime/cuda/link.h"
#include "runtime/cuda/nccl_memory.h"
#include "runtime/cuda/pack.h"

/* The communicator of the workers that differ only on some axes of the mesh. */
typedef struct group {
	uint32_t axes;
	ncclComm_t comm;
} group;

/* Transfers in any order. */
typedef struct phase {
	int n;
	exchange **of; /* those that need the library */
	pack_list *before, *after;
} phase;

/* First everything but the moves that spread what the same bucket combines,
 * then these moves. */
enum { PHASES = 2 };

typedef struct bucket {
	phase phases[PHASES];
	int last; /* last of its instructions; -1 if all are local */
} bucket;

/* A link of the stage. */
typedef struct link_group {
	int from, to; /* stages */
	ncclComm_t comm;
	CUdeviceptr staging;
	int64_t nbytes; /* of that */
} link_group;

typedef struct message {
	pack_list *before, *after;
} message;

typedef struct nccl {
	arena *a;
	nccl_api api;
	cuda *c;
	const cuda_stage *s;
	const plan *p;
	int worker;	   /* of the stage */
	VEC(group) groups; /* the first is that of the whole stage */
	link_group *links; /* by link of the pipeline; others are empty */
	nccl_registrations registered;
	exchange *exchanges; /* by instruction */
	message *messages;   /* by instruction */
	bucket *buckets;     /* by the first instruction of each */
	packer *packer;
	CUdeviceptr outbox, inbox;
	int64_t outbox_bytes, inbox_bytes;
	int *reached; /* mapped memory, by queue: see comm_progress */
	/* by the first instruction of each bucket: its number among
	 * transfers */
	int *numbers;
	const communicator *members; /* told about the progress, .. */
	void *link;		     /* .. and their state */
	comm_progress progress;
	double timeout; /* seconds within which a missing peer is named */
} nccl;

#define NCCL_OF(l, f, function, ...) \
	NCCL_CALL(&(l)->api, (f), function, __VA_ARGS__)

/* Notes that the communicator of workers that differ only on these axes is
 * needed, before communicators are joined. */
void groups_note(nccl *l, uint32_t axes);

/* Joins all communicators of the stage, and registers the memory that their
 * calls use.  Collective. */
bool groups_join(nccl *l, const communicator *comm, void *link, failure *f);

ncclComm_t groups_of(const nccl *l, const exchange *x);

/* All communicators, in a; those split from others first. */
ncclComm_t *groups_all(const nccl *l, arena *a, int *n);

/* Leaves the communicators, together with the other processes; after a failure,
 * without them. */
void groups_leave(nccl *l);
void groups_abort(nccl *l);

#endif
