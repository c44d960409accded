/* The workers of a plan in this process: their memory, and the execution of
 * their stages' programs by a backend and a communicator.  Used by every
 * command of tdlrun.
 *
 * A plan is a pipeline; a plan without stages is a pipeline of one.  Tensors
 * are identified by name, whichever stage has them. */
#ifndef TDL_RUNTIME_EXEC_EXECUTOR_H
#define TDL_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/exec/backend.h"
#include "runtime/exec/communicator.h"
#include "runtime/exec/npz.h"

typedef struct executor executor;

/* Prepares a plan for running: memory for the workers in this process, kernels,
 * constants, and the states' first values.  Calls plan_check_worker(). path is
 * the plan's, for messages; run comes from c->start().  NULL, with *f set, on
 * failure.
 *
 * If workers are processes, all functions below are collective: all processes
 * call them alike and get the same results. */
executor *executor_open(const plan_pipeline *p, const char *path,
			const backend *b, const communicator *c, void *run,
			const backend_options *o, failure *f);
void executor_close(executor *m);

/* Marks the run as failed, here or elsewhere; executor_close() then waits for
 * no other process. */
void executor_abandon(executor *m);

/* From now on changes the results of marked nodes, of a plan for one worker, in
 * their last bits, like verify_move(), as if they had been added up in another
 * order.  Only if the backend's memory is the host's.  `nodes' must outlive
 * m. */
void machine_disturb(executor *m, const bool *nodes, double noise,
		     uint64_t seed);

/* The time of an instruction on a worker in a step. */
typedef struct instr_seconds {
	double wall; /* from beginning to end */
	/* processor time: excludes other programs, includes waits that do not
	 * sleep */
	double busy;
} instr_seconds;

/* From now on each step measures its instructions, if the backend's memory is
 * the host's.  In a plan of one stage workers then begin transfers together,
 * and none runs ahead of its turn, so steps take a little longer. */
void executor_measure(executor *m);

/* The times of the last step by instruction of the unrolled plan of the
 * worker's stage; NULL for a worker that is not here. */
const instr_seconds *executor_measured(const executor *m, int worker);

/* Between two steps: copies n bytes at data from the process of a worker to all
 * others.  Collective. */
void executor_share(const executor *m, int worker, void *data, int64_t n);

/* Bytes of its arena that a worker, in any process, has used.  Collective. */
int64_t executor_worker_used(const executor *m, int worker);

/* The unrolled plan of a worker's stage; the workers here. */
const plan *executor_plan(const executor *m, int worker);
void executor_here(const executor *m, int *first, int *end);

/* The greatest of the processes' values.  Collective. */
double executor_greatest(const executor *m, double seconds);

/* Runs the programs once. inputs[i] is the plan's i-th input, whole.
 * Afterwards outputs[i].data, unless NULL, has the plan's i-th output, whole,
 * and states have their next values. */
bool executor_step(executor *m, const array *inputs, const array *outputs,
		   failure *f);

/* From now on notes the begin and end of each instruction of a step, if the
 * backend's memory is the host's. */
void executor_record(executor *m);

/* An instruction of a worker in the last step: its row in the program of the
 * worker's stage; its turn, -1 outside of the body; seconds since the barrier
 * before the first instruction.  It begins when what it writes is free; a
 * transfer's time includes waiting for what others send. */
typedef struct exec_span {
	int row, turn;
	double begin, end;
} exec_span;

/* The instructions of a worker in any process, *n of them, in the order of
 * execution, after executor_record().  Collective if workers are processes: all
 * call it for each worker. */
const exec_span *executor_spans(const executor *m, int worker, int *n);

/* The states of a plan, tensors that keep their values from one step to the
 * next: *n of them, in a. */
int *plan_states(arena *a, const plan *p, int *n);

/* Copies the whole value that a state has between two steps; or sets it.
 * Constants that follow from it (plan_fold) are computed before the next step.
 * x has the name, the type and the shape of the state. */
bool executor_state_get(const executor *m, const array *x, failure *f);
bool executor_state_set(executor *m, const array *x, failure *f);

/* The greatest of the processes' values of x, which may differ.  Collective. */
int executor_agree(const executor *m, int x);

/* Seconds of the program alone, over all steps so far; known in the process of
 * worker 0. */
double executor_seconds(const executor *m);

/* The mean seconds of the steps from the third on, since the first two touch
 * memory, load code and capture a graph; of all steps if there are no more. */
double executor_step_seconds(const executor *m);

/* Bytes that workers received from others in all steps so far. */
int64_t executor_received(const executor *m);

/* Bytes of the arena that any worker of a stage has used, from its beginning to
 * the end of the buffers that were written, read or filled. */
int64_t executor_arena_used(const executor *m, int stage);

/* Bytes that a device has for copies of operands, or a worker for packed
 * factors, beside the arenas; and the most that any of them uses. */
void machine_copies(const executor *m, int64_t *planned, int64_t *used);

/* The array of a tensor of the plan, without data. */
array executor_array(const plan *p, int tensor);

#endif
