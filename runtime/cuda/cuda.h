/* The GPUs of this process, and the workers that are on them. */
#ifndef TDL_RUNTIME_CUDA_CUDA_H
#define TDL_RUNTIME_CUDA_CUDA_H

#include "plan/plan.h"
#include "runtime/cuda/api.h"

typedef struct cuda_gpu {
	CUdevice device;
	CUcontext context; /* the device's primary one, which NCCL and cuBLASLt
			      use too */
	int arch;	   /* 90 for sm_90 */
	int nprocessors;
	CUstream compute, comm;
	struct staging *staging; /* of copies from and to the host */
} cuda_gpu;

/* Functions say `gpu` for 0 <= gpu < ngpus, and `worker` for a worker's number
 * here, 0 <= worker < nworkers; in the plan it is first + worker. */
typedef struct cuda {
	arena *a; /* as long as the backend */
	cuda_api api;
	const plan *p;
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

/* The address of a buffer in a worker's arena. */
static inline CUdeviceptr cuda_place(const cuda *c, int worker, int buffer)
{
	return c->arenas[worker] + (CUdeviceptr)c->p->buffers[buffer].offset;
}

#endif
