#include "config.h"

#include "runtime/cuda/epilogue.h"

#include "kernel/epilogue.h"

static bool overlaps(const plan *p, int x, int y)
{
	const plan_buffer *a = &p->buffers[x], *b = &p->buffers[y];
	return a->offset < b->offset + b->nbytes &&
	       b->offset < a->offset + a->nbytes;
}

static int ninputs_of(const plan *p, const plan_instr *in)
{
	return p->kernels[p->nodes[in->node].kernel].kernel->ninputs;
}

/* Whether an instruction other than `but' reads a buffer. */
static bool is_read_elsewhere(const plan *p, int buffer, int but)
{
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (i == but)
			continue;
		if (in->op != PLAN_RUN) {
			if (in->from == buffer)
				return true;
			continue;
		}
		for (int k = 0; k < ninputs_of(p, in); k++)
			if (in->inputs[k] == buffer)
				return true;
	}
	return false;
}

/* The input of an instruction that is this buffer; -1 if there is none or
 * several. */
static int input_of(const plan *p, const plan_instr *in, int buffer)
{
	int at = -1;
	for (int i = 0; i < ninputs_of(p, in); i++)
		if (in->inputs[i] == buffer) {
			if (at >= 0)
				return -1;
			at = i;
		}
	return at;
}

/* Whether the operands of the product remain intact until the next kernel has
 * run: its result must not overlap them. */
static bool stores_apart(const plan *p, const plan_instr *in, int to)
{
	for (int i = 0; i < ninputs_of(p, in); i++)
		if (overlaps(p, in->inputs[i], to))
			return false;
	return true;
}

/* The address of a worker's part of the vector that is added. */
static CUdeviceptr bias_at(const bind_run *next, const epilogue *e)
{
	const box *held = &next->at[e->bias];
	int64_t first = next->space.lo[e->dim] - held->lo[0];
	dtype t = next->k->inputs[e->bias].type;
	return next->data[e->bias] +
	       (CUdeviceptr)(first * (int64_t)dtype_size(t));
}

static bool same_part(const bind_run *x, const bind_run *y)
{
	for (int d = 0; d < x->k->nout; d++)
		if (x->space.lo[d] != y->space.lo[d] ||
		    x->space.hi[d] != y->space.hi[d])
			return false;
	return x->k->nout == y->k->nout && x->k->type == y->k->type;
}

bool epilogue_after(const cuda *c, int instr, int worker, bind_run *r,
		    library_epilogue *e)
{
	const plan *p = cuda_part(c, worker)->p;
	const plan_instr *in = &p->program[instr], *next = in + 1;
	epilogue what;
	if (instr + 1 >= p->ninstrs || next->op != PLAN_RUN ||
	    r->k->reducer != RED_SUM)
		return false;
	int slot = input_of(p, next, in->to);
	bind_run after = bind_run_of(p, instr + 1, cuda_number(c, worker),
				     c->arenas[worker]);
	if (slot < 0 || !epilogue_of(after.k, slot, &what) ||
	    !same_part(r, &after) || !stores_apart(p, in, next->to) ||
	    plan_is_kept(p, in->to) ||
	    is_read_elsewhere(p, in->to, instr + 1))
		return false;
	/* The bias may be read after the result is written. */
	if (overlaps(p, next->inputs[what.bias], next->to))
		return false;
	int out = after.k->ninputs;
	r->at[r->k->ninputs] = after.at[out];
	r->data[r->k->ninputs] = after.data[out];
	*e = (library_epilogue){ bias_at(&after, &what), what.dim };
	return true;
}
