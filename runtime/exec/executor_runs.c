/* Runs of kernels: their boxes and epilogues.  These are found once, because a
 * program does not change. */
#include "config.h"

#include "runtime/exec/executor_parts.h"

#include <string.h>

/* ---- boxes ------------------------------------------------------------- */

static int64_t *put_box(int64_t *to, const box *b)
{
	memcpy(to, b->lo, (size_t)b->n * sizeof(*to));
	memcpy(to + b->n, b->hi, (size_t)b->n * sizeof(*to));
	return to + 2 * b->n;
}

/* The boxes of a run, as in executor.boxes. */
static int64_t *boxes_of(executor *m, int worker, const plan_instr *in)
{
	const plan *p = part_plan(m, worker);
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	int n = k->nvars + k->nout;
	for (int i = 0; i < k->ninputs; i++)
		n += k->inputs[i].ndim;
	int64_t *boxes = ARENA_ARRAY(m->a, int64_t, 2 * n), *to = boxes;
	box space = plan_space(p, in, m->number[worker]);
	region r = part_region(m, worker, in->to);
	to = put_box(put_box(to, &space), &r.at);
	for (int i = 0; i < k->ninputs; i++) {
		r = part_region(m, worker, in->inputs[i]);
		to = put_box(to, &r.at);
	}
	return boxes;
}

/* Finds all boxes in advance, as finding them takes about as long as computing
 * a small kernel. */
static void find_boxes(executor *m)
{
	m->boxes = ARENA_ARRAY(m->a, int64_t **, m->nworkers);
	for (int w = m->first; w < m->end && executor_is_host(m); w++) {
		const plan *p = part_plan(m, w);
		m->boxes[w] = ARENA_ARRAY(m->a, int64_t *, p->ninstrs);
		for (int i = 0; i < p->ninstrs; i++)
			if (p->program[i].op == PLAN_RUN)
				m->boxes[w][i] = boxes_of(m, w,
							  &p->program[i]);
	}
}

static void find_epilogues(executor *m)
{
	if (!m->backend->joins || !m->backend->joins(m->device))
		return;
	m->epilogues = ARENA_ARRAY(m->a, int *, m->p->nstages);
	for (int s = 0; s < m->p->nstages; s++)
		m->epilogues[s] = plan_epilogues(m->a, &m->p->stages[s]);
}

void executor_prepare(executor *m)
{
	find_epilogues(m);
	find_boxes(m);
	executor_find_loans(m);
	executor_prepare_steps(m);
}

/* ---- a run --------------------------------------------------------------- */

/* Takes the next of some boxes with n dimensions. */
static box take_box(const int64_t **boxes, int n)
{
	box b = { .n = n };
	memcpy(b.lo, *boxes, (size_t)n * sizeof(*b.lo));
	memcpy(b.hi, *boxes + n, (size_t)n * sizeof(*b.hi));
	*boxes += 2 * n;
	return b;
}

static view take_view(executor *m, int worker, int buffer,
		      const int64_t **boxes)
{
	const plan *p = part_plan(m, worker);
	const plan_tensor *t = &p->tensors[p->buffers[buffer].tensor];
	region r = { .at = take_box(boxes, t->ndim) };
	r.count = box_volume(&r.at);
	part_touch(m, worker, buffer, &r);
	return view_dense(part_place(m, worker, buffer), t->type, &r.at);
}

void run_prepare(executor *m, int worker, int instr, prepared_run *to)
{
	const plan *p = part_plan(m, worker);
	const plan_instr *in = &p->program[instr];
	const plan_node *n = &p->nodes[in->node];
	const kernel *k = p->kernels[n->kernel].kernel;
	const int64_t *boxes = m->boxes[worker][instr];
	to->space = take_box(&boxes, k->nvars);
	to->out = take_view(m, worker, in->to, &boxes);
	to->run = (kernel_run){ .kernel = n->kernel, .space = &to->space,
				.inputs = to->inputs, .out = &to->out };
	for (int i = 0; i < k->ninputs; i++)
		to->inputs[i] = take_view(m, worker, in->inputs[i], &boxes);
}

int run_epilogue(const executor *m, int worker, int instr)
{
	return m->epilogues ? m->epilogues[m->stage[worker]][instr] : -1;
}

bool run_is_epilogue(const executor *m, int worker, int instr)
{
	return instr > 0 && run_epilogue(m, worker, instr - 1) >= 0;
}
