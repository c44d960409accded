/* The transfers of a rank, and its messages to other stages, as Open MPI gets
 * them.  Shared by the files mpi*.c of workers alone. */
#ifndef TDL_RUNTIME_COMM_MPI_EXCHANGE_H
#define TDL_RUNTIME_COMM_MPI_EXCHANGE_H

#include <mpi.h>

#include "base/vec.h"
#include "runtime/comm/mpi_heartbeat.h"
#include "runtime/comm/prefetch.h"

/* A piece, without the dimensions that a box has room for. */
typedef struct part {
	int instr; /* of its transfer */
	int peer; /* the rank that it comes from, or goes to: in the stage, or
		     of a message among all */
	bool add, zeros; /* of piece */
	int64_t at, nbytes; /* in the staging memory */
	int64_t *lo, *hi;
} part;

typedef VEC(part) parts;

/* The data sent to one peer, or received from it, in the staging memory. */
typedef struct parcel {
	int peer;
	int64_t at, nbytes;
} parcel;

typedef struct parcels {
	int n;
	parcel *of; /* by ascending peer */
	int64_t nbytes;
} parcels;

/* A transfer as this rank sees it; of those of a bucket that are of one kind,
 * all of them, and the others have nothing to do.  A SEND only sends, a RECEIVE
 * only receives. */
typedef struct exchange {
	MPI_Comm group; /* MPI_COMM_NULL: from rank to rank, .. */
	MPI_Comm ranks; /* .. of these, with this tag */
	int tag;
	parts sent;	/* by ascending peer, for each as it unpacks them */
	parts received; /* in the order of addition; this rank's own, too */
	parcels to, from;
	int *counts; /* of the group's ranks: sent, where, received, where */
	bool leads;  /* it is the first of its phase of a bucket, or alone */
	bool local;  /* no worker receives anything from another */
	int64_t total; /* bytes received, so far */
	char *outbox, *inbox;
	struct place *place; /* of a SEND */
	VEC(MPI_Request) requests; /* while it goes on */
} exchange;

/* A slot out of which messages of a channel are sent: its outbox. */
typedef struct place {
	int64_t offset; /* of the slot, in the arena */
	int64_t nbytes;
	char *memory;
	int sent; /* the SEND whose message is on its way; -1 */
} place;

typedef VEC(place *) places;

/* The communicator of those that differ on some axes of the mesh only. */
typedef struct group {
	uint32_t axes;
	MPI_Comm comm;
} group;

typedef struct ranks {
	arena *a;
	mpi_heartbeat *mpi_heartbeat;
	const plan_pipeline *all;
	const plan *p;	   /* this rank's stage */
	int rank, number;  /* among all, in the stage */
	int stage;
	MPI_Comm members;  /* of the stage */
	MPI_Comm messages; /* all, for messages between stages */
	places *places;    /* by channel */
	unsigned char *arena;
	exchange *exchanges; /* by instruction */
	VEC(group) groups;
	prefetch schedule;
	bool *apart; /* by instruction: it begins and ends in its own turn, not
			by the schedule; NULL: none does */
	int at; /* all events before this instruction are done */
	char *staging;
} ranks;

/* Notes what this rank sends and receives in all instructions of its stage, and
 * when; all ranks call it alike. */
void exchanges_open(ranks *c);

#endif
