#include "config.h"

#include "runtime/cuda/cublaslt.h"

#include <cublasLt.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "plan/gemm.h"
#include "runtime/cuda/pack.h"

typedef struct lt_api {
#define LT(f) __typeof__(f) *f;
#include "runtime/cuda/cublaslt.def"
} lt_api;

/* One call: count products of matrices stored by columns. */
typedef struct lt_call {
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulAlgo_t algo;
	size_t workspace;
	CUdeviceptr a_at, b_at, c_at;
	bool adds;
} lt_call;

struct lt_run {
	int gpu;
	bool wide; /* scaling factors are doubles */
	cublasLtMatmulDesc_t product;
	int ncalls;
	lt_call *calls;
	/* Copies of factors before the calls, and of the result after them.
	 * NULL: none. */
	pack_list *before, *after;
};

struct lt {
	arena *arena;
	cuda *c;
	lt_api api;
	library_options o;
	cublasLtHandle_t *handles; /* by GPU */
	VEC(lt_run *) runs;
	packer *packer;	      /* NULL: no copies are needed */
	int64_t nbytes, used; /* of memory for copies: allocated; needed */
	CUdeviceptr *copies;  /* by GPU; workers on one GPU take turns */
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

/* Allocates memory for copies, as much as the stages' plans ask for.  The
 * arenas are allocated later and have to fit as well. */
static bool open_copies(lt *l, failure *f)
{
	for (int i = 0; i < l->c->nparts; i++) {
		int64_t n = l->c->parts[i].p->copies_bytes;
		l->nbytes = n > l->nbytes ? n : l->nbytes;
	}
	if (l->nbytes == 0)
		return true;
	for (int g = 0; g < l->c->ngpus; g++)
		if (!cuda_has_room(l->c, g, cuda_arena_bytes(l->c, g) +
				   (double)l->nbytes, "its workers and copies "
				   "for cuBLASLt need", f) ||
		    !CUDA_CALL(&l->c->api, f, cuMemAlloc, &l->copies[g],
			       (size_t)l->nbytes))
			return false;
	l->packer = pack_open(l->c, false, f);
	return l->packer != NULL;
}

lt *lt_open(arena *a, cuda *c, const library_options *o, failure *f)
{
	lt *l = ARENA_NEW(a, lt);
	*l = (lt){ .arena = a, .c = c, .o = *o };
	l->handles = ARENA_ARRAY(a, cublasLtHandle_t, c->ngpus);
	memset(l->handles, 0, (size_t)c->ngpus * sizeof(*l->handles));
	l->copies = arena_calloc(a, (size_t)c->ngpus, sizeof(*l->copies));
	bool works = load(l, f);
	for (int g = 0; works && g < c->ngpus; g++)
		works = cuda_enter(c, g, f) &&
			LT_CALL(l, f, cublasLtCreate, &l->handles[g]);
	if (works && open_copies(l, f))
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
		cuda_enter(l->c, g, &f);
		if (l->handles[g])
			l->api.cublasLtDestroy(l->handles[g]);
		if (l->copies[g])
			l->c->api.cuMemFree(l->copies[g]);
	}
	if (l->packer)
		pack_close(l->packer);
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

/* ---- one product ------------------------------------------------------- */

static bool set_product(lt *l, lt_run *r, const gemm *x, dtype type,
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

/* Whether the product can include an epilogue.  Its bias has to go along the
 * whole columns of c as stored, and be the same for all products. */
static bool takes_epilogue(const gemm *g, const library_epilogue *e)
{
	uint32_t vars = g->swapped ? g->col_vars : g->row_vars;
	for (int i = 0; i < g->ncalls; i++)
		if (g->calls[i].adds)
			return false;
	return vars == UINT32_C(1) << e->dim && !g->copies[GEMM_OUT].nelem;
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

static bool lay_out(lt *l, cublasLtMatrixLayout_t *to, const gemm_matrix *m,
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

/* The greatest power of two that divides the addresses of all matrices of a
 * call. */
static uint32_t alignment(CUdeviceptr at, int64_t count, int64_t step_bytes)
{
	enum { MOST = 256 };
	uint64_t all = at | MOST;
	if (count > 1)
		all |= (uint64_t)step_bytes;
	return (uint32_t)(all & -all);
}

/* Chooses the algorithm: the first in cuBLASLt's ranking.  Partial sums have to
 * stay in the computation's type. */
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

/* The operands for copies or products. */
typedef struct operands {
	CUdeviceptr data[GEMM_SIDES]; /* address */
	CUdeviceptr base[GEMM_SIDES]; /* the same, or that of its copy */
	dtype type[GEMM_SIDES];
} operands;

static operands operands_of(const lt *l, const lt_run *r, const bind_run *run,
			    const contraction *c, const gemm *g)
{
	const kernel *k = run->k;
	operands o = { .type = { c->left.type, c->right.type, k->type } };
	const int at[] = { c->left.input, c->right.input, k->ninputs };
	for (int s = 0; s < GEMM_SIDES; s++) {
		o.data[s] = o.base[s] = run->data[at[s]];
		if (g->copies[s].nelem)
			o.base[s] = l->copies[r->gpu] +
				    (CUdeviceptr)gemm_copy_at(g, k, c,
							      (gemm_side)s);
	}
	return o;
}

/* Plans one operand of a call.  Sets *aligned to its alignment. */
static bool plan_operand(lt *l, cublasLtMatrixLayout_t *to, CUdeviceptr *at,
			 const operands *o, const gemm_matrix *m,
			 const gemm_call *g, gemm_side s, uint32_t *aligned,
			 failure *f)
{
	int64_t size = (int64_t)dtype_size(o->type[s]);
	*at = o->base[s] + (CUdeviceptr)(g->at[s] * size);
	*aligned = alignment(*at, g->count, g->step[s] * size);
	return lay_out(l, to, m, o->type[s], g->count, g->step[s], f);
}

static bool plan_call(lt *l, lt_run *r, const operands *o, const gemm *g,
		      const gemm_call *call, failure *f)
{
	lt_call *x = &r->calls[r->ncalls++];
	gemm_side a = g->swapped ? GEMM_RIGHT : GEMM_LEFT;
	gemm_side b = g->swapped ? GEMM_LEFT : GEMM_RIGHT;
	uint32_t aligned[4];
	x->adds = call->adds;
	if (!plan_operand(l, &x->a, &x->a_at, o, &g->a, call, a, &aligned[0],
			  f) ||
	    !plan_operand(l, &x->b, &x->b_at, o, &g->b, call, b, &aligned[1],
			  f) ||
	    !plan_operand(l, &x->c, &x->c_at, o, &g->c, call, GEMM_OUT,
			  &aligned[2], f))
		return false;
	aligned[3] = aligned[2];
	return choose(l, r, x, aligned, f);
}

static void plan_copy(lt *l, lt_run *r, const operands *o, const gemm_copy *x,
		      gemm_side s)
{
	pack_list **list = s == GEMM_OUT ? &r->after : &r->before;
	CUdeviceptr there = o->data[s] +
			    (CUdeviceptr)(x->at *
					  (int64_t)dtype_size(o->type[s]));
	if (!x->nelem)
		return;
	if (!*list)
		*list = pack_new(l->packer, r->gpu);
	if (s == GEMM_OUT)
		pack_strided(*list, o->type[s], x->ndim, x->count, there,
			     x->there, o->base[s], x->here);
	else
		pack_strided(*list, o->type[s], x->ndim, x->count, o->base[s],
			     x->here, there, x->there);
}

static bool plan_calls(lt *l, lt_run *r, const bind_run *run,
		       const contraction *c, const gemm *g,
		       const library_epilogue *e)
{
	failure f = { 0 };
	operands o = operands_of(l, r, run, c, g);
	r->calls = arena_calloc(l->arena, (size_t)g->ncalls,
				sizeof(*r->calls));
	if (!cuda_enter(l->c, r->gpu, &f) ||
	    !set_product(l, r, g, c->left.type, &f) ||
	    (e && !set_epilogue(l, r, e, &f)))
		return false;
	for (int i = 0; i < g->ncalls; i++)
		if (!plan_call(l, r, &o, g, &g->calls[i], &f))
			return false;
	for (int s = 0; s < GEMM_SIDES; s++)
		plan_copy(l, r, &o, &g->copies[s], (gemm_side)s);
	return true;
}

lt_run *lt_plan(lt *l, int worker, const bind_run *run,
		const library_epilogue *e, size_t *workspace)
{
	arena *work = arena_new();
	contraction c;
	gemm g;
	lt_run *r = NULL;
	bool fits = gemm_of_run(work, run, l->nbytes, &c, &g) &&
		    g.ncalls > 0 && (!e || takes_epilogue(&g, e));
	if (fits) {
		r = ARENA_NEW(l->arena, lt_run);
		*r = (lt_run){ .gpu = cuda_gpu_of(l->c, worker),
			       .wide = run->k->type == DT_F64 };
		vec_push(l->arena, &l->runs, r);
		fits = plan_calls(l, r, run, &c, &g, e);
	}
	for (int i = 0; fits && i < g.ncalls; i++)
		if (r->calls[i].workspace > *workspace)
			*workspace = r->calls[i].workspace;
	if (fits && g.nbytes > l->used)
		l->used = g.nbytes;
	arena_free(work);
	return fits ? r : NULL;
}

bool lt_upload(lt *l, failure *f)
{
	return !l->packer || pack_upload(l->packer, f);
}

void lt_copies(const lt *l, int64_t *planned, int64_t *used)
{
	*planned = l->nbytes;
	*used = l->used;
}

bool lt_run_on(lt *l, const lt_run *r, CUdeviceptr workspace, CUstream s,
	       failure *f)
{
	const float f32[] = { 0, 1 };
	const double f64[] = { 0, 1 };
	const void *zero = r->wide ? (const void *)&f64[0] : &f32[0];
	const void *one = r->wide ? (const void *)&f64[1] : &f32[1];
	if (r->before && !pack_run(l->packer, r->before, s, f))
		return false;
	for (int i = 0; i < r->ncalls; i++) {
		const lt_call *x = &r->calls[i];
		void *c = (void *)(uintptr_t)x->c_at;
		if (!LT_CALL(l, f, cublasLtMatmul, l->handles[r->gpu],
			     r->product, one, (void *)(uintptr_t)x->a_at,
			     x->a, (void *)(uintptr_t)x->b_at, x->b,
			     x->adds ? one : zero, c, x->c, c, x->c, &x->algo,
			     (void *)(uintptr_t)workspace, x->workspace, s))
			return false;
	}
	return !r->after || pack_run(l->packer, r->after, s, f);
}
