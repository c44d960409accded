/* Memory of the fake NCCL: allocations for it, and buffers that are registered
 * with communicators.
 *
 * As the real one's since 2.24 a buffer counts as registered only where
 * ncclMemAlloc() has allocated it (NCCL_LEGACY_CUDA_REGISTER is 0), and no
 * buffer does where NCCL_LOCAL_REGISTER is 0: the handle is NULL then.
 * An allocation for it is mapped memory, which cuMemFree() refuses. */
#ifndef NCCL_2_18 /* has none of this */
#include <nccl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_comm.h"

enum {
	HEAD = 256, /* so that an allocation does not begin a block */
};

typedef struct registration {
	struct registration *next;
	const unsigned char *at;
	size_t n;
	int refs;
	bool used; /* by the library, not only noted */
} registration;

typedef struct allocation {
	struct allocation *next;
	unsigned char *at;
	size_t n;
} allocation;

static allocation *allocations;

static bool contains(const unsigned char *from, size_t n, const void *p,
		     size_t part)
{
	const uintptr_t at = (uintptr_t)p, begin = (uintptr_t)from;
	return at >= begin && at - begin <= n && part <= n - (at - begin);
}

/* ---- allocations --------------------------------------------------------- */

FAKE_EXPORT ncclResult_t ncclMemAlloc(void **p, size_t size)
{
	CUdeviceptr block;
	const ncclResult_t result = injected("ncclMemAlloc");
	*p = NULL;
	if (result)
		return result;
	if (size == 0)
		return wrong(ncclInvalidArgument, "an allocation of 0 bytes");
	allocation *a = calloc(1, sizeof *a);
	if (!a)
		return ncclSystemError;
	if (cuMemAlloc(&block, size + HEAD)) {
		free(a);
		return wrong(ncclUnhandledCudaError,
			     "Cuda failure 2 'out of memory'");
	}
	*a = (allocation){allocations,
			  (unsigned char *)(uintptr_t)block + HEAD, size};
	allocations = a;
	*p = a->at;
	return ncclSuccess;
}

static bool has_registration(const allocation *a)
{
	for (ncclComm_t c = first_comm(); c; c = c->next)
		for (const registration *r = c->registrations; r; r = r->next)
			if (contains(a->at, a->n, r->at, r->n))
				return true;
	return false;
}

FAKE_EXPORT ncclResult_t ncclMemFree(void *p)
{
	for (allocation **a = &allocations; *a; a = &(*a)->next) {
		allocation *const found = *a;
		if (found->at != p)
			continue;
		if (has_registration(found))
			return wrong(ncclInvalidUsage,
				     "memory is freed that is registered");
		*a = found->next;
		free(found);
		return cuMemFree((CUdeviceptr)(uintptr_t)p - HEAD)
			       ? wrong(ncclUnhandledCudaError, "cuMemFree")
			       : ncclSuccess;
	}
	return wrong(ncclInvalidArgument,
		     "memory is freed that is not from ncclMemAlloc");
}

/* ---- registrations ------------------------------------------------------- */

static bool is_for_nccl(const void *p, size_t n)
{
	for (const allocation *a = allocations; a; a = a->next)
		if (contains(a->at, a->n, p, n))
			return true;
	return false;
}

FAKE_EXPORT ncclResult_t ncclCommRegister(const ncclComm_t comm, void *p,
					  size_t size, void **handle)
{
	bool pinned;
	const char *local = getenv("NCCL_LOCAL_REGISTER");
	const ncclResult_t result = injected("ncclCommRegister");
	*handle = NULL;
	if (result)
		return result;
	if (!comm || !comm->peer_monitor)
		return wrong(ncclInvalidArgument, "no communicator");
	if (size == 0 || fake_device_of(p, size, &pinned) != comm->device)
		return wrong(ncclInvalidArgument, "a buffer of %zu bytes that "
			     "is not in the device's memory", size);
	if (local && !strcmp(local, "0"))
		return ncclSuccess;
	for (registration *r = comm->registrations; r; r = r->next)
		if (contains(r->at, r->n, p, size)) {
			r->refs++;
			*handle = r;
			return ncclSuccess;
		}
	registration *r = calloc(1, sizeof *r);
	if (!r)
		return ncclSystemError;
	*r = (registration){comm->registrations, p, size, 1,
			    is_for_nccl(p, size)};
	comm->registrations = *handle = r;
	return ncclSuccess;
}

FAKE_EXPORT ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
	if (!comm || !comm->peer_monitor)
		return wrong(ncclInvalidArgument, "no communicator");
	if (comm->pending > 0 || comm->captured > 0)
		return wrong(ncclInvalidUsage,
			     "a buffer that calls use is deregistered");
	for (registration **r = &comm->registrations; *r; r = &(*r)->next) {
		registration *const found = *r;
		if (found != handle)
			continue;
		if (--found->refs == 0) {
			*r = found->next;
			free(found);
		}
		return ncclSuccess;
	}
	return handle ? wrong(ncclInvalidUsage, "no such handle")
		      : ncclSuccess;
}

bool is_registered(ncclComm_t comm, const void *p, size_t n)
{
	for (const registration *r = comm->registrations; r; r = r->next)
		if (r->used && contains(r->at, r->n, p, n))
			return true;
	return false;
}

int drop_registrations(ncclComm_t comm)
{
	int n = 0;
	for (registration *r = comm->registrations, *next; r; r = next) {
		next = r->next;
		free(r);
		n++;
	}
	comm->registrations = NULL;
	return n;
}
#else
#include "nccl_comm.h"

bool is_registered(ncclComm_t comm, const void *p, size_t n)
{
	(void)comm;
	(void)p;
	(void)n;
	return false;
}

int drop_registrations(ncclComm_t comm)
{
	(void)comm;
	return 0;
}
#endif
