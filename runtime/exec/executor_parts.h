/* The workers' parts of tensors, between their memory and whole arrays of the
 * host.  Shared by the files executor*.c alone. */
#ifndef TDL_RUNTIME_EXEC_EXECUTOR_PARTS_H
#define TDL_RUNTIME_EXEC_EXECUTOR_PARTS_H

#include "base/intern.h"
#include "plan/chain.h"
#include "runtime/exec/executor.h"

/* A tensor of a stage. */
typedef struct stage_tensor {
	int stage, tensor;
} stage_tensor;

typedef struct executor_folds executor_folds;	/* executor_folds.c */
typedef struct executor_chains executor_chains; /* executor_chains.c */

enum { FIRST_STEPS = 2 }; /* that are no measure of the others */

struct executor {
	arena *a;
	const plan_pipeline *asked, *p; /* as it is, and unrolled */
	int *stage, *number;   /* by worker: its stage, its number in that */
	int *first_of;	       /* by stage: its first worker, ..; their end */
	int **inputs_of;       /* [stage][i]: what its i-th input is of p's */
	int **outputs_of;      /* the same of outputs */
	stage_tensor *results; /* by output of p */
	strmap *states;	       /* by name: stage_tensors */
	executor_folds *folds;
	const backend *backend;
	void *device;
	const communicator *comm;
	void *link;
	int nworkers;
	int first, end; /* those that are in this process */
	int neighbours; /* those on this machine */
	unsigned char **arenas;
	int64_t *used; /* by worker: its arena up to the last byte touched */
	struct kept_here **kept; /* by worker: packed factors; NULL */
	/* By worker that is here, by instruction: the boxes of a RUN, the part
	 * that is computed, the result, the inputs; NULL for others.  Each is
	 * all of its lower bounds, then the upper ones. */
	int64_t ***boxes;
	int **epilogues; /* by stage: plan_epilogues(); NULL: of none */
	executor_chains *chains;
	const array *inputs, *outputs;
	double seconds, settled; /* of all steps; of those after the first */
	int64_t nsteps;
	instr_seconds **measured; /* by worker; NULL: nothing is measured */
	exec_span **spans; /* by worker; NULL: nobody asks */
	const bool *disturbed; /* nodes; see machine_disturb() */
	double noise;
	uint64_t seed; /* of the next result that is disturbed */
};

/* Whether the host reads and writes the workers' memory itself; whether all
 * workers are in this process. */
bool executor_is_host(const executor *m);
bool executor_is_alone(const executor *m);

/* The plan of a worker's stage, of which its buffers and instructions are. */
const plan *part_plan(const executor *m, int worker);

/* The region of its tensor that a worker holds in a buffer. */
region part_region(const executor *m, int worker, int buffer);

/* Where a worker, one that is here, has a buffer. */
unsigned char *part_place(const executor *m, int worker, int buffer);

/* Notes that a worker uses a region of a buffer. */
void part_touch(executor *m, int worker, int buffer, const region *r);

/* Host memory in place of a worker's own; NULL with *f set. */
void *part_stage(int64_t nbytes, failure *f);

/* Copies a worker's part of a tensor, made on the host, to where it lies. */
bool part_put(executor *m, int worker, int buffer, const void *part,
	      int64_t nbytes, failure *f);

/* Copies the worker's part in a stored block out of a whole tensor. */
bool part_scatter(executor *m, int worker, int buffer, const void *whole,
		  failure *f);

/* Makes a tensor whole out of the workers' parts, in every process. */
bool part_gather(const executor *m, stage_tensor of, void *whole, failure *f);

/* Gives all constants and states of the workers that are here the values that
 * they have at first. */
bool executor_load(executor *m, failure *f);

/* ---- folds -------------------------------------------------------------- */

void executor_find_folds(executor *m);

/* Notes the value that a state has got, whole, for what follows from it; and
 * computes what follows, in all processes alike, between two steps. */
bool executor_fold_set(executor *m, const char *name, const void *data,
		       failure *f);
bool executor_fold(executor *m, failure *f);

/* Copies the value of a state that only folds read. */
bool executor_fold_get(const executor *m, const char *name, void *to,
		       failure *f);

/* ---- runs ---------------------------------------------------------------- */

/* A worker's run, and the views that it has. */
typedef struct prepared_run {
	kernel_run run;
	box space;
	view inputs[MAX_NINPUTS], out;
} prepared_run;

/* Of all workers here, once their memory is there. */
void executor_prepare(executor *m);

void run_prepare(executor *m, int worker, int instr, prepared_run *to);

/* The epilogue with which a RUN is computed, plan_epilogues(); whether a RUN is
 * one, of that before it. */
int run_epilogue(const executor *m, int worker, int instr);
bool run_is_epilogue(const executor *m, int worker, int instr);

/* ---- factors that are kept --------------------------------------------- */

/* Memory for the factors that the workers here keep in packed form, none of
 * which are packed yet. */
bool executor_keep(executor *m, failure *f);
void executor_keep_no_more(executor *m);

/* Adds to a run what it keeps of its factors; kept_filled() says that it was
 * computed, and the factors are packed. */
void kept_find(const executor *m, int worker, int instr, kernel_run *r);
void kept_filled(executor *m, int worker, int instr);

/* Has factors of tensors that an instruction has written, or all factors,
 * packed again. */
void kept_spoil(executor *m, int worker, int instr);
void kept_spoil_all(executor *m);

/* Bytes of a worker here that have been packed; of its plan, where its kernels
 * keep anything. */
int64_t kept_used(const executor *m, int worker);
int64_t kept_planned(const executor *m, int worker);

/* ---- chains ------------------------------------------------------------ */

void executor_find_chains(executor *m);

/* The chain that begins with an instruction; NULL. */
const plan_chain *executor_chain(const executor *m, int worker, int instr);

/* Computes it, in a step that began at `start'. */
bool executor_run_chain(executor *m, int worker, const plan_chain *c,
			double start, failure *f);

/* ---- turns of a loop --------------------------------------------------- */

/* Feeds the turn's part of an input: FEED instruction `instr'. */
void part_feed(executor *m, int worker, int instr);

/* Copies a worker's part of an output that instruction `instr' has computed for
 * one turn, if it has, to where the whole output goes. */
void part_hand_out(executor *m, int worker, int instr);

/* Makes an output whole that has been handed out in turns, in every process. */
bool part_spread(const executor *m, stage_tensor of, void *whole, failure *f);

#endif
