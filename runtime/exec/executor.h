/* The workers of a plan in this process: their memory, and runs of the programs
 * of their stages on a backend and a communicator.  Used by every command of
 * tdlrun.
 *
 * A plan is a pipeline; one without stages is one of one stage.  Tensors are
 * known by their names here, whichever stage has them. */
#ifndef TDL_RUNTIME_EXEC_EXECUTOR_H
#define TDL_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/exec/backend.h"
#include "runtime/exec/communicator.h"
#include "runtime/exec/npz.h"

typedef struct executor executor;

/* Makes a plan ready to run: memory for the workers that are in this process,
 * kernels, constants, and the states' first values.  plan_check_worker() is
 * done here.  path is the plan's, for messages; run is what c->start() has
 * given.  NULL, with *f set, on failure.
 *
 * Where workers are processes, all of them call all that is below alike, and
 * get the same. */
executor *executor_open(const plan_pipeline *p, const char *path,
			const backend *b, const communicator *c, void *run,
			const backend_options *o, failure *f);
void executor_close(executor *m);

/* Marks the run as failed, here or elsewhere: executor_close() then waits for
 * no other process. */
void executor_abandon(executor *m);

/* From now on the results of the nodes that are marked, of a plan for one
 * worker, are changed in their last bits, as verify_move() does, where the
 * backend's memory is the host's: as if they had been added up otherwise.
 * `nodes` has to live as long. */
void machine_disturb(executor *m, const bool *nodes, double noise,
		     uint64_t seed);

/* The time of an instruction on a worker in a step. */
typedef struct instr_seconds {
	double wall; /* from its beginning to its end */
	double busy; /* of a processor: without what other programs did in
			between, but with waits that do not sleep */
} instr_seconds;

/* From now on each step notes the times of its instructions, where the
 * backend's memory is the host's; in a plan of one stage workers begin
 * transfers together, and none is done ahead of its turn.  Steps take a little
 * longer. */
void executor_measure(executor *m);

/* Those of the last step: by instruction of the plan of the worker's stage, of
 * the unrolled pipeline; NULL for a worker that is not here. */
const instr_seconds *executor_measured(const executor *m, int worker);

/* Between two steps: n bytes at data, as the process of a worker has them, are
 * copied to all others, which call this alike. */
void executor_share(const executor *m, int worker, void *data, int64_t n);

/* Bytes of its arena that a worker has used, in any process; all call it
 * alike. */
int64_t executor_worker_used(const executor *m, int worker);

/* The plan of a worker's stage, unrolled; the workers that are here. */
const plan *executor_plan(const executor *m, int worker);
void executor_here(const executor *m, int *first, int *end);

/* The greatest of the processes' values. */
double executor_greatest(const executor *m, double seconds);

/* Runs the programs once; inputs[i] is the plan's i-th input, whole. Then
 * outputs[i].data holds the plan's i-th output, whole, unless it is NULL; the
 * states have their next values. */
bool executor_step(executor *m, const array *inputs, const array *outputs,
		   failure *f);

/* From now on when each instruction of a step begins and ends is noted, where
 * the backend's memory is the host's. */
void executor_record(executor *m);

/* An instruction of a worker in the last step: its row in the program of the
 * worker's stage; the turn, -1 outside of the body; seconds from the barrier on
 * that all workers pass before the first instruction.  It has begun when what
 * it writes was free, and a transfer waits in it for what the others send. */
typedef struct exec_span {
	int row, turn;
	double begin, end;
} exec_span;

/* Those of a worker in any process, *n of them, in the order in which they were
 * run; executor_record() was called.  Where workers are processes, all call it
 * for each worker, alike. */
const exec_span *executor_spans(const executor *m, int worker, int *n);

/* The states of a plan, tensors that keep their values from one step to the
 * next: *n of them, in a. */
int *plan_states(arena *a, const plan *p, int *n);

/* Copies the value that a state has between two steps, whole, or gives it
 * another, from which constants may follow (plan_fold), which are computed
 * before the next step; x has the name, the type and the shape of the state. */
bool executor_state_get(const executor *m, const array *x, failure *f);
bool executor_state_set(executor *m, const array *x, failure *f);

/* The greatest of the processes' values of x, which may differ. */
int executor_agree(const executor *m, int x);

/* Seconds of the program alone, over all steps so far; known in worker 0's
 * process. */
double executor_seconds(const executor *m);

/* The mean of the steps from the third on: the first two touch memory, load
 * code and capture a graph; of all where there are no more. */
double executor_step_seconds(const executor *m);

/* Bytes that workers received from others, in all steps so far. */
int64_t executor_received(const executor *m);

/* Bytes of the arena that any worker of a stage has used, from its beginning to
 * the end of the buffers that were written, read or filled. */
int64_t executor_arena_used(const executor *m, int stage);

/* Bytes that a device, or a worker, has beside the arenas for copies of
 * operands, or for packed factors that are kept, and the most that any of them
 * takes. */
void machine_copies(const executor *m, int64_t *planned, int64_t *used);

/* The array of a tensor of the plan, without data. */
array executor_array(const plan *p, int tensor);

#endif
