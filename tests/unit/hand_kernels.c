#include "config.h"

#include "tests/unit/hand_kernels.h"

#include <assert.h>

kernel *make_kernel(arena *a, dtype type, int nout, int nvars,
		    const int64_t *extents)
{
	static const char *const names[] = { "i", "j", "l", "m", "n" };
	kernel *k = ARENA_NEW(a, kernel);
	assert(nvars <= (int)(sizeof(names) / sizeof(*names)));
	k->name = "made";
	k->type = type;
	k->nout = nout;
	k->nvars = nvars;
	k->vars = ARENA_ARRAY(a, kvar, nvars);
	for (int v = 0; v < nvars; v++)
		k->vars[v] = (kvar){ names[v],
				     v < nout ? KVAR_OUTPUT : KVAR_REDUCE,
				     extents[v], NULL };
	k->inputs = ARENA_ARRAY(a, kinput, 4);
	return k;
}

void add_kernel_input(kernel *k, dtype t, int ndim, const int64_t *dims)
{
	kinput *in = &k->inputs[k->ninputs++];
	*in = (kinput){ .name = "x", .type = t, .ndim = ndim };
	for (int d = 0; d < ndim; d++)
		in->dims[d] = dims[d];
}

eval_status evaluate(arena *a, kernel *k, void *const *data, void *out,
			    eval_fault *fault)
{
	view in[MAX_NINPUTS];
	kernel_finish(a, k);
	box space = kernel_space(k), made = kernel_produces(k, &space);
	for (int i = 0; i < k->ninputs; i++) {
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		in[i] = view_dense(data[i], k->inputs[i].type, &whole);
	}
	view to = view_dense(out, k->type, &made);
	return kernel_eval(k, &space, in, &to, NULL, fault);
}
