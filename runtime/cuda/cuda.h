/* The GPUs of this process, and the workers on them. */
#ifndef TDL_RUNTIME_CUDA_CUDA_H
#define TDL_RUNTIME_CUDA_CUDA_H

#include "plan/messages.h"
#include "runtime/cuda/api.h"

typedef struct cuda_gpu {
	CUdevice device;
	/* the device's primary context, which NCCL and cuBLASLt share */
	CUcontext context;
	int arch;	   /* 90 for sm_90 */
	int nprocessors;
	CUstream compute, comm;
	CUstream *messages; /* by link of the pipeline; NULL for none */
	struct staging *staging; /* for copies from and to the host */
} cuda_gpu;

/* The part of a stage that is in this process. */
typedef struct cuda_stage {
	const plan *p; /* unrolled */
	int stage;     /* its number in the pipeline */
	/* The first of its workers in this process: its number here, and in the
	 * stage. */
	int first, number;
	int nworkers;
	stream_schedule schedule;
	int *links; /* by queue from STREAM_COUNT on */
} cuda_stage;

/* Functions use `gpu' for 0 <= gpu < ngpus; `worker' for a worker's number
 * here, 0 <= worker < nworkers, which is first + worker among those of all
 * stages; `part' for the index of a stage here. */
typedef struct cuda {
	arena *a; /* lives as long as the backend */
	cuda_api api;
	const plan_pipeline *p; /* unrolled */
	int nparts;
	cuda_stage *parts; /* ascending by stage */
	int *part_of;	   /* by worker */
	message_order order;
	int ngpus; /* number of visible GPUs that have a worker */
	cuda_gpu *gpus;
	int first, nworkers;
	bool tf32; /* factors of f32 may be rounded to 10 bits */
	bool again; /* notes were printed before */
	CUdeviceptr *arenas; /* by worker */
	struct cuda_kernels *kernels;
	struct program *program;
	const struct cuda_link *link;
	struct cuda_library *library; /* NULL: all kernels are generated */
} cuda;

static inline int cuda_gpu_of(const cuda *c, int worker)
{
	return worker % c->ngpus;
}

/* Loads CUDA and takes GPUs for c->nworkers workers.  The n-th process on the
 * machine takes the GPUs from the n-th on; neighbour is n. */
bool cuda_gpus_open(cuda *c, int neighbour, failure *f);
void cuda_gpus_close(cuda *c);

/* Makes a GPU the current one of this thread; all calls but queries need
 * that. */
bool cuda_enter(const cuda *c, int gpu, failure *f);

/* Whether a GPU has nbytes of free memory for `what', which will allocate them
 * itself.  Sets *f if not. */
bool cuda_has_room(const cuda *c, int gpu, double nbytes, const char *what,
		   failure *f);

/* Bytes of the arenas of a GPU's workers. */
double cuda_arena_bytes(const cuda *c, int gpu);

/* Prints a note, which is not a failure, on standard error, unless it was
 * printed before. */
void cuda_note(const cuda *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Finds the stages that have workers here, and the queues of each; creates the
 * streams of messages once the GPUs are open. */
void cuda_parts_open(cuda *c);
bool cuda_messages_open(cuda *c, failure *f);

/* Whether transfers have queues of their own because they go to other GPUs. */
bool cuda_has_queues(const cuda *c);

static inline const cuda_stage *cuda_part(const cuda *c, int worker)
{
	return &c->parts[c->part_of[worker]];
}

/* A worker's number in its stage. */
static inline int cuda_number(const cuda *c, int worker)
{
	const cuda_stage *s = cuda_part(c, worker);
	return s->number + worker - s->first;
}

/* The part of a stage; -1 if it has no worker here. */
int cuda_part_of(const cuda *c, int stage);

/* Whether a GPU has workers of a stage. */
bool cuda_is_on(const cuda *c, const cuda_stage *s, int gpu);

/* The address of a buffer in a worker's arena. */
static inline CUdeviceptr cuda_place(const cuda *c, int worker, int buffer)
{
	const plan *p = cuda_part(c, worker)->p;
	return c->arenas[worker] + (CUdeviceptr)p->buffers[buffer].offset;
}

#endif
