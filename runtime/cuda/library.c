#include "config.h"

#include "runtime/cuda/library.h"

#include "runtime/cuda/cublaslt.h"

struct cuda_library {
	arena *a;
	lt *products;
};

struct library_run {
	lt_run *product;
};

cuda_library *library_open_on(cuda *c, const library_options *o, failure *f)
{
	arena *a = arena_new();
	cuda_library *l = ARENA_NEW(a, cuda_library);
	*l = (cuda_library){ .a = a, .products = lt_open(a, c, o, f) };
	if (l->products)
		return l;
	library_close(l);
	return NULL;
}

void library_close(cuda_library *l)
{
	if (l->products)
		lt_close(l->products);
	arena_free(l->a);
}

library_run *library_plan(cuda_library *l, int worker, const bind_run *r)
{
	lt_run *product = lt_plan(l->products, worker, r);
	if (!product)
		return NULL;
	library_run *run = ARENA_NEW(l->a, library_run);
	*run = (library_run){ product };
	return run;
}

bool library_run_on(cuda_library *l, const library_run *r, CUstream s,
		    failure *f)
{
	return lt_run_on(l->products, r->product, s, f);
}

int64_t library_memory(const cuda_library *l)
{
	(void)l;
	return LT_WORKSPACE;
}
