/* The work of the fake NCCL when it is a stream's turn. */
#ifndef TDL_TESTS_CUDA_FAKE_NCCL_OP_H
#define TDL_TESTS_CUDA_FAKE_NCCL_OP_H

#include <nccl.h>

#include "fake.h"
#include "ring.h"

struct ncclComm {
	int nranks, rank, device, meetings, splits;
	char name[120];
	peer_monitor *peer_monitor; /* NULL: closed */
	_Atomic int pending;	/* groups that were enqueued */
	unsigned sums; /* that it has done */
	_Atomic int captured;	/* calls in graphs that there are still */
	_Atomic bool aborted, inside;
	bool leaves; /* at the end of the group */
	bool shares; /* its buffers with those that are split off */
	bool connected;
	struct registration *registrations; /* nccl_memory.c */
	ncclResult_t error;
	char text[400];
	ncclComm_t next; /* of those that are open, or closed */
};

/* The parts that ranks send, and to whom. */
typedef enum exchange {
	ALL_TO_EACH,  /* all of it */
	PART_TO_EACH, /* the part of the receiver's number */
	FROM_ROOT,
	SEND,
	RECEIVE,
} exchange;

typedef struct op_kind {
	const char *name, *name_registered;
	bool sends, receives;
	bool from_all, to_all; /* the buffer has a part for each rank */
	bool in_place, reduces;
	exchange exchange;
} op_kind;

typedef struct op {
	const op_kind *kind;
	ncclComm_t comm;
	const void *from;
	void *to;
	size_t count;
	ncclDataType_t type;
	ncclRedOp_t op;
	int root; /* or the peer */
	bool registered; /* its buffers are */
} op;

/* Calls that go on at the same time. */
typedef struct group {
	int n, refs;
	op *ops;
	struct transfer *transfers;
	int ntransfers;
	bool hangs, counted;
	bool captured; /* in a graph */
	unsigned char **parts; /* by call: what came from all ranks */
} group;

FAKE_HIDDEN size_t op_size(const op *o); /* of an element */
/* Appends a call to a group, or to a new one. */
FAKE_HIDDEN group *group_add(group *g, const op *o);
/* Its calls belong to a graph, and to their communicators until that is gone.
 */
FAKE_HIDDEN void group_capture(group *g);
FAKE_HIDDEN CUresult group_step(void *arg, bool first);
FAKE_HIDDEN void group_release(void *arg);

#endif
