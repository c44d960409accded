#include "config.h"

#include "runtime/cuda/nccl_memory.h"

static void *pointer(CUdeviceptr at)
{
	return (void *)(uintptr_t)at;
}

/* Whether the library has functions for memory.  It stays loaded, so that each
 * call finds the same one. */
static bool has_memory(nccl_api *api)
{
	failure missing = { 0 };
	*api = (nccl_api){ 0 };
	return nccl_open(api, &missing) && api->ncclMemAlloc &&
	       api->ncclMemFree && api->ncclCommRegister &&
	       api->ncclCommDeregister;
}

bool nccl_alloc(const cuda *c, CUdeviceptr *to, size_t n, failure *f)
{
	nccl_api api;
	void *at = NULL;
	if (!has_memory(&api))
		return CUDA_CALL(&c->api, f, cuMemAlloc, to, n);
	if (!NCCL_CALL(&api, f, ncclMemAlloc, &at, n))
		return false;
	*to = (CUdeviceptr)(uintptr_t)at;
	return true;
}

void nccl_free(const cuda *c, CUdeviceptr at)
{
	nccl_api api;
	if (has_memory(&api) && at)
		api.ncclMemFree(pointer(at));
	else if (at)
		c->api.cuMemFree(at);
}

/* Registers memory.  The handle is NULL if registration is turned off. */
bool nccl_register(const nccl_api *api, arena *a, nccl_registrations *r,
		   ncclComm_t comm, CUdeviceptr at, int64_t n, failure *f)
{
	nccl_registration x = { .comm = comm };
	if (n == 0 || !api->ncclMemAlloc || !api->ncclCommRegister)
		return true;
	if (!NCCL_CALL(api, f, ncclCommRegister, comm, pointer(at), (size_t)n,
		       &x.handle))
		return false;
	if (x.handle)
		vec_push(a, r, x);
	return true;
}

void nccl_deregister(const nccl_api *api, nccl_registrations *r)
{
	for (int i = 0; i < r->n; i++)
		api->ncclCommDeregister(r->at[i].comm, r->at[i].handle);
	r->n = 0;
}
