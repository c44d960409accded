#include "config.h"

#include "runtime/cuda/host.h"

#include <string.h>

#include "base/checked.h"
#include "runtime/exec/backend.h"

static int64_t align(int64_t n)
{
	return round_up(n, PLAN_ALIGN);
}

static int64_t bytes_of(const plan *p, int buffer, int worker)
{
	dtype t = p->tensors[p->buffers[buffer].tensor].type;
	return plan_region(p, buffer, worker).count * (int64_t)dtype_size(t);
}

static const kernel *kernel_of(const plan *p, const plan_instr *in)
{
	return p->kernels[p->nodes[in->node].kernel].kernel;
}

int64_t host_call_bytes(const plan *p, int instr, int worker)
{
	const plan_instr *in = &p->program[instr];
	int64_t n = align(bytes_of(p, in->to, worker));
	for (int i = 0; i < kernel_of(p, in)->ninputs; i++)
		n += align(bytes_of(p, in->inputs[i], worker));
	return n;
}

static view take(const plan *p, int buffer, int worker, char **staging)
{
	const plan_buffer *b = &p->buffers[buffer];
	region r = plan_region(p, buffer, worker);
	view v = view_dense(*staging, p->tensors[b->tensor].type, &r.at);
	*staging += align(bytes_of(p, buffer, worker));
	return v;
}

host_call *host_call_new(arena *a, const cuda *c, int instr, int worker,
			 opaque_fn opaque, void *staging)
{
	const plan *p = cuda_part(c, worker)->p;
	const plan_instr *in = &p->program[instr];
	int number = cuda_number(c, worker);
	host_call *x = ARENA_NEW(a, host_call);
	char *at = staging;
	*x = (host_call){ .c = c,
			  .instr = instr,
			  .worker = worker,
			  .k = kernel_of(p, in),
			  .opaque = opaque,
			  .space = plan_space(p, in, number) };
	for (int i = 0; i < x->k->ninputs; i++)
		x->inputs[i] = take(p, in->inputs[i], number, &at);
	x->out = take(p, in->to, number, &at);
	return x;
}

/* Called by CUDA; it must not call CUDA. */
static void CUDA_CB evaluate(void *arg)
{
	host_call *x = arg;
	if (x->status == EVAL_OK)
		x->status = kernel_eval(x->k, &x->space, x->inputs, &x->out,
					x->opaque, &x->fault);
}

bool host_call_run(host_call *x, CUstream s, failure *f)
{
	const cuda *c = x->c;
	const plan *p = cuda_part(c, x->worker)->p;
	const plan_instr *in = &p->program[x->instr];
	int number = cuda_number(c, x->worker);
	for (int i = 0; i < x->k->ninputs; i++) {
		int64_t n = bytes_of(p, in->inputs[i], number);
		if (n > 0 && !CUDA_CALL(&c->api, f, cuMemcpyDtoHAsync,
					x->inputs[i].data,
					cuda_place(c, x->worker, in->inputs[i]),
					(size_t)n, s))
			return false;
	}
	int64_t n = bytes_of(p, in->to, number);
	return CUDA_CALL(&c->api, f, cuLaunchHostFunc, s, evaluate, x) &&
	       (n == 0 || CUDA_CALL(&c->api, f, cuMemcpyHtoDAsync,
				    cuda_place(c, x->worker, in->to),
				    x->out.data, (size_t)n, s));
}

bool host_call_good(host_call *x, failure *f)
{
	eval_status status = x->status;
	x->status = EVAL_OK;
	return backend_explain(x->k, status, &x->fault, f);
}
