#include "config.h"

#include "runtime/cuda/library.h"

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cudnn.h"

struct cuda_library {
	arena *a;
	cuda *c;
	lt *products;	   /* NULL: there is no cuBLASLt */
	dnn *convolutions; /* NULL: there is no cuDNN */
	size_t workspace;  /* most bytes that a run needs */
	CUdeviceptr *workspaces; /* by GPU */
};

struct library_run {
	int gpu;
	lt_run *product;
	dnn_run *convolution;
};

cuda_library *library_open_on(cuda *c, const library_options *o, failure *f)
{
	arena *a = arena_new();
	cuda_library *l = ARENA_NEW(a, cuda_library);
	*l = (cuda_library){ .a = a, .c = c };
	l->workspaces = arena_calloc(a, (size_t)c->ngpus,
				     sizeof(*l->workspaces));
	l->products = lt_open(a, c, o, f);
	l->convolutions = dnn_open(a, c, o, f);
	if (l->products || l->convolutions)
		return l;
	library_close(l);
	return NULL;
}

void library_close(cuda_library *l)
{
	failure f = { 0 };
	if (l->products)
		lt_close(l->products);
	if (l->convolutions)
		dnn_close(l->convolutions);
	for (int g = 0; g < l->c->ngpus; g++)
		if (l->workspaces[g] && cuda_enter(l->c, g, &f))
			l->c->api.cuMemFree(l->workspaces[g]);
	arena_free(l->a);
}

library_run *library_plan(cuda_library *l, int worker, const bind_run *r,
			  const library_epilogue *e)
{
	library_run x = { .gpu = cuda_gpu_of(l->c, worker) };
	size_t need = 0;
	if (l->products)
		x.product = lt_plan(l->products, worker, r, e, &need);
	if (!x.product && !e && l->convolutions)
		x.convolution = dnn_plan(l->convolutions, worker, r, &need);
	if (!x.product && !x.convolution)
		return NULL;
	if (need > l->workspace)
		l->workspace = need;
	library_run *run = ARENA_NEW(l->a, library_run);
	*run = x;
	return run;
}

bool library_allocate(cuda_library *l, failure *f)
{
	for (int g = 0; l->workspace && g < l->c->ngpus; g++)
		if (!cuda_enter(l->c, g, f) ||
		    !CUDA_CALL(&l->c->api, f, cuMemAlloc, &l->workspaces[g],
			       l->workspace))
			return false;
	return !l->products || lt_upload(l->products, f);
}

void library_copies(const cuda_library *l, int64_t *planned, int64_t *used)
{
	*planned = *used = 0;
	if (l->products)
		lt_copies(l->products, planned, used);
}

bool library_run_on(cuda_library *l, const library_run *r, CUstream s,
		    failure *f)
{
	CUdeviceptr workspace = l->workspaces[r->gpu];
	if (r->product)
		return lt_run_on(l->products, r->product, workspace, s, f);
	return dnn_run_on(l->convolutions, r->convolution, workspace, s, f);
}
