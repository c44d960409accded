/* The parts of a program: private to program.c, which opens and closes it,
 * step.c, which runs it, and turns.c. */
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
	library_run *library; /* in place of the launch; or NULL */
	bool done;	      /* with the action before this one */
	launch launch;
	host_call *call;
	int fault; /* its number among those on the GPU; -1 where there can be
		      none */
} action;

/* The resources of a GPU for a step, beside the arenas. */
typedef struct gpu_queue {
	int nfaults;
	CUdeviceptr faults;
	device_fault *seen; /* on the host, after a step */
	CUevent ended;	    /* the last step, on this GPU's queue */
	uint32_t *reached;  /* on the host: see watch() */
	CUdeviceptr marks;  /* 1, 2, ..: what is copied there */
} gpu_queue;

struct program {
	arena *a;
	cuda *c;
	const plan *p;
	stream_schedule schedule;
	action **actions; /* by instruction and worker, of RUNs */
	VEC(action *) checked; /* after a step */
	gpu_queue *queues; /* by GPU, then those of transfers by GPU */
	int nqueues;
	void **staging;	/* by worker, for calls of the host */
	void **turns;	/* by worker: pinned memory of all its copies .. */
	void ***copies; /* .. and by instruction and worker: see turns_open() */
	CUevent begun;
	CUevent *done; /* by step of the schedule, of those that mark, and by
			  GPU */
	const cuda_link *link;
	const communicator *comm;
	void *members; /* the communicator's state */
	void *transfers;
	CUgraphExec graph;
	bool replays; /* all steps but the first */
	int64_t nsteps, used;
};

/* Transfers have a queue of their own on each GPU, where they go to other
 * GPUs. */
static inline bool program_has_two_queues(const program *x)
{
	return x->link != &link_local || x->c->ngpus > 1;
}

/* The stream of a queue: the kernels' of a GPU, or the transfers'. */
static inline CUstream program_queue(const program *x, int i)
{
	const cuda_gpu *g = &x->c->gpus[i % x->c->ngpus];
	return i < x->c->ngpus ? g->compute : g->comm;
}

static inline bool program_enter(const program *x, int i, failure *f)
{
	return cuda_enter(x->c, i % x->c->ngpus, f);
}

static inline int program_kernel(const program *x, int instr)
{
	return x->p->nodes[x->p->program[instr].node].kernel;
}

/* The queue of a step for a worker. */
static inline int program_station(const program *x, const stream_step *t,
				  int worker)
{
	int gpu = cuda_gpu_of(x->c, worker);
	return program_has_two_queues(x) && t->on == STREAM_COMMUNICATION ?
		       x->c->ngpus + gpu :
		       gpu;
}

/* The workers that run a step one by one: a transfer is run by GPU, of which
 * the first workers stand for all. */
static inline int program_runs(const program *x, const stream_step *t)
{
	return plan_moves(&x->p->program[t->instrs[0]]) ? x->c->ngpus
							: x->c->nworkers;
}

/* The event of a step that marks, on a GPU. */
static inline CUevent *program_done(const program *x, int step, int gpu)
{
	return &x->done[step * x->c->ngpus + gpu];
}

/* A number for each event of the queues, ascending on each: 0 before all. */
static inline uint32_t program_mark(const program *x, int step, int worker)
{
	return (uint32_t)(step * x->c->nworkers + worker + 1);
}

/* Memory that the host and all GPUs reach. */
bool program_pin(program *x, void **to, size_t nbytes, failure *f);

/* A loop's turns get inputs from the host, and give it outputs, within a step:
 * the worker's part of each FEED, and of each instruction that writes a part of
 * an output, has its place in pinned memory. */
bool turns_open(program *x, failure *f);
void turns_close(program *x);
bool turns_feed(program *x, int instr, int worker, CUstream s, failure *f);
/* Behind an instruction, on its queue; those that hand out nothing do nothing.
 */
bool turns_hand_out(program *x, int instr, int worker, CUstream s, failure *f);

/* Discards the captured graph. */
void program_drop_graph(program *x);

#endif
