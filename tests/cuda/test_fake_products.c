/* The fake cuBLASLt and cuDNN. */
#include <check.h>
#include <stdint.h>

#include <cublasLt.h>
#include <cudnn.h>

#include "fakes.h"

/* ---- cuBLASLt ------------------------------------------------------------ */

static cublasLtMatrixLayout_t matrix(int rows, int cols, int ld, int batches,
				     int64_t stride)
{
	cublasLtMatrixLayout_t l;
	GOOD(cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, (uint64_t)rows,
					(uint64_t)cols, ld));
	GOOD(cublasLtMatrixLayoutSetAttribute(
		l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
		sizeof batches));
	GOOD(cublasLtMatrixLayoutSetAttribute(
		l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
		sizeof stride));
	return l;
}

enum {
	M = 3,
	K = 4,
	COLS = 5,
	LD = 6,
};

/* y[batch][j][i] = sum over k of x[batch][i][k] x[batch][k][j], by columns,
 * with the first transposed. */
static void expect_product(CUdeviceptr d, CUstream s)
{
	for (int batch = 0; batch < 2; batch++)
		for (int j = 0; j < COLS; j++)
			for (int i = 0; i < M; i++) {
				float sum = 0;
				for (int k = 0; k < K; k++)
					sum += (float)(1 + batch * 50 + i * LD +
						       k) *
					       (float)(1 + j * K + k);
				ck_assert(element(d, batch * 20 + j * M + i,
						  s) == sum);
			}
}

START_TEST(test_matmul)
{
	const float one = 1, zero = 0;
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t desc;
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulHeuristicResult_t found;
	const int32_t t = CUBLAS_OP_T;
	const uint32_t aligned = 4;
	int n;
	begin(1);
	const CUstream s = stream();
	const CUdeviceptr a = counting(200, 1, s), d = counting(200, 0, s);
	GOOD(cublasLtCreate(&handle));
	GOOD(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	GOOD(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA,
					    &t, sizeof t));
	IS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA,
					  &t, 8),
	   CUBLAS_STATUS_INVALID_VALUE);
	GOOD(cublasLtMatmulPreferenceCreate(&preference));
	for (int i = 0; i < 4; i++)
		GOOD(cublasLtMatmulPreferenceSetAttribute(
			preference,
			(cublasLtMatmulPreferenceAttributes_t)(
				CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES +
				i),
			&aligned, sizeof aligned));
	const cublasLtMatrixLayout_t la = matrix(K, M, LD, 2, 50);
	const cublasLtMatrixLayout_t lb = matrix(K, COLS, K, 2, 0);
	const cublasLtMatrixLayout_t lc = matrix(M, COLS, M, 2, 20);
	const cublasLtMatrixLayout_t thin = matrix(K, M, K - 1, 2, 50);
	const cublasLtMatrixLayout_t clash = matrix(M, COLS, M, 2, 7);
	IS(cublasLtMatmulAlgoGetHeuristic(handle, desc, thin, lb, lc, lc,
					  preference, 1, &found, &n),
	   CUBLAS_STATUS_INVALID_VALUE);
	IS(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, clash, clash,
					  preference, 1, &found, &n),
	   CUBLAS_STATUS_NOT_SUPPORTED);
	GOOD(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc,
					    preference, 1, &found, &n));
	ck_assert_int_eq(n, 1);
	GOOD(cublasLtMatmul(handle, desc, &one, at(a), la, at(a), lb, &zero,
			    at(d), lc, at(d), lc, &found.algo, NULL, 0, s));
	IS(cublasLtMatmul(handle, desc, &one, at(a + 2), la, at(a), lb, &zero,
			  at(d), lc, at(d), lc, &found.algo, NULL, 0, s),
	   CUBLAS_STATUS_INVALID_VALUE);
	expect_product(d, s);
}
END_TEST

/* ---- cuDNN --------------------------------------------------------------- */

typedef struct convolution {
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t c;
} convolution;

static void describe(convolution *v)
{
	static const int x[] = {2, 3, 7, 6}, w[] = {4, 3, 3, 2};
	static const int y[] = {2, 4, 4, 5}; /* (7 + 2 - 3) / 2 + 1, .. */
	static const int xs[] = {126, 42, 6, 1}, ys[] = {80, 20, 5, 1};
	static const int pad[] = {1, 0}, stride[] = {2, 1};
	static const int dilation[] = {1, 1};
	GOOD(cudnnCreateTensorDescriptor(&v->x));
	GOOD(cudnnCreateTensorDescriptor(&v->y));
	GOOD(cudnnCreateFilterDescriptor(&v->w));
	GOOD(cudnnCreateConvolutionDescriptor(&v->c));
	GOOD(cudnnSetTensorNdDescriptor(v->x, CUDNN_DATA_FLOAT, 4, x, xs));
	GOOD(cudnnSetTensorNdDescriptor(v->y, CUDNN_DATA_FLOAT, 4, y, ys));
	GOOD(cudnnSetFilterNdDescriptor(v->w, CUDNN_DATA_FLOAT,
					CUDNN_TENSOR_NCHW, 4, w));
	GOOD(cudnnSetConvolutionNdDescriptor(v->c, 2, pad, stride, dilation,
					     CUDNN_CROSS_CORRELATION,
					     CUDNN_DATA_FLOAT));
}

static double inner(CUdeviceptr a, CUdeviceptr b, int n, CUstream s)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += (double)element(a, i, s) * (double)element(b, i, s);
	return sum;
}

/* The gradients are the adjoints of the convolution, one element of which is
 * checked. */
START_TEST(test_convolution)
{
	const float one = 1, zero = 0;
	cudnnHandle_t h;
	convolution v;
	begin(1);
	const CUstream s = stream();
	const CUdeviceptr x = counting(252, -100, s), w = counting(72, -30, s);
	const CUdeviceptr y = counting(160, -50, s), to_x = memory(252 * 4);
	const CUdeviceptr to_w = memory(72 * 4), to_y = memory(160 * 4);
	const CUdeviceptr space = memory(4096);
	GOOD(cudnnCreate(&h));
	GOOD(cudnnSetStream(h, s));
	describe(&v);
	GOOD(cudnnConvolutionForward(
		h, &one, v.x, at(x), v.w, at(w), v.c,
		CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, at(space), 4096,
		&zero, v.y, at(to_y)));
	GOOD(cudnnConvolutionBackwardData(
		h, &one, v.w, at(w), v.y, at(y), v.c,
		CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, at(space), 4096, &zero, v.x,
		at(to_x)));
	GOOD(cudnnConvolutionBackwardFilter(
		h, &one, v.x, at(x), v.y, at(y), v.c,
		CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, at(space), 4096, &zero,
		v.w, at(to_w)));
	float sum = 0; /* image 1, channel 2, row 0, column 3 */
	for (int c = 0; c < 3; c++)
		for (int i = 1; i < 3; i++)
			for (int j = 0; j < 2; j++)
				sum += (float)(-100 + 126 + c * 42 +
					       (i - 1) * 6 + 3 + j) *
				       (float)(-30 + (2 * 3 + c) * 6 + i * 2 +
					       j);
	ck_assert(element(to_y, 80 + 2 * 20 + 3, s) == sum);
	const double all = inner(to_y, y, 160, s);
	ck_assert(all != 0 && inner(to_x, x, 252, s) == all &&
		  inner(to_w, w, 72, s) == all);
	IS(cudnnConvolutionForward(
		   h, &one, v.x, at(x), v.w, at(w), v.c,
		   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, at(space), 16,
		   &zero, v.y, at(to_y)),
	   CUDNN_STATUS_BAD_PARAM);
}
END_TEST

void add_product_tests(TCase *t)
{
	tcase_add_test(t, test_matmul);
	tcase_add_test(t, test_convolution);
}
