/* The parts of a program: private to program.c, which opens and closes it, and
 * step.c, which runs it. */
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
	gpu_queue *queues; /* by GPU, and of the queue of transfers */
	int nqueues;
	void **staging;	/* by worker, for calls of the host */
	CUevent begun;
	CUevent *done; /* by step of the schedule, of those that mark */
	const cuda_link *link;
	const communicator *comm;
	void *members; /* the communicator's state */
	void *transfers;
	CUgraphExec graph;
	bool replays; /* all steps but the first */
	int64_t nsteps, used;
};

/* Transfers have a queue of their own where they go to other processes.  Those
 * within one process read the other workers' memory at a point that all of
 * these have reached. */
static inline bool program_has_two_queues(const program *x)
{
	return x->link != &link_local;
}

/* The stream of a queue: the kernels' of a GPU, or the transfers' of the
 * first. */
static inline CUstream program_queue(const program *x, int i)
{
	return i < x->c->ngpus ? x->c->gpus[i].compute
			       : x->c->gpus[0].comm;
}

static inline bool program_enter(const program *x, int i, failure *f)
{
	return cuda_enter(x->c, i < x->c->ngpus ? i : 0, f);
}

static inline int program_kernel(const program *x, int instr)
{
	return x->p->nodes[x->p->program[instr].node].kernel;
}

static inline int program_station(const program *x, const stream_step *t,
				  int worker)
{
	if (program_has_two_queues(x) && t->on == STREAM_COMMUNICATION)
		return x->c->ngpus;
	return cuda_gpu_of(x->c, worker);
}

/* A number for each event of the queues, ascending on each: 0 before all. */
static inline uint32_t program_mark(const program *x, int step, int worker)
{
	return (uint32_t)(step * x->c->nworkers + worker + 1);
}

/* Discards the captured graph. */
void program_drop_graph(program *x);

#endif
