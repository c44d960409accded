/* The workers' parts of tensors, and copies between their memory and whole
 * arrays of the host.  Shared by the files executor*.c alone. */
#ifndef TDL_RUNTIME_EXEC_EXECUTOR_PARTS_H
#define TDL_RUNTIME_EXEC_EXECUTOR_PARTS_H

#include <stdatomic.h>

#include "base/intern.h"
#include "plan/chain.h"
#include "runtime/exec/executor.h"

/* A tensor of a stage. */
typedef struct stage_tensor {
	int stage, tensor;
} stage_tensor;

typedef struct executor_folds executor_folds;	/* executor_folds.c */
typedef struct executor_chains executor_chains; /* executor_chains.c */
typedef struct executor_loans executor_loans;	/* executor_outputs.c */
typedef struct step_position step_position;	/* executor_step.c */

enum { FIRST_STEPS = 2 }; /* not representative of later steps */

struct executor {
	arena *a;
	const plan_pipeline *asked, *p; /* as given, and unrolled */
	int *stage, *number;   /* by worker: its stage, and its number there */
	/* by stage: its first worker; the last element is the end */
	int *first_of;
	/* [stage][i]: the input of p that its i-th input is */
	int **inputs_of;
	int **outputs_of;      /* the same of outputs */
	stage_tensor *results; /* by output of p */
	strmap *states;	       /* by name: stage_tensors */
	executor_folds *folds;
	const backend *backend;
	void *device;
	const communicator *comm;
	void *link;
	int nworkers;
	int first, end; /* the workers in this process */
	int neighbours; /* workers on this machine */
	unsigned char **arenas;
	/* by worker: bytes of its arena up to the last one touched */
	_Atomic int64_t *used;
	struct kept_here **kept; /* by worker: packed factors; NULL */
	/* By worker here and instruction: the boxes of a RUN (the part
	 * computed, the result, the inputs); NULL for others.  Each is all
	 * lower bounds, then all upper bounds. */
	int64_t ***boxes;
	int **epilogues; /* by stage: plan_epilogues(); NULL: none */
	executor_chains *chains;
	executor_loans *loans;
	const array *inputs, *outputs;
	step_position *positions; /* by worker here, in this step */
	double *begun; /* by worker: the instant at which it began the step */
	/* of all steps; of those after the first ones */
	double seconds, settled;
	int64_t nsteps;
	instr_seconds **measured; /* by worker; NULL: not measuring */
	exec_span **spans; /* by worker; NULL: not recording */
	const bool *disturbed; /* nodes; see machine_disturb() */
	double noise;
	uint64_t seed; /* of the next disturbed result */
};

/* Whether the host reads and writes the workers' memory directly; whether all
 * workers are in this process. */
bool executor_is_host(const executor *m);
bool executor_is_alone(const executor *m);

/* The plan of a worker's stage, to which its buffers and instructions
 * belong. */
const plan *part_plan(const executor *m, int worker);

/* The region of its tensor that a worker holds in a buffer. */
region part_region(const executor *m, int worker, int buffer);

/* The address of a buffer of a worker here, in the arena or lent. */
unsigned char *part_place(const executor *m, int worker, int buffer);

/* Whether an earlier worker has the same part of a tensor. */
bool part_is_copy(const executor *m, int worker, const plan_tensor *t);

/* Notes that a worker uses a region of a buffer. */
void part_touch(executor *m, int worker, int buffer, const region *r);

/* Host memory in place of a worker's own; NULL with *f set on failure. */
void *part_stage(int64_t nbytes, failure *f);

/* Copies a worker's part of a tensor, made on the host, to its place. */
bool part_put(executor *m, int worker, int buffer, const void *part,
	      int64_t nbytes, failure *f);

/* Copies the worker's part in a stored block from a whole tensor. */
bool part_scatter(executor *m, int worker, int buffer, const void *whole,
		  failure *f);

/* Assembles a whole tensor from the workers' parts, in every process. */
bool part_gather(const executor *m, stage_tensor of, void *whole, failure *f);

/* Sets the initial values of all constants and states of the workers here. */
bool executor_load(executor *m, failure *f);

/* ---- folds -------------------------------------------------------------- */

void executor_find_folds(executor *m);

/* executor_fold_set() notes the new, whole value of a state for what follows
 * from it; executor_fold() computes what follows.  Between two steps;
 * collective. */
bool executor_fold_set(executor *m, const char *name, const void *data,
		       failure *f);
bool executor_fold(executor *m, failure *f);

/* Copies the value of a state that only folds read. */
bool executor_fold_get(const executor *m, const char *name, void *to,
		       failure *f);

/* ---- runs ---------------------------------------------------------------- */

/* A worker's run, and its views. */
typedef struct prepared_run {
	kernel_run run;
	box space;
	view inputs[MAX_NINPUTS], out;
} prepared_run;

/* For all workers here, once their memory exists. */
void executor_prepare(executor *m);

void run_prepare(executor *m, int worker, int instr, prepared_run *to);

/* The epilogue by which a RUN is computed (plan_epilogues()); whether a RUN is
 * the epilogue of the one before it. */
int run_epilogue(const executor *m, int worker, int instr);
bool run_is_epilogue(const executor *m, int worker, int instr);

/* ---- factors that are kept --------------------------------------------- */

/* Memory for the packed factors that the workers here keep, none of which are
 * packed yet. */
bool executor_keep(executor *m, failure *f);
void executor_keep_no_more(executor *m);

/* Adds the kept factors to a run; kept_filled() notes that the run was computed
 * and its factors are packed. */
void kept_find(const executor *m, int worker, int instr, kernel_run *r);
void kept_filled(executor *m, int worker, int instr);

/* Marks factors for packing again: those of tensors that an instruction has
 * written; all factors. */
void kept_spoil(executor *m, int worker, int instr);
void kept_spoil_all(executor *m);

/* Bytes packed by a worker here; bytes that its plan allows if its kernels keep
 * anything. */
int64_t kept_used(const executor *m, int worker);
int64_t kept_planned(const executor *m, int worker);

/* ---- outputs ------------------------------------------------------------ */

/* Finds the outputs that kernels can write to the caller's memory, so that
 * nobody copies them after the step. */
void executor_find_loans(executor *m);

/* Lends these buffers the memory of m->outputs until executor_take_back(). */
void executor_lend(executor *m);
void executor_take_back(executor *m);

/* The memory lent to a buffer; NULL if there is none. */
unsigned char *executor_lent(const executor *m, int worker, int buffer);

/* ---- a step ------------------------------------------------------------ */

/* Runs the programs of the workers here, once. */
void executor_prepare_steps(executor *m);
bool step_run(executor *m, failure *f);

/* Copies a worker's parts of the inputs. */
bool step_feed(executor *m, int worker, failure *f);

/* Adds a step's time. */
void step_note_seconds(executor *m, double seconds);

/* ---- chains ------------------------------------------------------------ */

void executor_find_chains(executor *m);

/* The chain that begins with an instruction; NULL if there is none. */
const plan_chain *executor_chain(const executor *m, int worker, int instr);

/* Computes a chain.  Returns false without setting *f if it has to wait. */
bool executor_run_chain(executor *m, int worker, const plan_chain *c,
			failure *f);

/* ---- turns of a loop --------------------------------------------------- */

/* Copies the turn's part of an input: FEED instruction `instr'. */
void part_feed(executor *m, int worker, int instr);

/* If instruction `instr' has computed a worker's part of an output for one
 * turn, copies it to the whole output. */
void part_hand_out(executor *m, int worker, int instr);

/* Assembles a whole output that was handed out in turns, in every process. */
bool part_spread(const executor *m, stage_tensor of, void *whole, failure *f);

#endif
