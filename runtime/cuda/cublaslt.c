#include "config.h"

#include "runtime/cuda/cublaslt.h"

#include <cublasLt.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "plan/contraction.h"

typedef struct lt_api {
#define LT(f) __typeof__(f) *f;
#include "runtime/cuda/cublaslt.def"
} lt_api;

/* One call: count products of matrices, stored by columns. */
typedef struct lt_call {
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulAlgo_t algo;
	size_t workspace;
	CUdeviceptr a_at, b_at, c_at;
} lt_call;

struct lt_run {
	int gpu;
	bool wide; /* scaled by doubles */
	cublasLtMatmulDesc_t product;
	int ncalls;
	lt_call *calls;
};

struct lt {
	arena *arena;
	cuda *c;
	lt_api api;
	library_options o;
	cublasLtHandle_t *handles; /* by GPU */
	VEC(lt_run *) runs;
};

static bool good(const lt *l, cublasStatus_t status, const char *call,
		 failure *f)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return true;
	return fail_with(f, CLI_MACHINE, "%s: %s", call,
			 l->api.cublasLtGetStatusString(status));
}

#define LT_CALL(l, f, function, ...) \
	good((l), (l)->api.function(__VA_ARGS__), #function, (f))

/* ---- opening ----------------------------------------------------------- */

static bool load(lt *l, failure *f)
{
	void *library = library_of_toolkit(&l->c->api, "libcublasLt",
					   "multiplies matrices", f);
	if (!library)
		return false;
	const struct {
		const char *name;
		void *to;
	} functions[] = {
#define LT(f) { LIBRARY_SYMBOL(f), &l->api.f },
#include "runtime/cuda/cublaslt.def"
	};
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!library_find(library, functions[i].name, functions[i].to,
				  f))
			return false;
	return true;
}

lt *lt_open(arena *a, cuda *c, const library_options *o, failure *f)
{
	lt *l = ARENA_NEW(a, lt);
	*l = (lt){ .arena = a, .c = c, .o = *o };
	l->handles = ARENA_ARRAY(a, cublasLtHandle_t, c->ngpus);
	memset(l->handles, 0, (size_t)c->ngpus * sizeof(*l->handles));
	bool works = load(l, f);
	for (int g = 0; works && g < c->ngpus; g++)
		works = cuda_enter(c, g, f) &&
			LT_CALL(l, f, cublasLtCreate, &l->handles[g]);
	if (works)
		return l;
	lt_close(l);
	return NULL;
}

static void destroy(lt *l, lt_run *r)
{
	for (int i = 0; i < r->ncalls; i++) {
		const lt_call *x = &r->calls[i];
		const cublasLtMatrixLayout_t all[] = { x->a, x->b, x->c };
		for (int j = 0; j < 3; j++)
			if (all[j])
				l->api.cublasLtMatrixLayoutDestroy(all[j]);
	}
	if (r->product)
		l->api.cublasLtMatmulDescDestroy(r->product);
}

void lt_close(lt *l)
{
	failure f = { 0 };
	for (int i = 0; i < l->runs.n; i++)
		destroy(l, l->runs.at[i]);
	for (int g = 0; g < l->c->ngpus; g++) {
		if (!l->handles[g])
			continue;
		cuda_enter(l->c, g, &f);
		l->api.cublasLtDestroy(l->handles[g]);
	}
}

/* ---- types ------------------------------------------------------------- */

static bool type_of(dtype t, cudaDataType_t *to)
{
	static const struct {
		dtype ours;
		cudaDataType_t theirs;
	} types[] = {
		{ DT_F64, CUDA_R_64F },
		{ DT_F32, CUDA_R_32F },
		{ DT_F16, CUDA_R_16F },
		{ DT_BF16, CUDA_R_16BF },
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].ours == t) {
			*to = types[i].theirs;
			return true;
		}
	return false;
}

/* The types that cuBLASLt multiplies and adds up without rounding in between:
 * two matrices of one type to one of that type, or halves to f32. */
static bool takes(dtype left, dtype right, dtype out)
{
	bool half = left == DT_F16 || left == DT_BF16;
	return left == right && (out == left || (half && out == DT_F32));
}

/* ---- one product ------------------------------------------------------- */

/* A matrix that is read: rows x cols elements, which lie along columns, or,
 * where it is `transposed`, along rows. */
typedef struct matrix {
	int64_t rows, cols, row_step, col_step;
	bool transposed;
	int64_t step; /* between columns, or rows, as it is stored */
} matrix;

/* Sets the storage order; false if neither dimension is contiguous. */
static bool store(matrix *m)
{
	bool by_rows = m->row_step == 1 || m->rows == 1;
	bool by_cols = m->col_step == 1 || m->cols == 1;
	m->transposed = !by_rows;
	int64_t length = m->transposed ? m->cols : m->rows;
	int64_t others = m->transposed ? m->rows : m->cols;
	m->step = m->transposed ? m->row_step : m->col_step;
	if (others == 1)
		m->step = length;
	return (by_rows || by_cols) && m->step >= length;
}

/* The product as c = a b with c stored by columns: where the result lies along
 * its columns it is transposed, and so are the factors, which change places. */
typedef struct lt_shape {
	matrix a, b, c;
	bool swapped;
} lt_shape;

static bool shape_of(const gemm *g, lt_shape *x)
{
	matrix left = { g->rows, g->depth, g->left_row, g->left_depth };
	matrix right = { g->depth, g->cols, g->right_depth, g->right_col };
	matrix out = { g->rows, g->cols, g->out_row, g->out_col };
	matrix left_t = { left.cols, left.rows, left.col_step, left.row_step };
	matrix right_t = { right.cols, right.rows, right.col_step,
			   right.row_step };
	matrix out_t = { out.cols, out.rows, out.col_step, out.row_step };
	*x = (lt_shape){ left, right, out, false };
	if (store(&x->c) && !x->c.transposed)
		return store(&x->a) && store(&x->b);
	*x = (lt_shape){ right_t, left_t, out_t, true };
	return store(&x->c) && !x->c.transposed && store(&x->a) &&
	       store(&x->b);
}

static bool set_product(lt *l, lt_run *r, const lt_shape *x, dtype type,
			failure *f)
{
	cublasOperation_t a = x->a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasOperation_t b = x->b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasComputeType_t by = CUBLAS_COMPUTE_32F;
	if (r->wide)
		by = CUBLAS_COMPUTE_64F;
	else if (type == DT_F32 && l->o.tf32)
		by = CUBLAS_COMPUTE_32F_FAST_TF32;
	return LT_CALL(l, f, cublasLtMatmulDescCreate, &r->product, by,
		       r->wide ? CUDA_R_64F : CUDA_R_32F) &&
	       LT_CALL(l, f, cublasLtMatmulDescSetAttribute, r->product,
		       CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof(a)) &&
	       LT_CALL(l, f, cublasLtMatmulDescSetAttribute, r->product,
		       CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof(b));
}

/* A bias goes along the columns of c as they are stored, all of it, and is the
 * same for all products. */
static bool takes_epilogue(const gemm *g, const lt_shape *x,
			   const library_epilogue *e)
{
	uint32_t vars = x->swapped ? g->col_vars : g->row_vars;
	return vars == UINT32_C(1) << e->dim;
}

static bool set_epilogue(lt *l, lt_run *r, const library_epilogue *e,
			 failure *f)
{
	const cublasLtEpilogue_t what = CUBLASLT_EPILOGUE_BIAS;
	void *bias = (void *)(uintptr_t)e->bias;
	return LT_CALL(l, f, cublasLtMatmulDescSetAttribute, r->product,
		       CUBLASLT_MATMUL_DESC_EPILOGUE, &what, sizeof(what)) &&
	       LT_CALL(l, f, cublasLtMatmulDescSetAttribute, r->product,
		       CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
		       sizeof(bias));
}

static bool lay_out(lt *l, cublasLtMatrixLayout_t *to, const matrix *m,
		    dtype type, int64_t count, int64_t step, failure *f)
{
	cudaDataType_t t;
	int32_t n = (int32_t)count;
	int64_t rows = m->transposed ? m->cols : m->rows;
	int64_t cols = m->transposed ? m->rows : m->cols;
	return type_of(type, &t) &&
	       LT_CALL(l, f, cublasLtMatrixLayoutCreate, to, t, (uint64_t)rows,
		       (uint64_t)cols, m->step) &&
	       LT_CALL(l, f, cublasLtMatrixLayoutSetAttribute, *to,
		       CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n, sizeof(n)) &&
	       LT_CALL(l, f, cublasLtMatrixLayoutSetAttribute, *to,
		       CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step,
		       sizeof(step));
}

/* The most bytes, a power of two, that all matrices of a call begin at
 * multiples of. */
static uint32_t alignment(CUdeviceptr at, int64_t count, int64_t step_bytes)
{
	enum { MOST = 256 };
	uint64_t all = at | MOST;
	if (count > 1)
		all |= (uint64_t)step_bytes;
	return (uint32_t)(all & -all);
}

/* Asks for the algorithm: the first of cuBLASLt's own ranking.  Partial sums
 * have to stay in the type of the computation. */
static bool choose(lt *l, const lt_run *r, lt_call *x, const uint32_t *aligned,
		   failure *f)
{
	static const cublasLtMatmulPreferenceAttributes_t names[] = {
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
	};
	const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
	const uint64_t workspace = LT_WORKSPACE;
	cublasLtMatmulHeuristicResult_t found = { 0 };
	cublasLtMatmulPreference_t p;
	int n = 0;
	if (!LT_CALL(l, f, cublasLtMatmulPreferenceCreate, &p))
		return false;
	bool works =
		LT_CALL(l, f, cublasLtMatmulPreferenceSetAttribute, p,
			CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
			sizeof(workspace)) &&
		LT_CALL(l, f, cublasLtMatmulPreferenceSetAttribute, p,
			CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
			sizeof(schemes));
	for (int i = 0; works && i < 4; i++)
		works = LT_CALL(l, f, cublasLtMatmulPreferenceSetAttribute, p,
				names[i], &aligned[i], sizeof(aligned[i]));
	works = works &&
		LT_CALL(l, f, cublasLtMatmulAlgoGetHeuristic,
			l->handles[r->gpu], r->product, x->a, x->b, x->c, x->c,
			p, 1, &found, &n) &&
		n == 1 && found.state == CUBLAS_STATUS_SUCCESS;
	l->api.cublasLtMatmulPreferenceDestroy(p);
	x->algo = found.algo;
	x->workspace = found.workspaceSize;
	return works;
}

static bool plan_call(lt *l, lt_run *r, const lt_shape *s, const gemm_call *g,
		      const bind_run *run, const contraction *c, failure *f)
{
	lt_call *x = &r->calls[r->ncalls++];
	dtype in = c->left.type, out = run->k->type;
	int64_t size = (int64_t)dtype_size(in);
	int64_t out_size = (int64_t)dtype_size(out);
	CUdeviceptr left = run->data[c->left.input] +
			   (CUdeviceptr)(g->left * size);
	CUdeviceptr right = run->data[c->right.input] +
			    (CUdeviceptr)(g->right * size);
	int64_t a_step = s->swapped ? g->right_step : g->left_step;
	int64_t b_step = s->swapped ? g->left_step : g->right_step;
	x->a_at = s->swapped ? right : left;
	x->b_at = s->swapped ? left : right;
	x->c_at = run->data[run->k->ninputs] +
		  (CUdeviceptr)(g->out * out_size);
	uint32_t aligned[] = {
		alignment(x->a_at, g->count, a_step * size),
		alignment(x->b_at, g->count, b_step * size),
		alignment(x->c_at, g->count, g->out_step * out_size), 0
	};
	aligned[3] = aligned[2];
	/* That matrices may lie backwards is nowhere said. */
	return g->count <= INT32_MAX && a_step >= 0 && b_step >= 0 &&
	       g->out_step >= 0 &&
	       lay_out(l, &x->a, &s->a, in, g->count, a_step, f) &&
	       lay_out(l, &x->b, &s->b, in, g->count, b_step, f) &&
	       lay_out(l, &x->c, &s->c, out, g->count, g->out_step, f) &&
	       choose(l, r, x, aligned, f);
}

/* The views of a run, whose data are never looked at. */
static void view_operands(const bind_run *r, view *inputs, view *out)
{
	for (int i = 0; i < r->k->ninputs; i++)
		inputs[i] = view_dense(NULL, r->k->inputs[i].type, &r->at[i]);
	*out = view_dense(NULL, r->k->type, &r->at[r->k->ninputs]);
}

lt_run *lt_plan(lt *l, int worker, const bind_run *run,
		const library_epilogue *e, size_t *workspace)
{
	arena *work = arena_new();
	failure f = { 0 };
	contraction c;
	gemm g;
	lt_shape shape;
	view inputs[MAX_NINPUTS], out;
	view_operands(run, inputs, &out);
	bool fits = contraction_of(work, run->k, &c) &&
		    takes(c.left.type, c.right.type, run->k->type) &&
		    contraction_gemm(work, run->k, &c, &run->space, inputs,
				     &out, &g) &&
		    g.ncalls > 0 && shape_of(&g, &shape) &&
		    (!e || takes_epilogue(&g, &shape, e));
	lt_run *r = NULL;
	if (fits) {
		r = ARENA_NEW(l->arena, lt_run);
		*r = (lt_run){ .gpu = cuda_gpu_of(l->c, worker),
			       .wide = run->k->type == DT_F64 };
		r->calls = arena_calloc(l->arena, (size_t)g.ncalls,
					sizeof(*r->calls));
		vec_push(l->arena, &l->runs, r);
		fits = cuda_enter(l->c, r->gpu, &f) &&
		       set_product(l, r, &shape, c.left.type, &f) &&
		       (!e || set_epilogue(l, r, e, &f));
	}
	for (int i = 0; fits && i < g.ncalls; i++)
		fits = plan_call(l, r, &shape, &g.calls[i], run, &c, &f);
	for (int i = 0; fits && i < g.ncalls; i++)
		if (r->calls[i].workspace > *workspace)
			*workspace = r->calls[i].workspace;
	arena_free(work);
	return fits ? r : NULL;
}

bool lt_run_on(lt *l, const lt_run *r, CUdeviceptr workspace, CUstream s,
	       failure *f)
{
	const float one = 1, zero = 0;
	const double one_f64 = 1, zero_f64 = 0;
	const void *alpha = r->wide ? (const void *)&one_f64 : &one;
	const void *beta = r->wide ? (const void *)&zero_f64 : &zero;
	for (int i = 0; i < r->ncalls; i++) {
		const lt_call *x = &r->calls[i];
		void *c = (void *)(uintptr_t)x->c_at;
		if (!LT_CALL(l, f, cublasLtMatmul, l->handles[r->gpu],
			     r->product, alpha, (void *)(uintptr_t)x->a_at,
			     x->a, (void *)(uintptr_t)x->b_at, x->b, beta, c,
			     x->c, c, x->c, &x->algo,
			     (void *)(uintptr_t)workspace, x->workspace, s))
			return false;
	}
	return true;
}
