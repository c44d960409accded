/* A fake cuDNN: convolutions and their gradients by plain loops, as work of the
 * fake driver's streams.  Tensors have their channels outside of the spatial
 * dimensions or inside, and filters lie as their tensors do; what is stored
 * otherwise is not supported.
 *
 *	FAKE_CUDNN_NONE		there is no algorithm for anything */
#include <cudnn.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "numbers.h"

enum {
	MOST = 5, /* dimensions */
	NEEDED = 1024,
};

struct cudnnContext {
	int device;
	CUstream stream;
	bool has_stream;
};

typedef struct tensor {
	cudnnDataType_t type;
	int ndim, dims[MOST], strides[MOST];
	bool inside; /* channels are the innermost dimension */
} tensor;
struct cudnnTensorStruct {
	tensor t;
};
struct cudnnFilterStruct {
	tensor t;
};
struct cudnnConvolutionStruct {
	int n, pad[MOST], stride[MOST], dilation[MOST], groups;
	cudnnConvolutionMode_t mode;
	cudnnDataType_t compute;
	cudnnMathType_t math;
};

FAKE_EXPORT size_t cudnnGetVersion(void)
{
	return CUDNN_VERSION;
}

FAKE_EXPORT const char *cudnnGetErrorString(cudnnStatus_t status)
{
	switch ((int)status) {
	case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
	case CUDNN_STATUS_NOT_INITIALIZED:
		return "CUDNN_STATUS_NOT_INITIALIZED";
	case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
	case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
	case CUDNN_STATUS_EXECUTION_FAILED:
		return "CUDNN_STATUS_EXECUTION_FAILED";
	default: return "CUDNN_STATUS_INTERNAL_ERROR";
	}
}

FAKE_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
	CUdevice device;
	if (cuCtxGetDevice(&device))
		return CUDNN_STATUS_NOT_INITIALIZED;
	*handle = calloc(1, sizeof **handle);
	if (!*handle)
		return CUDNN_STATUS_INTERNAL_ERROR;
	(*handle)->device = device;
	return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
	free(handle);
	return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle,
					 cudaStream_t stream)
{
	if (!handle || fake_stream_device(stream) != handle->device)
		return CUDNN_STATUS_BAD_PARAM;
	handle->stream = stream;
	handle->has_stream = true;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- descriptors --------------------------------------------------------- */

#define DESCRIPTOR(what, type)                                                \
	FAKE_EXPORT cudnnStatus_t cudnnCreate##what##Descriptor(type *x)      \
	{                                                                     \
		*x = calloc(1, sizeof **x);                                   \
		return *x ? CUDNN_STATUS_SUCCESS                              \
			  : CUDNN_STATUS_INTERNAL_ERROR;                      \
	}                                                                     \
	FAKE_EXPORT cudnnStatus_t cudnnDestroy##what##Descriptor(type x)      \
	{                                                                     \
		free(x);                                                      \
		return CUDNN_STATUS_SUCCESS;                                  \
	}
DESCRIPTOR(Tensor, cudnnTensorDescriptor_t)
DESCRIPTOR(Filter, cudnnFilterDescriptor_t)
DESCRIPTOR(Convolution, cudnnConvolutionDescriptor_t)

static bool is_type(cudnnDataType_t t)
{
	return t == CUDNN_DATA_FLOAT || t == CUDNN_DATA_DOUBLE ||
	       t == CUDNN_DATA_HALF || t == CUDNN_DATA_BFLOAT16;
}

static bool set_dims(tensor *t, cudnnDataType_t type, int ndim,
		     const int dims[])
{
	if (!is_type(type) || ndim < 4 || ndim > MOST)
		return false;
	*t = (tensor){.type = type, .ndim = ndim};
	for (int i = 0; i < ndim; i++) {
		if (dims[i] < 1)
			return false;
		t->dims[i] = dims[i];
	}
	return true;
}

/* The i-th dimension, from outside. */
static int in_order(const tensor *t, int i, bool inside)
{
	if (!inside || i == 0)
		return i;
	return i == t->ndim - 1 ? 1 : i + 1;
}

static void pack(tensor *t, bool inside)
{
	int step = 1;
	for (int i = t->ndim - 1; i >= 0; i--) {
		const int d = in_order(t, i, inside);
		t->strides[d] = step;
		step *= t->dims[d];
	}
	t->inside = inside;
}

/* Whether it is stored in an order, with room left at the outermost dimension
 * at most. */
static bool is_packed(const tensor *t, bool inside)
{
	int step = 1;
	for (int i = t->ndim - 1; i >= 0; i--) {
		const int d = in_order(t, i, inside);
		if (t->dims[d] > 1 && t->strides[d] != step &&
		    (i > 0 || t->strides[d] < step))
			return false;
		step *= t->dims[d];
	}
	return true;
}

FAKE_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t x,
						     cudnnDataType_t type,
						     int ndim, const int dims[],
						     const int strides[])
{
	if (!x || !set_dims(&x->t, type, ndim, dims))
		return CUDNN_STATUS_BAD_PARAM;
	for (int i = 0; i < ndim; i++) {
		if (strides[i] < 1)
			return CUDNN_STATUS_BAD_PARAM;
		x->t.strides[i] = strides[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t x,
						     cudnnDataType_t type,
						     cudnnTensorFormat_t format,
						     int ndim, const int dims[])
{
	if (!x || !set_dims(&x->t, type, ndim, dims) ||
	    (unsigned)format > CUDNN_TENSOR_NHWC)
		return CUDNN_STATUS_BAD_PARAM;
	pack(&x->t, format == CUDNN_TENSOR_NHWC);
	return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetConvolutionNdDescriptor(
	cudnnConvolutionDescriptor_t c, int n, const int pad[],
	const int stride[], const int dilation[], cudnnConvolutionMode_t mode,
	cudnnDataType_t compute)
{
	if (!c || n < 2 || n > MOST - 2 || !is_type(compute))
		return CUDNN_STATUS_BAD_PARAM;
	*c = (struct cudnnConvolutionStruct){
		.n = n, .mode = mode, .compute = compute, .groups = 1};
	for (int i = 0; i < n; i++) {
		if (pad[i] < 0 || stride[i] < 1 || dilation[i] < 1)
			return CUDNN_STATUS_BAD_PARAM;
		c->pad[i] = pad[i];
		c->stride[i] = stride[i];
		c->dilation[i] = dilation[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t
cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t c,
			    cudnnMathType_t math)
{
	if (!c || (unsigned)math > CUDNN_FMA_MATH)
		return CUDNN_STATUS_BAD_PARAM;
	c->math = math;
	return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t
cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t c, int groups)
{
	if (!c || groups < 1)
		return CUDNN_STATUS_BAD_PARAM;
	c->groups = groups;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- what is allowed ----------------------------------------------------- */

typedef struct shape {
	struct cudnnConvolutionStruct c;
	tensor x, w, y;
} shape;

static bool extents_fit(const shape *s)
{
	for (int i = 0; i < s->c.n; i++) {
		const int window =
			s->c.dilation[i] * (s->w.dims[2 + i] - 1) + 1;
		const int room =
			s->x.dims[2 + i] + 2 * s->c.pad[i] - window;
		if (room < 0 ||
		    room / s->c.stride[i] + 1 != s->y.dims[2 + i])
			return false;
	}
	return true;
}

static cudnnStatus_t check(shape *s)
{
	const int groups = s->c.groups;
	if (s->x.ndim != s->c.n + 2 || s->y.ndim != s->x.ndim ||
	    s->w.ndim != s->x.ndim || s->x.type != s->w.type ||
	    s->x.type != s->y.type || s->x.dims[0] != s->y.dims[0] ||
	    s->x.dims[1] != s->w.dims[1] * groups ||
	    s->y.dims[1] != s->w.dims[0] || s->w.dims[0] % groups ||
	    !extents_fit(s))
		return CUDNN_STATUS_BAD_PARAM;
	const bool wide = s->x.type == CUDNN_DATA_DOUBLE;
	if (s->c.mode != CUDNN_CROSS_CORRELATION ||
	    (s->c.compute == CUDNN_DATA_DOUBLE) != wide ||
	    (s->c.compute != CUDNN_DATA_FLOAT && !wide))
		return CUDNN_STATUS_NOT_SUPPORTED;
	if (!is_packed(&s->x, s->w.inside) || !is_packed(&s->y, s->w.inside))
		return CUDNN_STATUS_NOT_SUPPORTED;
	return CUDNN_STATUS_SUCCESS;
}

static bool make(shape *s, cudnnConvolutionDescriptor_t c,
		 cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
		 cudnnTensorDescriptor_t y)
{
	if (!c || !x || !w || !y)
		return false;
	*s = (shape){*c, x->t, w->t, y->t};
	return true;
}

/* First one whose bits vary, then one that needs very much, then two that
 * differ in how they multiply. */
#define OFFERS(type, results, found, requested, math_asked)                  \
	do {                                                                 \
		static const type offers[] = {                               \
			{.algo = 0, .memory = NEEDED,                        \
			 .mathType = CUDNN_TENSOR_OP_MATH},                  \
			{.algo = 1, .memory = (size_t)1 << 40,               \
			 .determinism = CUDNN_DETERMINISTIC,                 \
			 .mathType = CUDNN_FMA_MATH},                        \
			{.algo = 1, .memory = NEEDED,                        \
			 .determinism = CUDNN_DETERMINISTIC,                 \
			 .mathType = CUDNN_TENSOR_OP_MATH},                  \
			{.algo = 1, .memory = NEEDED,                        \
			 .determinism = CUDNN_DETERMINISTIC,                 \
			 .mathType = CUDNN_FMA_MATH}};                       \
		for (int i_ = 0; i_ < 4; i_++)                               \
			if (*(found) < (requested) &&                        \
			    ((math_asked) != CUDNN_FMA_MATH ||               \
			     offers[i_].mathType == CUDNN_FMA_MATH))         \
				(results)[(*(found))++] = offers[i_];        \
	} while (0)

static cudnnStatus_t may_offer(shape *s, int requested, int *found)
{
	*found = 0;
	if (requested < 1)
		return CUDNN_STATUS_BAD_PARAM;
	if (getenv("FAKE_CUDNN_NONE"))
		return CUDNN_STATUS_NOT_SUPPORTED;
	return check(s);
}

FAKE_EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
	const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t c,
	const cudnnTensorDescriptor_t y, int requested, int *found,
	cudnnConvolutionFwdAlgoPerf_t *results)
{
	shape s;
	if (!handle || !make(&s, c, x, w, y))
		return CUDNN_STATUS_BAD_PARAM;
	const cudnnStatus_t status = may_offer(&s, requested, found);
	if (!status)
		OFFERS(cudnnConvolutionFwdAlgoPerf_t, results, found,
		       requested, s.c.math);
	return status;
}

FAKE_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
	cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t c,
	const cudnnTensorDescriptor_t dx, int requested, int *found,
	cudnnConvolutionBwdDataAlgoPerf_t *results)
{
	shape s;
	if (!handle || !make(&s, c, dx, w, dy))
		return CUDNN_STATUS_BAD_PARAM;
	const cudnnStatus_t status = may_offer(&s, requested, found);
	if (!status)
		OFFERS(cudnnConvolutionBwdDataAlgoPerf_t, results, found,
		       requested, s.c.math);
	return status;
}

FAKE_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
	cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t c,
	const cudnnFilterDescriptor_t dw, int requested, int *found,
	cudnnConvolutionBwdFilterAlgoPerf_t *results)
{
	shape s;
	if (!handle || !make(&s, c, x, dw, dy))
		return CUDNN_STATUS_BAD_PARAM;
	const cudnnStatus_t status = may_offer(&s, requested, found);
	if (!status)
		OFFERS(cudnnConvolutionBwdFilterAlgoPerf_t, results, found,
		       requested, s.c.math);
	return status;
}

/* ---- computing ----------------------------------------------------------- */

static size_t size_of(cudnnDataType_t t)
{
	return t == CUDNN_DATA_DOUBLE ? 8 : t == CUDNN_DATA_FLOAT ? 4 : 2;
}

static double get(cudnnDataType_t t, const void *base, int64_t i)
{
	switch ((int)t) {
	case CUDNN_DATA_DOUBLE: return ((const double *)base)[i];
	case CUDNN_DATA_FLOAT: return (double)((const float *)base)[i];
	case CUDNN_DATA_HALF:
		return float_of_small(((const uint16_t *)base)[i], 5, 10, 0);
	default: return float_of_small(((const uint16_t *)base)[i], 8, 7, 0);
	}
}

static void put(cudnnDataType_t t, void *base, int64_t i, double v)
{
	const float f = (float)v;
	switch ((int)t) {
	case CUDNN_DATA_DOUBLE: ((double *)base)[i] = v; break;
	case CUDNN_DATA_FLOAT: ((float *)base)[i] = f; break;
	case CUDNN_DATA_HALF:
		((uint16_t *)base)[i] =
			(uint16_t)small_of_float(f, 5, 10, 0);
		break;
	default:
		((uint16_t *)base)[i] = (uint16_t)small_of_float(f, 8, 7, 0);
	}
}

typedef enum which {
	FORWARD,
	DATA,
	FILTER,
} which;

typedef struct call {
	shape s;
	which kind;
	void *x, *w, *y, *workspace;
	double alpha, beta;
	double *sums; /* of the result's elements, densely */
} call;

static int64_t place(const tensor *t, const int *at)
{
	int64_t p = 0;
	for (int i = 0; i < t->ndim; i++)
		p += (int64_t)at[i] * t->strides[i];
	return p;
}

static int64_t dense(const tensor *t, const int *at)
{
	int64_t p = 0;
	for (int i = 0; i < t->ndim; i++)
		p = p * t->dims[i] + at[i];
	return p;
}

static int64_t count(const tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->ndim; i++)
		n *= t->dims[i];
	return n;
}

static bool next(const tensor *t, int *at)
{
	for (int i = t->ndim - 1; i >= 0; i--) {
		if (++at[i] < t->dims[i])
			return true;
		at[i] = 0;
	}
	return false;
}

/* One product of an element of y (at) and one of the filter (tap, whose first
 * dimension is that of y). */
static void multiply(call *c, const int *at, const int *tap)
{
	const shape *s = &c->s;
	const int per = s->w.dims[0] / s->c.groups; /* of a group */
	int from[MOST] = {at[0], at[1] / per * s->w.dims[1] + tap[1]};
	for (int i = 0; i < s->c.n; i++) {
		from[2 + i] = at[2 + i] * s->c.stride[i] - s->c.pad[i] +
			      tap[2 + i] * s->c.dilation[i];
		if (from[2 + i] < 0 || from[2 + i] >= s->x.dims[2 + i])
			return;
	}
	const cudnnDataType_t t = s->x.type;
	const double x = c->kind == DATA ? 0 : get(t, c->x, place(&s->x, from));
	const double w = c->kind == FILTER ? 0
					   : get(t, c->w, place(&s->w, tap));
	const double y = c->kind == FORWARD ? 0
					    : get(t, c->y, place(&s->y, at));
	switch (c->kind) {
	case FORWARD: c->sums[dense(&s->y, at)] += x * w; break;
	case DATA: c->sums[dense(&s->x, from)] += y * w; break;
	case FILTER: c->sums[dense(&s->w, tap)] += x * y; break;
	}
}

static CUresult step(void *arg, bool first)
{
	call *c = arg;
	const shape *s = &c->s;
	const tensor *out = c->kind == FORWARD ? &s->y
			    : c->kind == DATA  ? &s->x
					       : &s->w;
	void *to = c->kind == FORWARD ? c->y : c->kind == DATA ? c->x : c->w;
	(void)first;
	memset(c->workspace, 0x5c, NEEDED);
	c->sums = calloc((size_t)count(out), sizeof(double));
	if (!c->sums)
		abort();
	int at[MOST] = {0};
	do {
		int tap[MOST] = {at[1]};
		do {
			if (tap[0] == at[1])
				multiply(c, at, tap);
		} while (next(&s->w, tap) && tap[0] == at[1]);
	} while (next(&s->y, at));
	int i[MOST] = {0};
	do {
		const int64_t p = place(out, i);
		double v = c->alpha * c->sums[dense(out, i)];
		if (c->beta != 0)
			v += c->beta * get(out->type, to, p);
		put(out->type, to, p, v);
	} while (next(out, i));
	free(c->sums);
	return CUDA_SUCCESS;
}

static bool lies(const tensor *t, const void *at, int device)
{
	int last[MOST];
	bool pinned;
	for (int i = 0; i < t->ndim; i++)
		last[i] = t->dims[i] - 1;
	return (uintptr_t)at % size_of(t->type) == 0 &&
	       fake_device_of(at,
			      (size_t)(place(t, last) + 1) * size_of(t->type),
			      &pinned) == device;
}

static double scalar(const shape *s, const void *at)
{
	return s->x.type == CUDNN_DATA_DOUBLE ? *(const double *)at
					      : (double)*(const float *)at;
}

static cudnnStatus_t run(cudnnHandle_t h, call *c, int algo, const void *alpha,
			 const void *beta, size_t workspace)
{
	const cudnnStatus_t status = check(&c->s);
	bool pinned;
	if (status)
		return status;
	if (!h || !h->has_stream || algo < 0 || algo > 1 || !alpha || !beta ||
	    workspace < NEEDED ||
	    fake_device_of(c->workspace, workspace, &pinned) != h->device ||
	    !lies(&c->s.x, c->x, h->device) ||
	    !lies(&c->s.w, c->w, h->device) ||
	    !lies(&c->s.y, c->y, h->device))
		return CUDNN_STATUS_BAD_PARAM;
	call *k = malloc(sizeof *k);
	if (!k)
		return CUDNN_STATUS_INTERNAL_ERROR;
	*k = *c;
	k->alpha = scalar(&c->s, alpha);
	k->beta = scalar(&c->s, beta);
	const fake_work w = {.what = "convolution",
			     .step = step,
			     .release = free,
			     .arg = k};
	return fake_enqueue(h->stream, &w) ? CUDNN_STATUS_EXECUTION_FAILED
					   : CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnConvolutionForward(
	cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t x, const void *x_data,
	const cudnnFilterDescriptor_t w, const void *w_data,
	const cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t algo,
	void *workspace, size_t workspace_size, const void *beta,
	const cudnnTensorDescriptor_t y, void *y_data)
{
	call k = {.kind = FORWARD, .x = (void *)(uintptr_t)x_data,
		  .w = (void *)(uintptr_t)w_data, .y = y_data,
		  .workspace = workspace};
	return make(&k.s, c, x, w, y)
		       ? run(handle, &k, (int)algo, alpha, beta,
			     workspace_size)
		       : CUDNN_STATUS_BAD_PARAM;
}

FAKE_EXPORT cudnnStatus_t cudnnConvolutionBackwardData(
	cudnnHandle_t handle, const void *alpha,
	const cudnnFilterDescriptor_t w, const void *w_data,
	const cudnnTensorDescriptor_t dy, const void *dy_data,
	const cudnnConvolutionDescriptor_t c,
	cudnnConvolutionBwdDataAlgo_t algo, void *workspace,
	size_t workspace_size, const void *beta,
	const cudnnTensorDescriptor_t dx, void *dx_data)
{
	call k = {.kind = DATA, .x = dx_data, .w = (void *)(uintptr_t)w_data,
		  .y = (void *)(uintptr_t)dy_data, .workspace = workspace};
	return make(&k.s, c, dx, w, dy)
		       ? run(handle, &k, (int)algo, alpha, beta,
			     workspace_size)
		       : CUDNN_STATUS_BAD_PARAM;
}

FAKE_EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(
	cudnnHandle_t handle, const void *alpha,
	const cudnnTensorDescriptor_t x, const void *x_data,
	const cudnnTensorDescriptor_t dy, const void *dy_data,
	const cudnnConvolutionDescriptor_t c,
	cudnnConvolutionBwdFilterAlgo_t algo, void *workspace,
	size_t workspace_size, const void *beta,
	const cudnnFilterDescriptor_t dw, void *dw_data)
{
	call k = {.kind = FILTER, .x = (void *)(uintptr_t)x_data, .w = dw_data,
		  .y = (void *)(uintptr_t)dy_data, .workspace = workspace};
	return make(&k.s, c, x, dw, dy)
		       ? run(handle, &k, (int)algo, alpha, beta,
			     workspace_size)
		       : CUDNN_STATUS_BAD_PARAM;
}
