/* The parts of a program: private to program.c, which opens and closes it;
 * order.c; step.c, which runs it; and turns.c. */
#ifndef TDL_RUNTIME_CUDA_PARTS_H
#define TDL_RUNTIME_CUDA_PARTS_H

#include "base/vec.h"
#include "plan/streams.h"
#include "runtime/cuda/host.h"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/link.h"
#include "runtime/cuda/program.h"

/* tdl_fault of include/tdl/cuda.h. */
typedef struct device_fault {
	int32_t found, input, dim;
	int64_t value;
} device_fault;

/* The execution of a RUN by a worker: a launch, or a call of the host. */
typedef struct action {
	int instr, worker;
	library_run *library; /* used instead of the launch; or NULL */
	/* computed together with the action before this one */
	bool done;
	launch launch;
	host_call *call;
	/* its number among those on the GPU; -1 if it cannot fault */
	int fault;
} action;

/* The resources of a GPU for a step, other than the arenas. */
typedef struct gpu_memory {
	int nfaults;
	CUdeviceptr faults;
	device_fault *seen; /* on the host, after a step */
	CUdeviceptr marks;  /* 1, 2, ..: see watch() */
} gpu_memory;

/* A queue of a GPU. */
typedef struct gpu_queue {
	int gpu;
	CUstream stream;
	CUevent ended;	   /* marks the end of the last step on this queue */
	uint32_t *reached; /* on the host: see watch() */
} gpu_queue;

/* The queues of all GPUs that correspond to one queue of a stage's schedule. */
typedef struct queue_set {
	int n, *at;
} queue_set;

/* A stage's program. */
typedef struct stage_program {
	const cuda_stage *s;
	const plan *p;
	action **actions; /* by instruction and worker of the stage; for RUNs */
	void ***copies; /* by instruction and worker: see turns_open() */
	queue_set *queues; /* by queue of the schedule */
	CUevent **done; /* by step, for those that mark: by queue of the set */
	int64_t used;
} stage_program;

/* Steps of stages that are submitted together: one, or the two sides of a
 * message, the receiver's last. */
typedef struct program_item {
	int n;
	struct {
		int part, step;
	} of[2];
} program_item;

struct program {
	arena *a;
	cuda *c;
	stage_program *stages; /* by part */
	int nitems;
	program_item *items; /* in the order of submission */
	VEC(action *) checked; /* after a step */
	gpu_memory *gpus;
	/* By GPU: the queues of kernels; then those of transfers, if any; then
	 * those of messages. */
	int nqueues;
	gpu_queue *queues;
	void **staging;	/* by worker, for calls of the host */
	void **turns;	/* by worker: pinned memory for all its copies */
	CUevent begun;
	const cuda_link *link;
	const communicator *comm;
	void *members; /* the communicator's state */
	void *transfers;
	CUgraphExec graph;
	bool replays; /* all steps but the first replay the graph */
	int64_t nsteps;
};

static inline bool program_enter(const program *x, int queue, failure *f)
{
	return cuda_enter(x->c, x->queues[queue].gpu, f);
}

static inline int program_kernel(const stage_program *s, int instr)
{
	return s->p->nodes[s->p->program[instr].node].kernel;
}

static inline action *program_action(const program *x, int worker, int instr)
{
	const stage_program *s = &x->stages[x->c->part_of[worker]];
	return &s->actions[instr][worker - s->s->first];
}

static inline const stream_step *program_step_of(const program *x,
						 const program_item *t, int i)
{
	const cuda_stage *s = x->stages[t->of[i].part].s;
	return &s->schedule.steps[t->of[i].step];
}

/* The last of an item's steps, and its stage in *s. */
static inline const stream_step *program_last(const program *x,
					      const program_item *t,
					      stage_program **s)
{
	*s = &x->stages[t->of[t->n - 1].part];
	return program_step_of(x, t, t->n - 1);
}

/* Lists the items in the order of submission. */
void program_order(program *x);

/* The stream of a queue of a stage's schedule on a GPU; NULL if it has none
 * there. */
CUstream program_stream(const program *x, const cuda_stage *s, int queue,
			int gpu);

/* Allocates memory that the host and all GPUs can access. */
bool program_pin(program *x, void **to, size_t nbytes, failure *f);

/* A loop's turns get inputs from the host and return outputs to it within a
 * step.  For each FEED, and each instruction that writes a part of an output,
 * the worker's part has a place in pinned memory. */
bool turns_open(program *x, failure *f);
void turns_close(program *x);
bool turns_feed(program *x, int instr, int worker, CUstream s, failure *f);
/* Enqueued after an instruction, on its queue; does nothing for an instruction
 * that hands out nothing. */
bool turns_hand_out(program *x, int instr, int worker, CUstream s, failure *f);

/* Discards the captured graph. */
void program_drop_graph(program *x);

#endif
