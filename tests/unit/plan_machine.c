#include "config.h"

#include "tests/unit/plan_machine.h"

#include <check.h>
#include <string.h>

#include "kernel/eval.h"
#include "layout/runs.h"

/* ---- the machine ------------------------------------------------------- */

static char *at(const machine *m, int buffer, int worker)
{
	return m->arenas[worker] + m->p->buffers[buffer].offset;
}

/* Copies between a region of a buffer and the whole tensor. */
static void copy_block(const machine *m, int buffer, int worker, void *whole,
		       bool out)
{
	const plan_buffer *b = &m->p->buffers[buffer];
	const plan_tensor *t = &m->p->tensors[b->tensor];
	size_t size = dtype_size(t->type);
	region block = plan_region(m->p, buffer, worker);
	region all = { box_whole(t->dims, t->ndim), 0, plan_tensor_nelem(t) };
	char *w = whole, *mine = at(m, buffer, worker);
	runs r = runs_of(&block.at, &block, &all);
	while (runs_next(&r)) {
		char *x = mine + (size_t)r.dst * size;
		char *y = w + (size_t)r.src * size;
		memcpy(out ? y : x, out ? x : y, (size_t)r.n * size);
	}
}

/* The input data: small numbers; ids are rows of any table. */
static void *input_data(arena *a, const plan_tensor *t)
{
	int64_t n = plan_tensor_nelem(t);
	void *data = arena_alloc(a, (size_t)plan_tensor_nbytes(t));
	for (int64_t i = 0; i < n; i++) {
		if (t->type == DT_I64)
			((int64_t *)data)[i] = i * i % 2;
		else
			((float *)data)[i] = (float)(i * 5 % 11 - 5);
	}
	return data;
}

/* Gives all workers their parts of a tensor. */
static void load(const machine *m, int id, void *whole)
{
	int b = m->p->tensors[id].buffer;
	for (int w = 0; b >= 0 && w < m->nworkers; w++)
		copy_block(m, b, w, whole, false);
}

machine machine_new(arena *a, const plan *p)
{
	machine m = { .p = p, .nworkers = mesh_workers(&p->mesh) };
	m.arenas = ARENA_ARRAY(a, char *, m.nworkers);
	for (int w = 0; w < m.nworkers; w++) {
		m.arenas[w] = arena_alloc(a, (size_t)p->arena_bytes);
		memset(m.arenas[w], 0xff, (size_t)p->arena_bytes);
	}
	diag_sink *s = diag_sink_new(a);
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		if (t->role != PLAN_CONSTANT && t->role != PLAN_STATE)
			continue;
		void *data = arena_alloc(a, (size_t)plan_tensor_nbytes(t));
		ck_assert(plan_constant_read(p, i, data, s));
		load(&m, i, data);
	}
	return m;
}

static void run(machine *m, const plan_instr *in, int worker)
{
	const plan *p = m->p;
	const plan_node *n = &p->nodes[in->node];
	const kernel *k = p->kernels[n->kernel].kernel;
	view inputs[MAX_NINPUTS];
	for (int i = 0; i < k->ninputs; i++) {
		region r = plan_region(p, in->inputs[i], worker);
		inputs[i] = view_dense(at(m, in->inputs[i], worker),
				       k->inputs[i].type, &r.at);
	}
	region to = plan_region(p, in->to, worker);
	view out = view_dense(at(m, in->to, worker), k->type, &to.at);
	box space = plan_space(p, in, worker);
	eval_fault fault;
	ck_assert_int_eq(kernel_eval(k, &space, inputs, &out, NULL, &fault),
			 EVAL_OK);
}

static void receive(machine *m, const plan_instr *in, int worker)
{
	const plan *p = m->p;
	arena *tmp = arena_new();
	dtype type = p->tensors[p->buffers[in->to].tensor].type;
	size_t size = dtype_size(type);
	region to = plan_region(p, in->to, worker);
	piece *pieces;
	int n = plan_pieces(tmp, p, in, worker, &pieces);
	for (int i = 0; i < n; i++) {
		int source = pieces[i].zeros ? in->to : in->from;
		region from = plan_region(p, source, pieces[i].peer);
		runs r = runs_of(&pieces[i].at, &to, &from);
		while (runs_next(&r)) {
			char *dst = at(m, in->to, worker) +
				    (size_t)r.dst * size;
			const char *src = at(m, in->from, pieces[i].peer) +
					  (size_t)r.src * size;
			if (pieces[i].zeros)
				memset(dst, 0, (size_t)r.n * size);
			else if (pieces[i].add)
				reducer_combine(plan_partial(p, in->node),
						type, dst, src, r.n);
			else
				memcpy(dst, src, (size_t)r.n * size);
			if (pieces[i].peer != worker)
				m->received += r.n * (int64_t)size;
		}
	}
	arena_free(tmp);
}

void machine_run(machine *m)
{
	arena *tmp = arena_new();
	for (int i = 0; i < m->p->ninputs; i++) {
		int t = m->p->inputs[i];
		load(m, t, input_data(tmp, &m->p->tensors[t]));
	}
	arena_free(tmp);
	for (int i = 0; i < m->p->ninstrs; i++) {
		const plan_instr *in = &m->p->program[i];
		for (int w = 0; w < m->nworkers; w++) {
			if (in->op == PLAN_RUN)
				run(m, in, w);
			else
				receive(m, in, w);
		}
	}
}

void *machine_tensor(arena *a, const machine *m, int id)
{
	const plan_tensor *t = &m->p->tensors[id];
	size_t n = (size_t)plan_tensor_nbytes(t);
	char *whole = arena_alloc(a, n), *again = arena_alloc(a, n);
	for (int w = 0; w < m->nworkers; w++)
		copy_block(m, t->buffer, w, whole, true);
	memcpy(again, whole, n);
	for (int w = m->nworkers - 1; w >= 0; w--)
		copy_block(m, t->buffer, w, again, true);
	ck_assert_mem_eq(whole, again, n);
	return whole;
}

/* ---- the oracle -------------------------------------------------------- */

oracle oracle_new(arena *a, const plan *p)
{
	oracle o = { p, ARENA_ARRAY(a, void *, p->ntensors) };
	diag_sink *s = diag_sink_new(a);
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		o.values[i] = arena_alloc(a, (size_t)plan_tensor_nbytes(t));
		if (t->role == PLAN_INPUT)
			o.values[i] = input_data(a, t);
		else if (t->role != PLAN_RESULT)
			ck_assert(plan_constant_read(p, i, o.values[i], s));
	}
	return o;
}

static view whole_view(const oracle *o, int id)
{
	const plan_tensor *t = &o->p->tensors[id];
	box at = box_whole(t->dims, t->ndim);
	return view_dense(o->values[id], t->type, &at);
}

static void *copy_of(arena *a, const oracle *o, int id)
{
	const plan_tensor *t = &o->p->tensors[id];
	return arena_memdup(a, o->values[id], (size_t)plan_tensor_nbytes(t));
}

void oracle_run(arena *a, oracle *o)
{
	const plan *p = o->p;
	void **next = ARENA_COPY(a, o->values, p->ntensors);
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		const kernel *k = p->kernels[n->kernel].kernel;
		view inputs[MAX_NINPUTS], out = whole_view(o, n->output);
		box space = kernel_space(k);
		eval_fault fault;
		for (int j = 0; j < k->ninputs; j++)
			inputs[j] = whole_view(o, n->inputs[j]);
		ck_assert_int_eq(kernel_eval(k, &space, inputs, &out, NULL,
					     &fault),
				 EVAL_OK);
	}
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i].role == PLAN_STATE && p->tensors[i].next >= 0)
			next[i] = copy_of(a, o, p->tensors[i].next);
	o->values = next;
}
