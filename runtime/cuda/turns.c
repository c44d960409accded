#include "config.h"

#include "base/checked.h"
#include "runtime/cuda/parts.h"
#include "runtime/exec/backend.h"

static const stage_program *stage_of(const program *x, int worker)
{
	return &x->stages[x->c->part_of[worker]];
}

static int64_t bytes_of(const program *x, int instr, int worker)
{
	const plan *p = stage_of(x, worker)->p;
	int to = p->program[instr].to;
	dtype t = p->tensors[p->buffers[to].tensor].type;
	return plan_region(p, to, cuda_number(x->c, worker)).count *
	       (int64_t)dtype_size(t);
}

/* Whether an instruction copies from or to the host's memory. */
static bool is_copied(const plan *p, int instr)
{
	return p->program[instr].op == PLAN_FEED || plan_hands_out(p, instr);
}

/* The address of a worker's copy for an instruction that has one. */
static void **place_of(const program *x, int instr, int worker)
{
	const stage_program *s = stage_of(x, worker);
	return &s->copies[instr][worker - s->s->first];
}

/* Allocates a worker's copies one after the other. */
static bool open_worker(program *x, int worker, failure *f)
{
	const stage_program *s = stage_of(x, worker);
	int64_t total = 0, at = 0;
	char *memory;
	for (int i = 0; i < s->p->ninstrs; i++)
		if (is_copied(s->p, i))
			total += round_up(bytes_of(x, i, worker), PLAN_ALIGN);
	if (total == 0)
		return true;
	if (!program_pin(x, &x->turns[worker], (size_t)total, f))
		return false;
	memory = x->turns[worker];
	for (int i = 0; i < s->p->ninstrs; i++) {
		if (!is_copied(s->p, i))
			continue;
		if (!s->copies[i])
			s->copies[i] = ARENA_ARRAY(x->a, void *,
						   s->s->nworkers);
		*place_of(x, i, worker) = memory + at;
		at += round_up(bytes_of(x, i, worker), PLAN_ALIGN);
	}
	return true;
}

bool turns_open(program *x, failure *f)
{
	x->turns = ARENA_ARRAY(x->a, void *, x->c->nworkers);
	for (int i = 0; i < x->c->nparts; i++) {
		stage_program *s = &x->stages[i];
		s->copies = ARENA_ARRAY(x->a, void **, s->p->ninstrs);
	}
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
	int to = stage_of(x, worker)->p->program[instr].to;
	return n == 0 || CUDA_CALL(&x->c->api, f, cuMemcpyHtoDAsync,
				   cuda_place(x->c, worker, to),
				   *place_of(x, instr, worker), (size_t)n, s);
}

/* Copies to the host what a FEED has written. */
bool turns_hand_out(program *x, int instr, int worker, CUstream s, failure *f)
{
	const plan *p = stage_of(x, worker)->p;
	const plan_instr *in = &p->program[instr];
	if (in->op == PLAN_FEED || !plan_hands_out(p, instr))
		return true;
	int64_t n = bytes_of(x, instr, worker);
	return n == 0 ||
	       CUDA_CALL(&x->c->api, f, cuMemcpyDtoHAsync,
			 *place_of(x, instr, worker),
			 cuda_place(x->c, worker, in->to), (size_t)n, s) ||
	       backend_at(p, x->c->first + worker, instr, f);
}

void *program_copy(const program *x, int instr, int worker)
{
	return stage_of(x, worker)->copies[instr] ? *place_of(x, instr, worker)
						  : NULL;
}
