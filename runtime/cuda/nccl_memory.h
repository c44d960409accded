/* GPU memory that NCCL reads and writes in place, without intermediate copies
 * ("User Buffer Registration" in NCCL's user guide): since 2.19, memory that it
 * has allocated itself or that is registered with the communicator.  All ranks
 * of a communicator must pass such memory to a call, or none.  So all memory
 * that transfers use is allocated and registered here. */
#ifndef TDL_RUNTIME_CUDA_NCCL_MEMORY_H
#define TDL_RUNTIME_CUDA_NCCL_MEMORY_H

#include "base/vec.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/nccl_api.h"

/* Allocates n > 0 bytes on the current GPU; by the driver if the library is too
 * old, or missing, which opening it will report. */
bool nccl_alloc(const cuda *c, CUdeviceptr *to, size_t n, failure *f);
/* Frees what nccl_alloc() has allocated; 0 is ignored. */
void nccl_free(const cuda *c, CUdeviceptr at);

/* A buffer that a communicator knows. */
typedef struct nccl_registration {
	ncclComm_t comm;
	void *handle;
} nccl_registration;

typedef VEC(nccl_registration) nccl_registrations;

/* Registers n bytes of memory from nccl_alloc() with a communicator, before any
 * call of it.  Does nothing if the library does not support it, or n is 0. r
 * lives in a. */
bool nccl_register(const nccl_api *api, arena *a, nccl_registrations *r,
		   ncclComm_t comm, CUdeviceptr at, int64_t n, failure *f);
/* Undoes all registrations, when no work and no graph uses them and the
 * communicators still exist.  An aborted communicator drops its own. */
void nccl_deregister(const nccl_api *api, nccl_registrations *r);

#endif
