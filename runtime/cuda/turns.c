#include "config.h"

#include "base/checked.h"
#include "runtime/cuda/parts.h"
#include "runtime/exec/backend.h"

static int64_t bytes_of(const program *x, int instr, int worker)
{
	int to = x->p->program[instr].to;
	dtype t = x->p->tensors[x->p->buffers[to].tensor].type;
	return plan_region(x->p, to, x->c->first + worker).count *
	       (int64_t)dtype_size(t);
}

/* Whether an instruction copies from, or to, memory of the host. */
static bool is_copied(const program *x, int instr)
{
	return x->p->program[instr].op == PLAN_FEED ||
	       plan_hands_out(x->p, instr);
}

/* The places of a worker's copies, one after the other. */
static bool open_worker(program *x, int worker, failure *f)
{
	int64_t total = 0, at = 0;
	void *memory;
	for (int i = 0; i < x->p->ninstrs; i++)
		if (is_copied(x, i))
			total += round_up(bytes_of(x, i, worker), PLAN_ALIGN);
	if (total == 0)
		return true;
	if (!program_pin(x, &x->turns[worker], (size_t)total, f))
		return false;
	memory = x->turns[worker];
	for (int i = 0; i < x->p->ninstrs; i++) {
		if (!is_copied(x, i))
			continue;
		if (!x->copies[i])
			x->copies[i] = ARENA_ARRAY(x->a, void *,
						   x->c->nworkers);
		x->copies[i][worker] = (char *)memory + at;
		at += round_up(bytes_of(x, i, worker), PLAN_ALIGN);
	}
	return true;
}

bool turns_open(program *x, failure *f)
{
	x->turns = ARENA_ARRAY(x->a, void *, x->c->nworkers);
	x->copies = ARENA_ARRAY(x->a, void **, x->p->ninstrs);
	for (int w = 0; w < x->c->nworkers; w++)
		if (!open_worker(x, w, f))
			return false;
	return true;
}

void turns_close(program *x)
{
	failure ignored = { 0 };
	cuda_enter(x->c, 0, &ignored);
	for (int w = 0; x->turns && w < x->c->nworkers; w++)
		if (x->turns[w])
			x->c->api.cuMemFreeHost(x->turns[w]);
}

bool turns_feed(program *x, int instr, int worker, CUstream s, failure *f)
{
	int64_t n = bytes_of(x, instr, worker);
	return n == 0 || CUDA_CALL(&x->c->api, f, cuMemcpyHtoDAsync,
				   cuda_place(x->c, worker,
					      x->p->program[instr].to),
				   x->copies[instr][worker], (size_t)n, s);
}

/* The host has what a FEED has written. */
bool turns_hand_out(program *x, int instr, int worker, CUstream s, failure *f)
{
	const plan_instr *in = &x->p->program[instr];
	if (in->op == PLAN_FEED || !plan_hands_out(x->p, instr))
		return true;
	int64_t n = bytes_of(x, instr, worker);
	return n == 0 ||
	       CUDA_CALL(&x->c->api, f, cuMemcpyDtoHAsync,
			 x->copies[instr][worker],
			 cuda_place(x->c, worker, in->to), (size_t)n, s) ||
	       backend_at(x->p, x->c->first + worker, instr, f);
}

void *program_copy(const program *x, int instr, int worker)
{
	return x->copies[instr] ? x->copies[instr][worker] : NULL;
}
