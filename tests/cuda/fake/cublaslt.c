/* A fake cuBLASLt: products of matrices by plain loops, as work of the fake
 * driver's streams.  It refuses what the documentation does not allow: types,
 * leading dimensions, batches, and buffers that are less aligned, or
 * workspaces that are smaller, than was said when the algorithm was chosen.
 *
 *	FAKE_CUBLASLT_NONE	there is no algorithm for anything
 *	FAKE_CUBLASLT_WAITS	a product waits for its stream, which a capture
 *				does not allow */
#include <cublasLt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "numbers.h"

struct cublasLtContext {
	int device;
};

typedef struct product {
	cublasComputeType_t compute;
	cudaDataType_t scale;
	int32_t a, b, pointers; /* operations; cublasLtPointerMode_t */
	uint32_t epilogue;
	const void *bias;
	int64_t bias_stride;
	int32_t bias_type;
} product;

typedef struct layout {
	uint32_t type;
	int32_t order, batches;
	uint64_t rows, cols;
	int64_t ld, stride;
} layout;

typedef struct preference {
	uint64_t workspace;
	uint32_t schemes, alignment[4];
} preference;

/* The contents of cublasLtMatmulAlgo_t. */
typedef struct algorithm {
	uint32_t magic, alignment[4];
	uint32_t workspace;
} algorithm;

enum {
	MAGIC = 0x1a27be51,
	NEEDED = 4096, /* bytes of workspace */
};

_Static_assert(sizeof(product) <= sizeof(cublasLtMatmulDescOpaque_t), "fits");
_Static_assert(sizeof(layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "fits");
_Static_assert(sizeof(preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t),
	       "fits");
_Static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t), "fits");

FAKE_EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
	CUdevice device;
	*handle = NULL;
	/* A library is no newer than the driver. */
	int driver;
	if (cuCtxGetDevice(&device) || cuDriverGetVersion(&driver) ||
	    driver / 1000 < MAJOR)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	*handle = malloc(sizeof **handle);
	if (!*handle)
		return CUBLAS_STATUS_ALLOC_FAILED;
	(*handle)->device = device;
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT size_t cublasLtGetVersion(void)
{
	return 130000;
}

FAKE_EXPORT const char *cublasLtGetStatusString(cublasStatus_t status)
{
	switch ((int)status) {
	case CUBLAS_STATUS_SUCCESS: return "success";
	case CUBLAS_STATUS_NOT_INITIALIZED:
		return "the library was not initialized";
	case CUBLAS_STATUS_ALLOC_FAILED:
		return "the resource allocation failed";
	case CUBLAS_STATUS_INVALID_VALUE:
		return "an invalid value was used as an argument";
	case CUBLAS_STATUS_EXECUTION_FAILED:
		return "the GPU program failed to execute";
	case CUBLAS_STATUS_NOT_SUPPORTED:
		return "the functionality requested is not supported";
	default: return "an internal operation failed";
	}
}

/* ---- descriptors --------------------------------------------------------- */

/* A field that an attribute has, whose size the caller has to know. */
#define FIELD(attribute, field)                        \
	case attribute:                                \
		if (size != sizeof(field))             \
			return CUBLAS_STATUS_INVALID_VALUE; \
		memcpy(&(field), value, size);         \
		break

FAKE_EXPORT cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
						    cublasComputeType_t compute,
						    cudaDataType_t scale)
{
	const product p = {.compute = compute,
			   .scale = scale,
			   .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
			   .bias_type = -1};
	*desc = calloc(1, sizeof **desc);
	if (!*desc)
		return CUBLAS_STATUS_ALLOC_FAILED;
	memcpy(*desc, &p, sizeof p);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
	free(desc);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
			       cublasLtMatmulDescAttributes_t attribute,
			       const void *value, size_t size)
{
	product *p = (product *)desc;
	if (!p || !value)
		return CUBLAS_STATUS_INVALID_VALUE;
	switch ((int)attribute) {
	FIELD(CUBLASLT_MATMUL_DESC_TRANSA, p->a);
	FIELD(CUBLASLT_MATMUL_DESC_TRANSB, p->b);
	FIELD(CUBLASLT_MATMUL_DESC_POINTER_MODE, p->pointers);
	FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, p->epilogue);
	FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p->bias);
	FIELD(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, p->bias_stride);
	FIELD(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, p->bias_type);
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *l,
						      cudaDataType type,
						      uint64_t rows,
						      uint64_t cols, int64_t ld)
{
	const layout x = {.type = (uint32_t)type,
			  .batches = 1,
			  .rows = rows,
			  .cols = cols,
			  .ld = ld};
	*l = calloc(1, sizeof **l);
	if (!*l)
		return CUBLAS_STATUS_ALLOC_FAILED;
	memcpy(*l, &x, sizeof x);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
	free(l);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l,
				 cublasLtMatrixLayoutAttribute_t attribute,
				 const void *value, size_t size)
{
	layout *x = (layout *)l;
	if (!x || !value)
		return CUBLAS_STATUS_INVALID_VALUE;
	switch ((int)attribute) {
	FIELD(CUBLASLT_MATRIX_LAYOUT_TYPE, x->type);
	FIELD(CUBLASLT_MATRIX_LAYOUT_ORDER, x->order);
	FIELD(CUBLASLT_MATRIX_LAYOUT_ROWS, x->rows);
	FIELD(CUBLASLT_MATRIX_LAYOUT_COLS, x->cols);
	FIELD(CUBLASLT_MATRIX_LAYOUT_LD, x->ld);
	FIELD(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, x->batches);
	FIELD(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, x->stride);
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
	const preference x = {.schemes = CUBLASLT_REDUCTION_SCHEME_MASK,
			      .alignment = {256, 256, 256, 256}};
	*p = calloc(1, sizeof **p);
	if (!*p)
		return CUBLAS_STATUS_ALLOC_FAILED;
	memcpy(*p, &x, sizeof x);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
	free(p);
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
	cublasLtMatmulPreference_t p,
	cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
	size_t size)
{
	preference *x = (preference *)p;
	if (!x || !value)
		return CUBLAS_STATUS_INVALID_VALUE;
	switch ((int)attribute) {
	FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, x->workspace);
	FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, x->schemes);
	FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, x->alignment[0]);
	FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, x->alignment[1]);
	FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, x->alignment[2]);
	FIELD(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, x->alignment[3]);
	default: return CUBLAS_STATUS_INVALID_VALUE;
	}
	return CUBLAS_STATUS_SUCCESS;
}

/* ---- what is allowed ----------------------------------------------------- */

static size_t size_of(uint32_t type)
{
	switch ((int)type) {
	case CUDA_R_64F: return 8;
	case CUDA_R_32F: return 4;
	case CUDA_R_16F:
	case CUDA_R_16BF: return 2;
	default: return 0;
	}
}

static bool types_fit(const product *p, uint32_t a, uint32_t b, uint32_t d)
{
	const bool half = a == CUDA_R_16F || a == CUDA_R_16BF;
	switch ((int)p->compute) {
	case CUBLAS_COMPUTE_64F:
		return p->scale == CUDA_R_64F && a == CUDA_R_64F && b == a &&
		       d == a;
	case CUBLAS_COMPUTE_32F_FAST_TF32:
		return p->scale == CUDA_R_32F && a == CUDA_R_32F && b == a &&
		       d == a;
	case CUBLAS_COMPUTE_32F:
		return p->scale == CUDA_R_32F && b == a &&
		       (d == a || (half && d == CUDA_R_32F)) &&
		       (half || a == CUDA_R_32F);
	default: return false;
	}
}

static bool is_layout(const layout *x, int batches)
{
	const uint64_t length = x->order == CUBLASLT_ORDER_COL ? x->rows
							       : x->cols;
	return size_of(x->type) && x->rows > 0 && x->cols > 0 &&
	       x->rows <= INT32_MAX && x->cols <= INT32_MAX &&
	       (x->order == CUBLASLT_ORDER_COL ||
		x->order == CUBLASLT_ORDER_ROW) &&
	       x->ld >= 0 && (uint64_t)x->ld >= length && batches >= 1 &&
	       x->batches == batches;
}

/* Whether matrices of a result do not overlap. */
static bool is_apart(const layout *x)
{
	const uint64_t others = x->order == CUBLASLT_ORDER_COL ? x->cols
							       : x->rows;
	const uint64_t length = x->order == CUBLASLT_ORDER_COL ? x->rows
							       : x->cols;
	const uint64_t extent = (others - 1) * (uint64_t)x->ld + length;
	return x->batches == 1 || llabs(x->stride) >= (long long)extent ||
	       (others > 1 && length <= (uint64_t)llabs(x->stride) &&
		(uint64_t)llabs(x->stride) * (uint64_t)x->batches <=
			(uint64_t)x->ld);
}

static cublasStatus_t check(const product *p, const layout *a, const layout *b,
			    const layout *c, const layout *d)
{
	if (!p || !a || !b || !c || !d)
		return CUBLAS_STATUS_INVALID_VALUE;
	const bool at = p->a != CUBLAS_OP_N, bt = p->b != CUBLAS_OP_N;
	if ((unsigned)p->a > CUBLAS_OP_T || (unsigned)p->b > CUBLAS_OP_T ||
	    !is_layout(a, d->batches) || !is_layout(b, d->batches) ||
	    !is_layout(c, d->batches) || !is_layout(d, d->batches) ||
	    (at ? a->cols : a->rows) != d->rows ||
	    (bt ? b->rows : b->cols) != d->cols ||
	    (at ? a->rows : a->cols) != (bt ? b->cols : b->rows) ||
	    c->rows != d->rows || c->cols != d->cols || c->type != d->type)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!types_fit(p, a->type, b->type, d->type) || !is_apart(d) ||
	    p->pointers != CUBLASLT_POINTER_MODE_HOST ||
	    c->order != d->order)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return CUBLAS_STATUS_SUCCESS;
}

FAKE_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
	cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
	cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
	cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
	cublasLtMatmulPreference_t preferred, int requested,
	cublasLtMatmulHeuristicResult_t results[], int *found)
{
	const preference *p = (const preference *)preferred;
	*found = 0;
	if (!handle || !p || requested < 1)
		return CUBLAS_STATUS_INVALID_VALUE;
	const cublasStatus_t status =
		check((product *)desc, (layout *)a, (layout *)b, (layout *)c,
		      (layout *)d);
	if (status)
		return status;
	const layout *all[] = {(layout *)a, (layout *)b, (layout *)c,
			       (layout *)d};
	for (int i = 0; i < 4; i++) {
		const uint32_t n = p->alignment[i];
		if (n == 0 || (n & (n - 1)) || n > 256)
			return CUBLAS_STATUS_INVALID_VALUE;
		if (n < size_of(all[i]->type))
			return CUBLAS_STATUS_NOT_SUPPORTED;
	}
	if (getenv("FAKE_CUBLASLT_NONE"))
		return CUBLAS_STATUS_NOT_SUPPORTED;
	algorithm x = {.magic = MAGIC,
		       .workspace = p->workspace >= NEEDED ? NEEDED : 0};
	memcpy(x.alignment, p->alignment, sizeof x.alignment);
	memset(results, 0, sizeof *results);
	memcpy(&results[0].algo, &x, sizeof x);
	results[0].workspaceSize = x.workspace;
	results[0].state = CUBLAS_STATUS_SUCCESS;
	results[0].wavesCount = 1;
	*found = 1;
	return CUBLAS_STATUS_SUCCESS;
}

/* ---- computing ----------------------------------------------------------- */

static double get(uint32_t type, const void *base, int64_t i)
{
	uint16_t u16;
	switch ((int)type) {
	case CUDA_R_64F: return ((const double *)base)[i];
	case CUDA_R_32F: return (double)((const float *)base)[i];
	default:
		u16 = ((const uint16_t *)base)[i];
		return type == CUDA_R_16F ? float_of_small(u16, 5, 10, 0)
					  : float_of_small(u16, 8, 7, 0);
	}
}

static void put(uint32_t type, void *base, int64_t i, double x)
{
	const float f = (float)x;
	switch ((int)type) {
	case CUDA_R_64F: ((double *)base)[i] = x; break;
	case CUDA_R_32F: ((float *)base)[i] = f; break;
	case CUDA_R_16F:
		((uint16_t *)base)[i] =
			(uint16_t)small_of_float(f, 5, 10, 0);
		break;
	default:
		((uint16_t *)base)[i] = (uint16_t)small_of_float(f, 8, 7, 0);
	}
}

typedef struct call {
	product p;
	layout a, b, c, d;
	const void *at_a, *at_b, *at_c;
	void *at_d, *workspace;
	size_t needed;
	double alpha, beta;
} call;

static int64_t place(const layout *x, int64_t batch, int64_t row, int64_t col)
{
	return batch * x->stride + (x->order == CUBLASLT_ORDER_COL
					    ? col * x->ld + row
					    : row * x->ld + col);
}

/* As tf32 has it: 10 bits after the first. */
static double rounded(const call *c, double x)
{
	if (c->p.compute != CUBLAS_COMPUTE_32F_FAST_TF32 || x == 0 ||
	    !isfinite(x))
		return x;
	int e;
	frexp(x, &e);
	return ldexp(rint(ldexp(x, 11 - e)), e - 11);
}

/* Added up in four parts, each in the type that is computed in. */
static double dot(const call *c, int64_t batch, int64_t row, int64_t col)
{
	const bool at = c->p.a != CUBLAS_OP_N, bt = c->p.b != CUBLAS_OP_N;
	const int64_t depth = (int64_t)(at ? c->a.rows : c->a.cols);
	const bool wide = c->p.compute == CUBLAS_COMPUTE_64F;
	double parts[4] = {0};
	for (int64_t k = 0; k < depth; k++) {
		const double x = get(c->a.type, c->at_a,
				     place(&c->a, batch, at ? k : row,
					   at ? row : k));
		const double y = get(c->b.type, c->at_b,
				     place(&c->b, batch, bt ? col : k,
					   bt ? k : col));
		double *sum = &parts[k % 4];
		*sum += rounded(c, x) * rounded(c, y);
		if (!wide)
			*sum = (double)(float)*sum;
	}
	const double all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
	return wide ? all : (double)(float)all;
}

static double finish(const call *c, int64_t batch, int64_t row, double x)
{
	const uint32_t e = c->p.epilogue;
	if (e & CUBLASLT_EPILOGUE_BIAS)
		x += get(c->p.bias_type < 0 ? c->d.type
					    : (uint32_t)c->p.bias_type,
			 c->p.bias, batch * c->p.bias_stride + row);
	if (e & CUBLASLT_EPILOGUE_RELU)
		x = x > 0 ? x : 0;
	if (e & CUBLASLT_EPILOGUE_GELU)
		x = 0.5 * x *
		    (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
	return x;
}

static CUresult step(void *arg, bool first)
{
	const call *c = arg;
	(void)first;
	memset(c->workspace, 0x5c, c->needed);
	for (int64_t n = 0; n < c->d.batches; n++)
		for (int64_t j = 0; j < (int64_t)c->d.cols; j++)
			for (int64_t i = 0; i < (int64_t)c->d.rows; i++) {
				double x = c->alpha * dot(c, n, i, j);
				if (c->beta != 0)
					x += c->beta *
					     get(c->c.type, c->at_c,
						 place(&c->c, n, i, j));
				put(c->d.type, c->at_d, place(&c->d, n, i, j),
				    finish(c, n, i, x));
			}
	return CUDA_SUCCESS;
}

/* Whether a matrix lies in the device's memory, and as aligned as promised. */
static bool lies(const layout *x, const void *at, uint32_t alignment,
		 int device)
{
	const size_t size = size_of(x->type);
	const int64_t last = place(x, x->stride < 0 ? 0 : x->batches - 1,
				   (int64_t)x->rows - 1, (int64_t)x->cols - 1);
	const int64_t first =
		x->stride < 0 ? (x->batches - 1) * x->stride : 0;
	bool pinned;
	if ((uintptr_t)at % alignment ||
	    (x->batches > 1 && (uint64_t)x->stride * size % alignment))
		return false;
	return fake_device_of((const char *)at + first * (int64_t)size,
			      (size_t)(last - first + 1) * size,
			      &pinned) == device;
}

/* Whether the bias lies apart from the result, which may be written before the
 * bias is read. */
static bool bias_is_apart(const call *c)
{
	const char *bias = c->p.bias, *d = c->at_d;
	const int64_t last = place(&c->d, c->d.batches - 1,
				   (int64_t)c->d.rows - 1,
				   (int64_t)c->d.cols - 1);
	const size_t size = size_of(c->d.type);
	return !(c->p.epilogue & CUBLASLT_EPILOGUE_BIAS) ||
	       bias + c->d.rows * size <= d ||
	       d + (size_t)(last + 1) * size <= bias;
}

static double scalar(const product *p, const void *at)
{
	return p->scale == CUDA_R_64F ? *(const double *)at
				      : (double)*(const float *)at;
}

FAKE_EXPORT cublasStatus_t
cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
	       const void *alpha, const void *a, cublasLtMatrixLayout_t la,
	       const void *b, cublasLtMatrixLayout_t lb, const void *beta,
	       const void *c, cublasLtMatrixLayout_t lc, void *d,
	       cublasLtMatrixLayout_t ld, const cublasLtMatmulAlgo_t *algo,
	       void *workspace, size_t workspace_size, cudaStream_t stream)
{
	if (!handle || !alpha || !beta || !a || !b || !d ||
	    fake_stream_device(stream) != handle->device)
		return CUBLAS_STATUS_INVALID_VALUE;
	const cublasStatus_t status =
		check((product *)desc, (layout *)la, (layout *)lb,
		      (layout *)lc, (layout *)ld);
	if (status)
		return status;
	algorithm x = {.alignment = {16, 16, 16, 16}};
	if (algo)
		memcpy(&x, algo, sizeof x);
	bool pinned;
	if ((algo && x.magic != MAGIC) || x.workspace > workspace_size ||
	    (x.workspace > 0 &&
	     ((uintptr_t)workspace % 16 ||
	      fake_device_of(workspace, workspace_size, &pinned) !=
		      handle->device)))
		return CUBLAS_STATUS_INVALID_VALUE;
	call *k = calloc(1, sizeof *k);
	if (!k)
		return CUBLAS_STATUS_ALLOC_FAILED;
	*k = (call){.p = *(product *)desc, .a = *(layout *)la,
		    .b = *(layout *)lb, .c = *(layout *)lc,
		    .d = *(layout *)ld, .at_a = a, .at_b = b,
		    .at_c = c, .at_d = d, .workspace = workspace,
		    .needed = x.workspace};
	k->alpha = scalar(&k->p, alpha);
	k->beta = scalar(&k->p, beta);
	if (!lies(&k->a, a, x.alignment[0], handle->device) ||
	    !lies(&k->b, b, x.alignment[1], handle->device) ||
	    (k->beta != 0 &&
	     !lies(&k->c, c, x.alignment[2], handle->device)) ||
	    !lies(&k->d, d, x.alignment[3], handle->device) ||
	    !bias_is_apart(k)) {
		free(k);
		return CUBLAS_STATUS_INVALID_VALUE;
	}
	if (fake_stream_captures(stream) && getenv("FAKE_CUBLASLT_WAITS")) {
		cuStreamSynchronize(stream);
		free(k);
		return CUBLAS_STATUS_EXECUTION_FAILED;
	}
	const fake_work w = {
		.what = "matmul", .step = step, .release = free, .arg = k};
	return fake_enqueue(stream, &w) ? CUBLAS_STATUS_EXECUTION_FAILED
					: CUBLAS_STATUS_SUCCESS;
}
