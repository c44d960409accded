/* NCCL, loaded on demand, so that tdlrun starts on machines without it. */
#ifndef TDL_RUNTIME_CUDA_NCCL_API_H
#define TDL_RUNTIME_CUDA_NCCL_API_H

#include <nccl.h>

#include "runtime/exec/fail.h"

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 19, 0)
ncclResult_t ncclMemAlloc(void **p, size_t size);
ncclResult_t ncclMemFree(void *p);
ncclResult_t ncclCommRegister(const ncclComm_t comm, void *p, size_t size,
			      void **handle);
ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle);
#endif

/* The functions of nccl.def; NULL for those that the library lacks. */
typedef struct nccl_api {
#define NCCL(f) __typeof__(f) *f;
#define NEWER(f) __typeof__(f) *f;
#include "runtime/cuda/nccl.def"
} nccl_api;

/* Loads the library, which stays loaded until the process ends.  Returns false,
 * with *f set to CLI_MACHINE, if there is none, or it is too old. */
bool nccl_open(nccl_api *api, failure *f);

/* Whether a call succeeded; if not, notes the library's reason. */
bool nccl_good(const nccl_api *api, ncclResult_t r, const char *call,
	       failure *f);

/* NCCL_CALL(api, f, ncclGroupStart) calls the function; true if it
 * succeeded. */
#define NCCL_CALL(api, f, function, ...) \
	nccl_good((api), (api)->function(__VA_ARGS__), #function, (f))

#endif
