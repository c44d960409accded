/* The transfers of a rank, and its messages to other stages, in the form that
 * Open MPI needs.  Shared by the files mpi*.c for workers alone. */
#ifndef TDL_RUNTIME_COMM_MPI_EXCHANGE_H
#define TDL_RUNTIME_COMM_MPI_EXCHANGE_H

#include <mpi.h>

#include "base/vec.h"
#include "runtime/comm/mpi_heartbeat.h"
#include "runtime/comm/prefetch.h"

/* A piece, without the unused dimensions of a box. */
typedef struct part {
	int instr; /* of its transfer */
	/* the rank from which it comes, or to which it goes: a rank of the
	 * stage, or for a message a rank among all */
	int peer;
	bool add, zeros; /* of piece */
	int64_t at, nbytes; /* in staging memory */
	int64_t *lo, *hi;
} part;

typedef VEC(part) parts;

/* The data sent to one peer, or received from it, in staging memory. */
typedef struct parcel {
	int peer;
	int64_t at, nbytes;
} parcel;

typedef struct parcels {
	int n;
	parcel *of; /* by ascending peer */
	int64_t nbytes;
} parcels;

/* A transfer as this rank sees it.  The first of the transfers of one kind in a
 * bucket has the data of all; the others have nothing to do.  A SEND only
 * sends, a RECEIVE only receives. */
typedef struct exchange {
	/* for a collective; MPI_COMM_NULL: point to point, .. */
	MPI_Comm group;
	MPI_Comm ranks; /* .. between these ranks, with this tag */
	int tag;
	/* by ascending peer; for each in the order in which it unpacks them */
	parts sent;
	parts received; /* in the order of addition; includes this rank's own */
	parcels to, from;
	int *counts; /* by rank of the group: sent, where, received, where */
	bool leads;  /* the first of its phase of a bucket, or alone */
	bool local;  /* no worker receives anything from another */
	int64_t total; /* bytes received, so far */
	char *outbox, *inbox;
	struct place *place; /* of a SEND */
	VEC(MPI_Request) requests; /* those in progress */
} exchange;

/* A slot from which messages of a channel are sent: its outbox. */
typedef struct place {
	int64_t offset; /* of the slot, in the arena */
	int64_t nbytes;
	char *memory;
	int sent; /* the SEND whose message is in progress; -1 */
} place;

typedef VEC(place *) places;

/* The communicator of the ranks that differ only on some axes of the mesh. */
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
	bool crowded;	   /* ranks outnumber processors (mpi_wait.h) */
	MPI_Comm members;  /* of the stage */
	MPI_Comm messages; /* all, for messages between stages */
	places *places;    /* by channel */
	unsigned char *arena;
	exchange *exchanges; /* by instruction */
	VEC(group) groups;
	prefetch schedule;
	/* by instruction: it begins and ends in its own turn, not by the
	 * schedule; NULL: none does */
	bool *apart;
	int at; /* all events before this instruction are done */
	char *staging;
} ranks;

/* Finds what this rank sends and receives in all instructions of its stage, and
 * when.  Collective: all ranks call it alike. */
void exchanges_open(ranks *c);

#endif
