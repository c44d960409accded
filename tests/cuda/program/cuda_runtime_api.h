/* As much of CUDA's runtime as an emitted program calls, for the host: GPUs
 * whose memory is the host's, and whose kernels are emulated. */
#ifndef TDL_TESTS_CUDA_PROGRAM_CUDA_RUNTIME_API_H
#define TDL_TESTS_CUDA_PROGRAM_CUDA_RUNTIME_API_H

#include <stddef.h>

typedef enum cudaError {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
} cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum { cudaEventDisableTiming = 2, cudaHostAllocPortable = 1 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
	{
	}
};

const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int device);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaMalloc(void **to, size_t n);
cudaError_t cudaHostAlloc(void **to, size_t n, unsigned flags);
cudaError_t cudaMemset(void *to, int value, size_t n);
cudaError_t cudaMemcpy(void *to, const void *from, size_t n,
		       cudaMemcpyKind kind);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
			     void **parameters, size_t shared, cudaStream_t s);

#endif
