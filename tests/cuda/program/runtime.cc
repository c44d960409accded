/* cuda_runtime_api.h on the host.  A kernel's address is that of a stub, whose
 * name the library of emulate.sh, kernels.so, knows. */
#include "cuda_runtime_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const char *emu_run(const char *name, const unsigned grid[3],
			    const unsigned block[3], size_t shared,
			    void **parameters);

static emu_run *find_emulator()
{
	void *library = dlopen("./kernels.so", RTLD_NOW);
	void *at = library ? dlsym(library, "emu_run") : NULL;
	if (!at) {
		fprintf(stderr, "%s\n", dlerror());
		exit(4);
	}
	return (emu_run *)at;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
			     void **parameters, size_t shared, cudaStream_t)
{
	static emu_run *const run = find_emulator();
	const unsigned blocks[3] = { grid.x, grid.y, grid.z };
	const unsigned threads[3] = { block.x, block.y, block.z };
	Dl_info info;
	if (!dladdr((void *)kernel, &info) || !info.dli_sname)
		return cudaErrorInvalidValue;
	const char *fault = run(info.dli_sname, blocks, threads, shared,
				parameters);
	if (fault)
		fprintf(stderr, "%s: %s\n", info.dli_sname, fault);
	return fault ? cudaErrorInvalidValue : cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t e)
{
	return e == cudaSuccess ? "no error" : "invalid argument";
}

/* Of $GPUS, which do not read each other's memory where $APART is set. */
static int gpus()
{
	const char *n = getenv("GPUS");
	return n ? atoi(n) : 1;
}

cudaError_t cudaGetDeviceCount(int *n)
{
	*n = gpus();
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	return 0 <= device && device < gpus() ? cudaSuccess
					      : cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
	*value = 1;
	return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = device != peer && !getenv("APART");
	return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
	return getenv("APART") ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
	return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *s)
{
	*s = NULL;
	return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
	return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
	*e = NULL;
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
	return cudaSuccess;
}

/* What is not written is not read: it is poisoned. */
cudaError_t cudaMalloc(void **to, size_t n)
{
	*to = aligned_alloc(256, (n + 255) / 256 * 256);
	if (*to)
		memset(*to, 0xcb, n);
	return *to ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaHostAlloc(void **to, size_t n, unsigned)
{
	return cudaMalloc(to, n);
}

cudaError_t cudaMemset(void *to, int value, size_t n)
{
	memset(to, value, n);
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind)
{
	memcpy(to, from, n);
	return cudaSuccess;
}
