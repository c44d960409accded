/* Communicators: the start of workers, and the exchange of regions between
 * them, each a row of functions. */
#ifndef TDL_RUNTIME_EXEC_COMMUNICATOR_H
#define TDL_RUNTIME_EXEC_COMMUNICATOR_H

#include <stdatomic.h>

#include "plan/pipeline.h"
#include "runtime/exec/fail.h"

/* The means by which processes without a launcher find each other. */
typedef struct comm_options {
	const char *rendezvous; /* a folder that all reach, or the beginning of
				   a file's path; NULL: by other means */
	int64_t rank, ranks;	/* of them; -1: the environment says it */
	double timeout; /* seconds that one may stand still; 0: a default */
} comm_options;

enum { COMM_TIMEOUT = 8 }; /* seconds, if no option gives another number */

/* A transfer of a step. */
typedef struct comm_transfer {
	int queue;     /* of the device */
	int instr;     /* of the stage's program */
	int64_t place; /* among those of all processes, so that the least that
			  has not ended can go on: what has the same is one
			  transfer, if the processes are of one stage, or it is
			  a message between their stages */
} comm_transfer;

/* The progress of a process whose device runs the program. */
typedef struct comm_progress {
	atomic_long steps;     /* begun so far */
	atomic_bool waits;     /* for the device to end one */
	/* In the order in which they are handed over.  A queue of the device
	 * writes where it is: 2 n + 1 when it comes to transfer n of these,
	 * 2 n + 2 when that has ended; 0 before. */
	int ntransfers;
	const comm_transfer *transfers;
	const volatile int *reached; /* by queue */
} comm_progress;

/* The transfer that has ended after all before it have, an instruction; -1 for
 * none. */
int comm_last(const comm_progress *x);

/* A number that is the lower the further behind a process is in a step: who has
 * yet to come to a transfer is behind those who wait for it there. */
int64_t comm_place(const comm_progress *x);

/* The body of a worker; false, with *f set, ends all of them. */
typedef bool comm_body(void *arg, int worker, failure *f);

typedef struct communicator {
	const char *name;
	const char *missing; /* the reason why it is unavailable; NULL if it is
				not */
	/* Whether it moves regions, in the host's memory.  One that does not
	 * goes with backends that do it themselves, and has no attach(),
	 * launch(), ready(), move(), combine(), send(), receive() and
	 * received(). */
	bool moves;
	/* Joins the processes of the run, before anything else, and sets *run,
	 * the argument of end(), gather() and open().  Rank 0 speaks for all;
	 * the others print nothing and write no file.  False with *f set. */
	bool (*start)(const comm_options *o, void **run, int *rank,
		      failure *f);
	/* Leaves them; if the run has failed, it ends them. */
	void (*end)(void *run, cli_status status);
	/* A number of each process, by rank, in a; there are *n.  All call it
	 * alike.  NULL where there is but this process; may be NULL for
	 * that. */
	uint64_t *(*gather)(void *run, arena *a, uint64_t x, int *n);
	/* For the workers of all stages of an unrolled pipeline
	 * (pipeline_unroll()), which are numbered through these: `worker', here
	 * and below.  Instructions are those of a worker's own stage.  NULL
	 * with *f set. */
	void *(*open)(void *run, const plan_pipeline *p, failure *f);
	/* The workers that are in this process, first .. first + n; and how
	 * many are on this machine, which share its processors and memory. */
	void (*here)(void *c, int *first, int *n, int *neighbours);
	/* The number of these that come before the first that is in this
	 * process; may be NULL for 0. */
	int (*neighbour)(void *c);
	/* arenas[w] is worker w's memory, where that is in this process. */
	void (*attach)(void *c, unsigned char *const *arenas);
	/* Runs body(arg, w, ..) for each worker that is here, all at a time,
	 * and returns when all have ended.  The first failure of any is left
	 * in *f and ends all. */
	bool (*launch)(void *c, comm_body *body, void *arg, failure *f);
	/* Before an instruction of any kind: waits until what it writes may be
	 * written.  False when another worker has failed. */
	bool (*ready)(void *c, int instr, int worker);
	/* Fetches what worker receives in the instruction, a MOVE or a
	 * COMBINE, at the same point of the program on all workers. Returns
	 * false when another worker has failed. */
	bool (*move)(void *c, int instr, int worker);
	bool (*combine)(void *c, int instr, int worker);
	/* Lets the workers that receive on the channel of a SEND have its
	 * value, and does not wait for them; what writes the place later does,
	 * in ready().  A RECEIVE fetches what the worker receives, as soon as
	 * that has been sent. */
	bool (*send)(void *c, int instr, int worker);
	bool (*receive)(void *c, int instr, int worker);
	/* From now on transfers within a stage are done in their own turn, none
	 * ahead, so that each takes its time there; NULL: they are. */
	void (*apart)(void *c);
	/* Waits for all workers; false when one has failed. */
	bool (*barrier)(void *c, int worker);
	/* Between two runs of a body, by all processes alike: n bytes at data,
	 * as the process of a worker has them, are copied to all others; the
	 * sum, or the greatest, of a number of each process. */
	void (*share)(void *c, int worker, void *data, int64_t n);
	int64_t (*sum)(void *c, int64_t x);
	int64_t (*greatest)(void *c, int64_t x);
	/* From now on the others are told how far this process has come; NULL:
	 * no longer, and what x was is not read any more when this returns.
	 * Returns within how many seconds the run is ended, with a message
	 * that names it, where one of them is gone or stands still; 0: nobody
	 * looks after that.  May be NULL. */
	double (*watch)(void *c, const comm_progress *x);
	/* Bytes that the workers here received from others in an instruction
	 * of a stage since open(). */
	int64_t (*received)(void *c, int stage, int instr);
	void (*close)(void *c);
} communicator;

extern const communicator comm_threads, comm_mpi, comm_single_process,
	comm_nccl;

/* The i-th communicator's row for backends whose memory is the host's, or for
 * the others: "threads", "mpi", "nccl".  NULL for one that does not go with
 * them, and after the last. */
const communicator *comm_row(int i, bool moves);

#endif
