#include "config.h"

#include "tests/cuda/binding.h"

static int64_t origin(const tdl_block *b, int ndim, size_t size)
{
	return (int64_t)(intptr_t)b->data +
	       tdl_start(b, ndim) * (int64_t)size;
}

void binding_words(const kernel *k, const tdl_args *args, tdl_fault *fault,
		   int64_t *w)
{
	for (int v = 0; v < k->nvars; v++) {
		*w++ = args->lo[v];
		*w++ = args->hi[v] - args->lo[v];
	}
	for (int i = 0; i < k->ninputs; i++) {
		int ndim = k->inputs[i].ndim;
		*w++ = origin(&args->in[i], ndim,
			      dtype_size(k->inputs[i].type));
		for (int d = 0; d < ndim; d++)
			*w++ = args->in[i].stride[d];
	}
	*w++ = origin(&args->out, k->nout, dtype_size(k->type));
	for (int d = 0; d < k->nout; d++)
		*w++ = args->out.stride[d];
	*w = (int64_t)(intptr_t)fault;
}
