/* Memory of GPUs that NCCL reads and writes where it is, without copies in
 * between ("User Buffer Registration" in NCCL's user guide): since 2.19 what it
 * has allocated itself and what is registered with the communicator.  Either
 * all ranks of a communicator give such memory to a call, or none may: so all
 * memory that transfers use is allocated and registered here. */
#ifndef TDL_RUNTIME_CUDA_NCCL_MEMORY_H
#define TDL_RUNTIME_CUDA_NCCL_MEMORY_H

#include "base/vec.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/nccl_api.h"

/* Memory of the GPU that is entered, n > 0 bytes; by the driver where the
 * library is too old, or missing, which opening it will report. */
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
 * call of it; nothing where the library does not do that, or n is 0.  r lives
 * in a. */
bool nccl_register(const nccl_api *api, arena *a, nccl_registrations *r,
		   ncclComm_t comm, CUdeviceptr at, int64_t n, failure *f);
/* Takes all registrations back: when no work uses them, nor a graph, and the
 * communicators still live.  One that is aborted drops its own. */
void nccl_deregister(const nccl_api *api, nccl_registrations *r);

#endif
