/* The GPUs of this process, and what has been loaded onto them. */
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
} cuda_gpu;

/* The functions take the first parameters of one another: a GPU's number, 0 <=
 * gpu < ngpus; a worker's, counted from `first`, 0 <= worker < nworkers. */
typedef struct cuda {
	arena *a; /* as long as the backend */
	cuda_api api;
	const plan *p;
	int ngpus; /* of those visible, as many as have a worker */
	cuda_gpu *gpus;
	int first, nworkers;  /* of the plan's workers, those in this process */
	CUdeviceptr *arenas;  /* by worker */
} cuda;

/* Worker w is on this GPU. */
static inline int cuda_gpu_of(const cuda *c, int worker)
{
	return worker % c->ngpus;
}

/* Makes a GPU the one that this thread's calls go to; all calls that take no
 * stream need it. */
bool cuda_enter(const cuda *c, int gpu, failure *f);

/* The address of a buffer in a worker's arena. */
static inline CUdeviceptr cuda_place(const cuda *c, int worker, int buffer)
{
	return c->arenas[worker] + (CUdeviceptr)c->p->buffers[buffer].offset;
}

#endif
