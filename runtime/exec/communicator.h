/* Communicators: they start workers and exchange regions between them.  Each is
 * a row of functions. */
#ifndef TDL_RUNTIME_EXEC_COMMUNICATOR_H
#define TDL_RUNTIME_EXEC_COMMUNICATOR_H

#include <stdatomic.h>

#include "plan/pipeline.h"
#include "runtime/exec/fail.h"

/* The means by which processes without a launcher find each other. */
typedef struct comm_options {
	/* a folder that all can access, or the beginning of a file's path;
	 * NULL: in another way */
	const char *rendezvous;
	int64_t rank, ranks;	/* -1: from the environment */
	/* seconds for which a process may stand still; 0: the default */
	double timeout;
} comm_options;

enum { COMM_TIMEOUT = 8 }; /* seconds: the default */

/* A transfer of a step. */
typedef struct comm_transfer {
	int queue;     /* of the device */
	int instr;     /* of the stage's program */
	/* Position in an order common to all processes, so that the least
	 * transfer that has not ended can always proceed.  Equal places are the
	 * same transfer if the processes are of one stage, or it is a message
	 * between their stages. */
	int64_t place;
} comm_transfer;

/* The progress of a process whose device runs the program. */
typedef struct comm_progress {
	atomic_long steps;     /* begun so far */
	atomic_bool waits;     /* for the device to end one */
	/* In the order of submission.  Each queue of the device writes its
	 * position: 2 n + 1 when it reaches transfer n of these, 2 n + 2 when
	 * that has ended; 0 before. */
	int ntransfers;
	const comm_transfer *transfers;
	const volatile int *reached; /* by queue */
} comm_progress;

/* The instruction of the last transfer such that it and all before it have
 * ended; -1 for none. */
int comm_last(const comm_progress *x);

/* A number that is lower the further behind a process is in a step: a process
 * that has yet to reach a transfer is behind those that wait for it there. */
int64_t comm_place(const comm_progress *x);

/* The body of a worker.  If it returns false, with *f set, all workers end.
 *
 * Where workers share threads, ready(), move(), combine(), receive() and
 * barrier() return false, too, if the worker has to wait.  Then the body
 * returns false without setting *f, and is called again later, perhaps on
 * another thread: it has to go on with the same call. */
typedef bool comm_body(void *arg, int worker, failure *f);

typedef struct communicator {
	const char *name;
	/* why it is unavailable; NULL if it is available */
	const char *missing;
	/* Whether it moves regions, in the host's memory.  If not, it works
	 * with backends that do this themselves, and has no attach(), launch(),
	 * ready(), move(), combine(), send(), receive() and received(). */
	bool moves;
	/* Joins the processes of the run, before anything else, and sets *run,
	 * the argument of end(), gather() and open().  Only rank 0 prints and
	 * writes files.  Returns false with *f set on failure. */
	bool (*start)(const comm_options *o, void **run, int *rank,
		      failure *f);
	/* Leaves the processes; ends them if the run has failed. */
	void (*end)(void *run, cli_status status);
	/* A number from each process, *n of them, by rank, in a.  Collective.
	 * NULL if this is the only process; the pointer may be NULL in that
	 * case. */
	uint64_t *(*gather)(void *run, arena *a, uint64_t x, int *n);
	/* Opens it for the workers of all stages of an unrolled pipeline
	 * (pipeline_unroll()).  Here and below, `worker' is a number through
	 * all stages; instructions are those of a worker's own stage.  NULL
	 * with *f set on failure. */
	void *(*open)(void *run, const plan_pipeline *p, failure *f);
	/* The workers in this process, first .. first + n; and the number on
	 * this machine, which share its processors and memory. */
	void (*here)(void *c, int *first, int *n, int *neighbours);
	/* The number of the workers on this machine before the first one in
	 * this process; may be NULL for 0. */
	int (*neighbour)(void *c);
	/* arenas[w] is worker w's memory, for workers in this process. */
	void (*attach)(void *c, unsigned char *const *arenas);
	/* Runs body(arg, w, ..) for each worker here, in parallel as far as
	 * there are processors, and returns when all have ended.  The first
	 * failure is stored in *f and ends all. */
	bool (*launch)(void *c, comm_body *body, void *arg, failure *f);
	/* Called before any instruction: waits until what it writes may be
	 * overwritten.  Returns false if another worker has failed. */
	bool (*ready)(void *c, int instr, int worker);
	/* Fetches what worker receives in an instruction, a MOVE or COMBINE;
	 * called at the same point of the program on all workers.  Returns
	 * false if another worker has failed. */
	bool (*move)(void *c, int instr, int worker);
	bool (*combine)(void *c, int instr, int worker);
	/* send() makes the value of a SEND available to the workers that
	 * receive on its channel, without waiting for them; a later instruction
	 * that overwrites the place waits in ready(). receive() fetches what
	 * the worker receives in a RECEIVE, once it has been sent. */
	bool (*send)(void *c, int instr, int worker);
	bool (*receive)(void *c, int instr, int worker);
	/* From now on transfers within a stage run in their own turn, none
	 * ahead of it, so that their times can be measured; NULL: they always
	 * do. */
	void (*apart)(void *c);
	/* Waits for all workers; false if one has failed. */
	bool (*barrier)(void *c, int worker);
	/* Collective, between two runs of a body: copies n bytes at data from
	 * the process of a worker to all others; returns the sum, or the
	 * greatest, of a number from each process. */
	void (*share)(void *c, int worker, void *data, int64_t n);
	int64_t (*sum)(void *c, int64_t x);
	int64_t (*greatest)(void *c, int64_t x);
	/* From now on tells the others how far this process has come; NULL: no
	 * longer, and x is not read any more once this returns.  Returns the
	 * seconds within which the run is ended, with a message that names it,
	 * if a process is gone or stands still; 0: nobody checks.  May be
	 * NULL. */
	double (*watch)(void *c, const comm_progress *x);
	/* Bytes that the workers here received from others in an instruction of
	 * a stage since open(). */
	int64_t (*received)(void *c, int stage, int instr);
	void (*close)(void *c);
} communicator;

extern const communicator comm_threads, comm_mpi, comm_single_process,
	comm_nccl;

/* The i-th communicator for backends in the host's memory (`moves'), or for the
 * others: "threads", "mpi", "nccl".  NULL for one that does not suit these, and
 * after the last. */
const communicator *comm_row(int i, bool moves);

#endif
