/* The GPUs of this process, and the workers that are on them. */
#ifndef TDL_RUNTIME_CUDA_CUDA_H
#define TDL_RUNTIME_CUDA_CUDA_H

#include "plan/messages.h"
#include "runtime/cuda/api.h"

typedef struct cuda_gpu {
	CUdevice device;
	CUcontext context; /* the device's primary one, which NCCL and cuBLASLt
			      use too */
	int arch;	   /* 90 for sm_90 */
	int nprocessors;
	CUstream compute, comm;
	CUstream *messages; /* by link of the pipeline; NULL for none */
	struct staging *staging; /* of copies from and to the host */
} cuda_gpu;

/* The part of a stage that is in this process. */
typedef struct cuda_stage {
	const plan *p; /* unrolled */
	int stage;     /* its number */
	/* The first of its workers that are here, by the numbers here and in
	 * the stage. */
	int first, number;
	int nworkers;
	stream_schedule schedule;
	int *links; /* of its queues from STREAM_COUNT on */
} cuda_stage;

/* Functions say `gpu` for 0 <= gpu < ngpus, and `worker` for a worker's number
 * here, 0 <= worker < nworkers, which is first + worker among those of all
 * stages; and `part` for the row of a stage here. */
typedef struct cuda {
	arena *a; /* as long as the backend */
	cuda_api api;
	const plan_pipeline *p; /* unrolled */
	int nparts;
	cuda_stage *parts; /* of stages, ascending */
	int *part_of;	   /* by worker */
	message_order order;
	int ngpus; /* of those visible, as many as have a worker */
	cuda_gpu *gpus;
	int first, nworkers;
	bool tf32; /* factors of f32 may be rounded to 10 bits */
	bool again; /* notes were said before */
	CUdeviceptr *arenas; /* by worker */
	struct cuda_kernels *kernels;
	struct program *program;
	const struct cuda_link *link;
	struct cuda_library *library; /* NULL: kernels are generated */
} cuda;

static inline int cuda_gpu_of(const cuda *c, int worker)
{
	return worker % c->ngpus;
}

/* Loads CUDA and takes GPUs for c->nworkers workers: in a process that is the
 * n-th on the machine those from the n-th on. */
bool cuda_gpus_open(cuda *c, int neighbour, failure *f);
void cuda_gpus_close(cuda *c);

/* Makes a GPU the target of this thread's calls; all calls need that except
 * queries. */
bool cuda_enter(const cuda *c, int gpu, failure *f);

/* Whether a GPU has that many bytes of memory left for `what', which allocates
 * them itself later. */
bool cuda_has_room(const cuda *c, int gpu, double nbytes, const char *what,
		   failure *f);

/* Bytes of the arenas of a GPU's workers. */
double cuda_arena_bytes(const cuda *c, int gpu);

/* Prints a note that is no failure on standard error, unless it was printed
 * before. */
void cuda_note(const cuda *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The stages that have workers here, and the queues of each; once the GPUs are
 * open the streams of messages. */
void cuda_parts_open(cuda *c);
bool cuda_messages_open(cuda *c, failure *f);

/* Whether transfers have queues of their own: they go to other GPUs. */
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

/* The part of a stage; -1 where it has no worker here. */
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
