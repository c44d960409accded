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

typedef enum {
	CUDNN_DATA_FLOAT = 0,
	CUDNN_DATA_DOUBLE = 1,
	CUDNN_DATA_HALF = 2,
	CUDNN_DATA_INT8 = 3,
	CUDNN_DATA_INT32 = 4,
	CUDNN_DATA_BFLOAT16 = 9
} cudnnDataType_t;

typedef enum {
	CUDNN_TENSOR_NCHW = 0,
	CUDNN_TENSOR_NHWC = 1
} cudnnTensorFormat_t;

typedef enum {
	CUDNN_CONVOLUTION = 0,
	CUDNN_CROSS_CORRELATION = 1
} cudnnConvolutionMode_t;

typedef enum {
	CUDNN_DEFAULT_MATH = 0,
	CUDNN_TENSOR_OP_MATH = 1,
	CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2,
	CUDNN_FMA_MATH = 3
} cudnnMathType_t;

typedef enum {
	CUDNN_NON_DETERMINISTIC = 0,
	CUDNN_DETERMINISTIC = 1
} cudnnDeterminism_t;

typedef enum {
	CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0,
	CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM = 1,
	CUDNN_CONVOLUTION_FWD_ALGO_COUNT = 8
} cudnnConvolutionFwdAlgo_t;

typedef enum {
	CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0,
	CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 = 1,
	CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT = 6
} cudnnConvolutionBwdDataAlgo_t;

typedef enum {
	CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 = 0,
	CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 = 1,
	CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT = 7
} cudnnConvolutionBwdFilterAlgo_t;

typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;
typedef struct cudnnFilterStruct *cudnnFilterDescriptor_t;
typedef struct cudnnConvolutionStruct *cudnnConvolutionDescriptor_t;

typedef struct cudnnConvolutionFwdAlgoPerfStruct {
	cudnnConvolutionFwdAlgo_t algo;
	cudnnStatus_t status;
	float time;
	size_t memory;
	cudnnDeterminism_t determinism;
	cudnnMathType_t mathType;
	int reserved[3];
} cudnnConvolutionFwdAlgoPerf_t;

typedef struct cudnnConvolutionBwdDataAlgoPerfStruct {
	cudnnConvolutionBwdDataAlgo_t algo;
	cudnnStatus_t status;
	float time;
	size_t memory;
	cudnnDeterminism_t determinism;
	cudnnMathType_t mathType;
	int reserved[3];
} cudnnConvolutionBwdDataAlgoPerf_t;

typedef struct cudnnConvolutionBwdFilterAlgoPerfStruct {
	cudnnConvolutionBwdFilterAlgo_t algo;
	cudnnStatus_t status;
	float time;
	size_t memory;
	cudnnDeterminism_t determinism;
	cudnnMathType_t mathType;
	int reserved[3];
} cudnnConvolutionBwdFilterAlgoPerf_t;

size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(cudnnStatus_t status);
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream);

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *t);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t t);
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t t,
					 cudnnDataType_t type, int ndim,
					 const int dims[], const int strides[]);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *t);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t t);
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t t,
					 cudnnDataType_t type,
					 cudnnTensorFormat_t format, int ndim,
					 const int dims[]);
cudnnStatus_t
cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *c);
cudnnStatus_t
cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t c);
cudnnStatus_t cudnnSetConvolutionNdDescriptor(
	cudnnConvolutionDescriptor_t c, int nspatial, const int pad[],
	const int stride[], const int dilation[], cudnnConvolutionMode_t mode,
	cudnnDataType_t compute);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t c,
					  cudnnMathType_t math);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t c,
					    int groups);

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
	const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t c,
	const cudnnTensorDescriptor_t y, int requested, int *found,
	cudnnConvolutionFwdAlgoPerf_t *results);
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
	cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t c,
	const cudnnTensorDescriptor_t dx, int requested, int *found,
	cudnnConvolutionBwdDataAlgoPerf_t *results);
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t c,
	const cudnnFilterDescriptor_t dw, int requested, int *found,
	cudnnConvolutionBwdFilterAlgoPerf_t *results);

cudnnStatus_t cudnnConvolutionForward(
	cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t x, const void *x_data,
	const cudnnFilterDescriptor_t w, const void *w_data,
	const cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t algo,
	void *workspace, size_t workspace_size, const void *beta,
	const cudnnTensorDescriptor_t y, void *y_data);
cudnnStatus_t cudnnConvolutionBackwardData(
	cudnnHandle_t handle, const void *alpha,
	const cudnnFilterDescriptor_t w, const void *w_data,
	const cudnnTensorDescriptor_t dy, const void *dy_data,
	const cudnnConvolutionDescriptor_t c,
	cudnnConvolutionBwdDataAlgo_t algo, void *workspace,
	size_t workspace_size, const void *beta,
	const cudnnTensorDescriptor_t dx, void *dx_data);
cudnnStatus_t cudnnConvolutionBackwardFilter(
	cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t x, const void *x_data,
	const cudnnTensorDescriptor_t dy, const void *dy_data,
	const cudnnConvolutionDescriptor_t c,
	cudnnConvolutionBwdFilterAlgo_t algo, void *workspace,
	size_t workspace_size, const void *beta,
	const cudnnFilterDescriptor_t dw, void *dw_data);

#ifdef __cplusplus
}
#endif
#endif
