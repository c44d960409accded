#include "config.h"

#include "runtime/cuda/cudnn.h"

#include <cudnn.h>
#include <string.h>

#include "base/vec.h"
#include "kernel/convolution.h"

typedef struct dnn_api {
#define DNN(f) __typeof__(f) *f;
#include "runtime/cuda/cudnn.def"
} dnn_api;

/* The algorithm is from the enumeration for the kind. */
struct dnn_run {
	int gpu;
	conv_kind kind;
	bool wide; /* scaling factors are doubles */
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t how;
	int algorithm;
	size_t workspace;
	CUdeviceptr at[CONV_SIDES];
};

struct dnn {
	arena *arena;
	cuda *c;
	dnn_api api;
	library_options o;
	cudnnHandle_t *handles; /* by GPU */
	VEC(dnn_run *) runs;
};

static bool good(const dnn *d, cudnnStatus_t status, const char *call,
		 failure *f)
{
	if (status == CUDNN_STATUS_SUCCESS)
		return true;
	return fail_with(f, CLI_MACHINE, "%s: %s", call,
			 d->api.cudnnGetErrorString(status));
}

#define DNN_CALL(d, f, function, ...) \
	good((d), (d)->api.function(__VA_ARGS__), #function, (f))

/* ---- opening ----------------------------------------------------------- */

static bool load(dnn *d, failure *f)
{
	void *library = library_open("libcudnn.so.9");
	if (!library)
		return fail_with(f, CLI_MACHINE,
				 "there is no library libcudnn.so.9");
	const struct {
		const char *name;
		void *to;
	} functions[] = {
#define DNN(f) { LIBRARY_SYMBOL(f), &d->api.f },
#include "runtime/cuda/cudnn.def"
	};
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!library_find(library, functions[i].name, functions[i].to,
				  f))
			return false;
	return true;
}

dnn *dnn_open(arena *a, cuda *c, const library_options *o, failure *f)
{
	dnn *d = ARENA_NEW(a, dnn);
	*d = (dnn){ .arena = a, .c = c, .o = *o };
	d->handles = ARENA_ARRAY(a, cudnnHandle_t, c->ngpus);
	memset(d->handles, 0, (size_t)c->ngpus * sizeof(*d->handles));
	bool works = load(d, f);
	for (int g = 0; works && g < c->ngpus; g++)
		works = cuda_enter(c, g, f) &&
			DNN_CALL(d, f, cudnnCreate, &d->handles[g]);
	if (works)
		return d;
	dnn_close(d);
	return NULL;
}

static void destroy(dnn *d, dnn_run *r)
{
	if (r->x)
		d->api.cudnnDestroyTensorDescriptor(r->x);
	if (r->y)
		d->api.cudnnDestroyTensorDescriptor(r->y);
	if (r->w)
		d->api.cudnnDestroyFilterDescriptor(r->w);
	if (r->how)
		d->api.cudnnDestroyConvolutionDescriptor(r->how);
}

void dnn_close(dnn *d)
{
	failure f = { 0 };
	for (int i = 0; i < d->runs.n; i++)
		destroy(d, d->runs.at[i]);
	for (int g = 0; g < d->c->ngpus; g++)
		if (d->handles[g] && cuda_enter(d->c, g, &f))
			d->api.cudnnDestroy(d->handles[g]);
}

/* ---- descriptors ------------------------------------------------------- */

static bool type_of(dtype t, cudnnDataType_t *to)
{
	static const struct {
		dtype ours;
		cudnnDataType_t theirs;
	} types[] = {
		{ DT_F64, CUDNN_DATA_DOUBLE },
		{ DT_F32, CUDNN_DATA_FLOAT },
		{ DT_F16, CUDNN_DATA_HALF },
		{ DT_BF16, CUDNN_DATA_BFLOAT16 },
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].ours == t) {
			*to = types[i].theirs;
			return true;
		}
	return false;
}

/* The number of spatial dimensions.  cuDNN needs at least two; an added one has
 * one element. */
static int ndim_of(const conv_call *x)
{
	return x->nspatial < 2 ? 4 : 2 + x->nspatial;
}

/* Converts to int, cuDNN's type for extents. */
static bool to_ints(const int64_t *from, int n, int missing, int *to, int all)
{
	for (int i = 0; i < all; i++) {
		int64_t v = i < n ? from[i] : missing;
		if (v > INT32_MAX)
			return false;
		to[i] = (int)v;
	}
	return true;
}

static bool set_tensor(dnn *d, cudnnTensorDescriptor_t *to,
		       const conv_call *call, conv_side side,
		       cudnnDataType_t type, failure *f)
{
	const conv_operand *x = &call->on[side];
	int n = 2 + call->nspatial, all = ndim_of(call);
	int dims[CONV_MAX_NDIM], strides[CONV_MAX_NDIM];
	return to_ints(x->dims, n, 1, dims, all) &&
	       to_ints(x->strides, n, 1, strides, all) &&
	       DNN_CALL(d, f, cudnnCreateTensorDescriptor, to) &&
	       DNN_CALL(d, f, cudnnSetTensorNdDescriptor, *to, type, all, dims,
			strides);
}

/* Whether dimensions are dense, with the last one in `order' innermost. */
static bool is_dense(const conv_operand *x, int n, const int *order)
{
	int64_t size = 1;
	for (int i = n - 1; i >= 0; i--) {
		int d = order[i];
		if (x->dims[d] > 1 && x->strides[d] != size)
			return false;
		size *= x->dims[d];
	}
	return true;
}

/* A filter is dense, with its channels outside or inside its taps. */
static bool set_filter(dnn *d, dnn_run *r, const conv_call *call,
		       cudnnDataType_t type, failure *f)
{
	static const int by_channel[] = { 0, 1, 2, 3, 4 };
	static const int by_tap[][CONV_MAX_NDIM] = { { 0, 2, 1 },
						     { 0, 2, 3, 1 },
						     { 0, 2, 3, 4, 1 } };
	const conv_operand *w = &call->on[CONV_W];
	int n = 2 + call->nspatial, all = ndim_of(call), dims[CONV_MAX_NDIM];
	cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
	if (!is_dense(w, n, by_channel)) {
		format = CUDNN_TENSOR_NHWC;
		if (!is_dense(w, n, by_tap[call->nspatial - 1]))
			return false;
	}
	return to_ints(w->dims, n, 1, dims, all) &&
	       DNN_CALL(d, f, cudnnCreateFilterDescriptor, &r->w) &&
	       DNN_CALL(d, f, cudnnSetFilterNdDescriptor, r->w, type, format,
			all, dims);
}

/* cuDNN pads both ends equally, and computes the extents of y from that. */
static bool extents_agree(const conv_call *x)
{
	for (int i = 0; i < x->nspatial; i++) {
		int64_t window = x->dilation[i] *
				 (x->on[CONV_W].dims[2 + i] - 1) + 1;
		int64_t room = x->on[CONV_X].dims[2 + i] + 2 * x->pad[i] -
			       window;
		if (room < 0 ||
		    room / x->stride[i] + 1 != x->on[CONV_Y].dims[2 + i])
			return false;
	}
	return true;
}

static bool set_how(dnn *d, dnn_run *r, const conv_call *x, failure *f)
{
	int pad[CONV_MAX_SPATIAL], stride[CONV_MAX_SPATIAL];
	int dilation[CONV_MAX_SPATIAL], all = ndim_of(x) - 2;
	return to_ints(x->pad, x->nspatial, 0, pad, all) &&
	       to_ints(x->stride, x->nspatial, 1, stride, all) &&
	       to_ints(x->dilation, x->nspatial, 1, dilation, all) &&
	       DNN_CALL(d, f, cudnnCreateConvolutionDescriptor, &r->how) &&
	       DNN_CALL(d, f, cudnnSetConvolutionNdDescriptor, r->how, all,
			pad, stride, dilation, CUDNN_CROSS_CORRELATION,
			r->wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
}

/* ---- algorithms -------------------------------------------------------- */

/* cuDNN's facts about an algorithm of any kind. */
typedef struct offer {
	int algorithm;
	cudnnStatus_t status;
	size_t memory;
	cudnnDeterminism_t determinism;
	cudnnMathType_t math;
} offer;

enum { MOST_OFFERS = 16 };

#define OFFER(x)                                                   \
	(offer){ (int)(x).algo, (x).status, (x).memory,            \
		 (x).determinism, (x).mathType }

/* Lists algorithms in cuDNN's ranking.  Returns their number. */
static int list_offers(dnn *d, const dnn_run *r, offer *offers, failure *f)
{
	cudnnHandle_t h = d->handles[r->gpu];
	cudnnConvolutionFwdAlgoPerf_t forward[MOST_OFFERS];
	cudnnConvolutionBwdDataAlgoPerf_t data[MOST_OFFERS];
	cudnnConvolutionBwdFilterAlgoPerf_t filter[MOST_OFFERS];
	bool works = false;
	int n = 0;
	switch (r->kind) {
	case CONV_FORWARD:
		works = DNN_CALL(d, f, cudnnGetConvolutionForwardAlgorithm_v7,
				 h, r->x, r->w, r->how, r->y, MOST_OFFERS, &n,
				 forward);
		break;
	case CONV_DATA:
		works = DNN_CALL(d, f,
				 cudnnGetConvolutionBackwardDataAlgorithm_v7,
				 h, r->w, r->y, r->how, r->x, MOST_OFFERS, &n,
				 data);
		break;
	case CONV_FILTER:
		works = DNN_CALL(d, f,
				 cudnnGetConvolutionBackwardFilterAlgorithm_v7,
				 h, r->x, r->y, r->how, r->w, MOST_OFFERS, &n,
				 filter);
		break;
	}
	for (int i = 0; works && i < n; i++)
		offers[i] = r->kind == CONV_FORWARD ? OFFER(forward[i]) :
			    r->kind == CONV_DATA    ? OFFER(data[i]) :
						      OFFER(filter[i]);
	return works ? n : 0;
}

/* Whether an algorithm would round factors of f32 although --tf32 is not
 * given. */
static bool may_round(const dnn *d, dtype type, cudnnMathType_t math)
{
	return type == DT_F32 && !d->o.tf32 && math != CUDNN_FMA_MATH;
}

/* Chooses the first algorithm that is deterministic and fits in the
 * workspace. */
static bool choose(dnn *d, dnn_run *r, dtype type, failure *f)
{
	offer offers[MOST_OFFERS];
	cudnnMathType_t math = CUDNN_TENSOR_OP_MATH;
	if (type == DT_F64 || may_round(d, type, math))
		math = CUDNN_FMA_MATH;
	if (!DNN_CALL(d, f, cudnnSetConvolutionMathType, r->how, math))
		return false;
	int n = list_offers(d, r, offers, f);
	for (int i = 0; i < n; i++) {
		const offer *o = &offers[i];
		if (o->status != CUDNN_STATUS_SUCCESS ||
		    o->determinism != CUDNN_DETERMINISTIC ||
		    o->memory > DNN_WORKSPACE || may_round(d, type, o->math))
			continue;
		r->algorithm = o->algorithm;
		r->workspace = o->memory;
		return DNN_CALL(d, f, cudnnSetConvolutionMathType, r->how,
				o->math);
	}
	return false;
}

/* ---- runs -------------------------------------------------------------- */

static bool describe(dnn *d, dnn_run *r, const conv_call *x, dtype type,
		     failure *f)
{
	cudnnDataType_t t;
	return type_of(type, &t) && extents_agree(x) &&
	       cuda_enter(d->c, r->gpu, f) &&
	       set_tensor(d, &r->x, x, CONV_X, t, f) &&
	       set_tensor(d, &r->y, x, CONV_Y, t, f) &&
	       set_filter(d, r, x, t, f) && set_how(d, r, x, f) &&
	       choose(d, r, type, f);
}

static bool find_call(const bind_run *run, convolution *c, conv_call *x)
{
	view inputs[MAX_NINPUTS], out;
	const kernel *k = run->k;
	if (!convolution_of(k, c))
		return false;
	for (int i = 0; i < k->ninputs; i++) {
		inputs[i] = view_dense(NULL, k->inputs[i].type, &run->at[i]);
		if (k->inputs[i].type != k->type)
			return false;
	}
	out = view_dense(NULL, k->type, &run->at[k->ninputs]);
	return convolution_call(k, c, &run->space, inputs, &out, x);
}

dnn_run *dnn_plan(dnn *d, int worker, const bind_run *run, size_t *workspace)
{
	failure f = { 0 };
	convolution c;
	conv_call x;
	if (!find_call(run, &c, &x))
		return NULL;
	dnn_run *r = ARENA_NEW(d->arena, dnn_run);
	dtype type = run->k->type;
	*r = (dnn_run){ .gpu = cuda_gpu_of(d->c, worker), .kind = c.kind,
			.wide = type == DT_F64 };
	for (int s = 0; s < CONV_SIDES; s++)
		r->at[s] = run->data[c.operand[s]] +
			   (CUdeviceptr)(x.on[s].at *
					 (int64_t)dtype_size(type));
	vec_push(d->arena, &d->runs, r);
	if (!describe(d, r, &x, type, &f))
		return NULL;
	if (r->workspace > *workspace)
		*workspace = r->workspace;
	return r;
}

bool dnn_run_on(dnn *d, const dnn_run *r, CUdeviceptr workspace, CUstream s,
		failure *f)
{
	const float one = 1, zero = 0;
	const double one_f64 = 1, zero_f64 = 0;
	const void *alpha = r->wide ? (const void *)&one_f64 : &one;
	const void *beta = r->wide ? (const void *)&zero_f64 : &zero;
	cudnnHandle_t h = d->handles[r->gpu];
	void *x = (void *)(uintptr_t)r->at[CONV_X];
	void *w = (void *)(uintptr_t)r->at[CONV_W];
	void *y = (void *)(uintptr_t)r->at[CONV_Y];
	void *work = (void *)(uintptr_t)workspace;
	if (!DNN_CALL(d, f, cudnnSetStream, h, s))
		return false;
	switch (r->kind) {
	case CONV_FORWARD:
		return DNN_CALL(d, f, cudnnConvolutionForward, h, alpha, r->x,
				x, r->w, w, r->how,
				(cudnnConvolutionFwdAlgo_t)r->algorithm, work,
				r->workspace, beta, r->y, y);
	case CONV_DATA:
		return DNN_CALL(d, f, cudnnConvolutionBackwardData, h, alpha,
				r->w, w, r->y, y, r->how,
				(cudnnConvolutionBwdDataAlgo_t)r->algorithm,
				work, r->workspace, beta, r->x, x);
	case CONV_FILTER:
		return DNN_CALL(d, f, cudnnConvolutionBackwardFilter, h, alpha,
				r->x, x, r->y, y, r->how,
				(cudnnConvolutionBwdFilterAlgo_t)r->algorithm,
				work, r->workspace, beta, r->w, w);
	}
	return false;
}
