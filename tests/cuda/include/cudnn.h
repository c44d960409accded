/* cuDNN's API, by its documentation, as far as tdlrun uses it: see cuda.h. */
#ifndef TDL_TESTS_CUDA_INCLUDE_CUDNN_H
#define TDL_TESTS_CUDA_INCLUDE_CUDNN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDNN_MAJOR 9
#define CUDNN_MINOR 0
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100)

typedef struct CUstream_st *cudaStream_t;
typedef struct cudnnContext *cudnnHandle_t;

typedef enum {
	CUDNN_STATUS_SUCCESS = 0,
	CUDNN_STATUS_NOT_INITIALIZED = 1001,
	CUDNN_STATUS_BAD_PARAM = 2000,
	CUDNN_STATUS_NOT_SUPPORTED = 3000,
	CUDNN_STATUS_INTERNAL_ERROR = 4000,
	CUDNN_STATUS_EXECUTION_FAILED = 5000
} cudnnStatus_t;

size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(cudnnStatus_t status);
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
